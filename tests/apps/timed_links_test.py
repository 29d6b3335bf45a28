#!/usr/bin/env python3
"""Links with times: split by time, trained on from the past of each, scored at theirs; and nothing leaks.

    timed_links_test.py BIN_DIRECTORY DATA_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; a minute on 2 cores

A planted set: each person writes to one friend for a while, and then to another, so the latest message says whom next.
"""
import json
import os
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
from store_runs import StoreRuns

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[3:]), programs.QUIET
DATA = pathlib.Path(os.environ.get("SALIENT_TEST_DATA") or sys.argv[2]).resolve()
TRAIN = [*QUIET, "--model", "gine", "--layers", 1, "--hidden", 16, "--fanout", 6, "--eval-fanout", 6, "--dropout", 0,
         "--lr", 0.01, "--batch-size", 200, "--epochs", 3, "--eval-negatives", 3, "--metric", "average_precision",
         "--time-strategy", "last", "--time-encoding", 8]
PEOPLE, MESSAGES, USAGE, BAD_DATA = 120, 4000, 2, 65


def messages(draw):
    """(source, target, time), ascending by time."""
    friend = [draw.randrange(PEOPLE) for _ in range(PEOPLE)]
    found = []
    for time in range(MESSAGES):
        person = draw.randrange(PEOPLE)
        if draw.random() < 0.02:
            friend[person] = draw.randrange(PEOPLE)
        if friend[person] != person:
            found.append((person, friend[person], 10 * time))
    return found


class TimedLinks(StoreRuns):
    PROGRAMS, TRAIN = PROGRAMS, TRAIN

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.messages = messages(random.Random(1))
        cls.write("messages", cls.messages)
        cls.prepare("set", "messages")

    @classmethod
    def write(cls, name, edges):
        (cls.work / f"{name}.csv").write_text("source,target,time\n" + "".join(f"{s},{d},{t}\n" for s, d, t in edges))

    @classmethod
    def prepare(cls, name, edges, *options, split=("--edge-split-by-time", "0.7,0.15,0.15"), expect=0):
        return PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / f"{edges}.csv", "--time-column", "time",
                            "--make-features", "random:8", *split, *options, "--out", cls.work / name, expect=expect)

    def result(self, run):
        return json.loads((self.work / run / "run.json").read_text())["result"]

    def parts(self):
        """The messages of the three splits, whose times are all different."""
        kept, ends = self.messages, [int(0.7 * len(self.messages))]
        ends.append(ends[0] + int(0.15 * len(kept)))
        return kept[:ends[0]], kept[ends[0]:ends[1]], kept[ends[1]:]

    def test_a_store_has_the_links_of_all_splits(self):
        PROGRAMS.run("salient-prepare", "verify", self.work / "set", expect=0)
        said = PROGRAMS.run("salient-prepare", "describe", self.work / "set", expect=0).stdout
        train, valid, test = self.parts()
        self.assertIn(f"{len(train):,} train, {len(valid):,} valid, {len(test):,} test, each asked for at", said)
        self.assertIn(f"times {test[0][2]} to {test[-1][2]}", said)
        for name, part in zip(("train", "valid", "test"), (train, valid, test)):
            self.write(name, part)
        self.prepare("given", "train", "--valid-edges", self.work / "valid.csv", "--test-edges",
                     self.work / "test.csv", "--link-times", split=())
        for array in ("indices", "edge_time", "links-train", "links-test", "links-test-times", "links-valid-times"):
            self.assertEqual((self.work / "set" / f"{array}.npy").read_bytes(),
                             (self.work / "given" / f"{array}.npy").read_bytes(), array)

    def test_the_past_says_whom_next(self):
        self.train("set", "pairs", "--pair-features", "--decoder", "mlp", "--epochs", 6)
        self.assertGreater(self.result("pairs")["test_average_precision"], 0.85)
        self.assertGreater(self.result("pairs")["test_mrr"], 0.85)

    def test_training_does_not_depend_on_what_is_later(self):
        train = self.parts()[0]
        draw, last = random.Random(2), self.messages[-1][2]
        later = [(draw.randrange(60), 60 + draw.randrange(60), last + 10 * i)
                 for i in range(len(self.messages) - len(train))]
        self.write("others", train + later)
        self.prepare("other-future", "others")
        for decoder in ("dot", "mlp"):
            pairs = ["--decoder", decoder, "--pair-features", "--negatives", 2]
            self.train("set", f"as-it-was-{decoder}", *pairs)
            self.train("other-future", f"as-it-comes-{decoder}", *pairs)
            self.assertEqual(self.losses(f"as-it-was-{decoder}"), self.losses(f"as-it-comes-{decoder}"))
            self.assertNotEqual(self.result(f"as-it-was-{decoder}")["test_mrr"],
                                self.result(f"as-it-comes-{decoder}")["test_mrr"])

    def test_what_only_the_future_tells_is_chance(self):
        """Pairs at random, and much later the same again: by the past the first are chance, the later known."""
        draw = random.Random(3)
        first = [(*draw.sample(range(300), 2), t) for t in range(1500)]
        self.write("twice", first + [(s, d, 100_000 + t) for s, d, t in first])
        self.prepare("told-later", "twice", split=("--edge-split-by-time", "0.35,0.15,0.5"))
        self.train("told-later", "chance", "--pair-features", "--eval-negatives", 1)
        self.assertLess(abs(self.metrics("chance")[-1]["valid_average_precision"] - 0.5), 0.1)
        self.prepare("told-before", "twice", split=("--edge-split-by-time", "0.75,0.1,0.15"))
        self.train("told-before", "told", "--pair-features", "--eval-negatives", 1, "--epochs", 8, "--fanout", 40,
                   "--eval-fanout", 40)  # all that a person has
        self.assertGreater(self.result("told")["test_average_precision"], 0.9)

    def test_threads_and_ranks_change_nothing(self):
        pairs = ["--pair-features", "--layers", 2, "--fanout", "6,3", "--eval-fanout", "6,3", "--epochs", 2]
        for workers in (1, 3):
            self.train("set", f"workers-{workers}", *pairs, "--workers", workers)
        self.assertEqual(self.losses("workers-1"), self.losses("workers-3"))
        self.assertEqual(self.weights("workers-1"), self.weights("workers-3"))
        self.assertEqual(self.result("workers-1")["test_mrr"], self.result("workers-3")["test_mrr"])
        if not PROGRAMS.launch:
            return
        self.train("set", "ranks-2", *pairs, "--global-batch-size", 200, ranks=2)
        for one, two in zip(self.losses("workers-1"), self.losses("ranks-2"), strict=True):
            self.assertAlmostEqual(one, two, delta=2e-3)  # statistics of gine's batches are those of a rank

    def test_a_resumed_run_is_the_undisturbed_one(self):
        self.train("set", "whole", "--pair-features", "--epochs", 3)
        self.train("set", "part", "--pair-features", "--epochs", 1)
        PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 3, expect=0)
        self.assertEqual(self.losses("whole"), self.losses("part"))
        self.assertEqual(self.weights("whole"), self.weights("part"))

    def test_pairs_are_scored_at_their_times(self):
        self.train("set", "scored", "--pair-features")
        test = self.parts()[2]
        self.write("asked", test[:50])
        self.infer("scored", "by-column", "--links", self.work / "asked.csv", "--link-time-column", "time")
        rows = [line.split(",") for line in (self.work / "by-column" / "scores.csv").read_text().splitlines()]
        self.assertEqual(rows[0], ["source", "destination", "time", "score"])
        self.assertEqual([tuple(map(int, row[:3])) for row in rows[1:]], test[:50])
        self.infer("scored", "at-one", "--links", self.work / "asked.csv", "--time", test[7][2])
        at_one = (self.work / "at-one" / "scores.csv").read_text().splitlines()
        self.assertEqual(at_one[8].split(",")[:3], rows[8][:3])
        self.assertAlmostEqual(float(at_one[8].split(",")[3]), float(rows[8][3]), places=4)
        for options, words in ((["--links", self.work / "asked.csv"], "--link-time-column"),
                               (["--nodes", 1, "--top-k", 2], "each at its time"),
                               (["--links", self.work / "asked.csv", "--time", 5, "--time-rule", "le"], "lt, not le"),
                               (["--links", self.work / "asked.csv", "--time-rule", "none"], "--time-rule")):
            self.assert_one_error(self.infer("scored", "refused", *options, expect=USAGE), USAGE, words)

    def test_bad_input_is_one_line(self):
        for options, words in (
            (["--time-rule", "le"], "the rule of times is lt"),
            (["--time-window", 0], "--time-window"),
            (["--draw", "labor"], "--time-strategy: last draws nothing"),
            (["--negative-sampler", "degree"], "later than a batch's"),
            (["--negatives-strict"], "later than a batch's"),
            (["--model", "gin"], "--time-encoding"),
            (["--test-messages", "train+valid"], "times"),
        ):
            self.assert_one_error(self.train("set", "refused", *options, expect=USAGE), USAGE, words)
        self.prepare("drawn", "messages", split=("--edge-split", "0.8,0.1,0.1"))
        self.assert_one_error(self.train("drawn", "refused", "--time-rule", "lt", expect=USAGE), USAGE,
                              "its links have no times")
        self.assert_one_error(self.train("drawn", "refused", expect=USAGE), USAGE, "neighbours are not drawn by time")
        self.assert_one_error(self.train("drawn", "refused", "--model", "gat", "--time-encoding", 0,
                                         expect=USAGE), USAGE,
                              "are of a rule of times, lt or le, and there is none")
        for options, code, words in (
            (["--repeats", "first"], USAGE, "a pair is a link at each of its times"),
            (["--edge-split", "0.8,0.1,0.1"], USAGE, "instead of a split that is drawn"),
            (["--valid-edges", self.work / "messages.csv"], USAGE, "instead of a split that is drawn"),
            (["--link-times"], USAGE, "of links that are given as files"),
            (["--edge-split-by-time", "0.7,0.5,0.1"], USAGE, "--edge-split-by-time"),
        ):
            self.assert_one_error(self.prepare("refused", "messages", *options, expect=code), code, words)
        self.write("early", [(1, 2, -5)])
        self.assert_one_error(
            self.prepare("refused", "messages", "--valid-edges", self.work / "early.csv", "--link-times", split=(),
                         expect=BAD_DATA), BAD_DATA, "is at -5, before the last of an earlier split")
        self.write("late", [(1, 2, 10 ** 9)])
        (self.work / "dateless.csv").write_text("source,target\n1,2\n")
        refused = self.prepare("refused", "messages", "--valid-edges", self.work / "dateless.csv", "--link-times",
                               split=(), expect=BAD_DATA)
        self.assert_one_error(refused, BAD_DATA, "time")

    @unittest.skipUnless((DATA / "uci-messages").is_dir(), "no uci-messages")
    def test_uci_messages(self):
        PROGRAMS.run("salient-prepare", "edges", "--edges", DATA / "uci-messages" / "uci.csv", "--columns", "src,dest",
                     "--time-column", "ts", "--edge-split-by-time", "0.7,0.15,0.15", "--make-features", "random:16",
                     "--out", self.work / "uci", expect=0)
        self.train("uci", "uci-run", "--pair-features", "--decoder", "mlp", "--fanout", 20, "--eval-fanout", 20,
                   "--hidden", 32, "--epochs", 2, "--eval-negatives", 1)
        self.assertGreater(self.result("uci-run")["test_average_precision"], 0.88)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
