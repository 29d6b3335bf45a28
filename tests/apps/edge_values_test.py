#!/usr/bin/env python3
"""Weights and times of edges, from a table to a model that draws by weight.

    edge_values_test.py BIN_DIRECTORY DATA_DIRECTORY       on small graphs, CPU; a quarter of a minute

DATA_DIRECTORY has real graphs; where it does not, or SALIENT_TEST_DATA does not, the tests of those are skipped.
"""
import json
import os
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS, QUIET = programs.Programs(sys.argv[1]), programs.QUIET
DATA = pathlib.Path(os.environ.get("SALIENT_TEST_DATA") or sys.argv[2]).resolve()
NODES, GROUPS = 240, 3


class EdgeValues(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        # Heavy edges stay in their group, as many light ones lead anywhere; features say nothing of the group.
        rows = []
        for v in range(NODES):
            for _ in range(4):
                rows.append((v, (v + GROUPS * draw.randrange(1, NODES // GROUPS)) % NODES, 100, draw.randrange(1000)))
                rows.append((v, draw.randrange(NODES), 0.01, draw.randrange(1000)))
        cls.days = [day for _, _, _, day in rows]
        cls.edges = cls.work / "edges.csv"
        cls.edges.write_text("source,target,amount,day\n" + "".join(f"{s},{d},{w},{t}\n" for s, d, w, t in rows))
        cls.nodes = cls.work / "nodes.csv"
        cls.nodes.write_text("id,noise,hint,label\n" + "".join(
            f"{v},{draw.random():.3f},{v % GROUPS if v % 4 == 0 else 1},g{v % GROUPS}\n" for v in range(NODES)))

    def prepare(self, name, *options, expect=0):
        return PROGRAMS.run("salient-prepare", "edges", "--edges", self.edges, "--nodes", self.nodes, "--label",
                            "label", "--split", "0.6,0.2,0.2", "--out", self.work / name, *options, expect=expect)

    def train(self, name, run, *options, expect=0):
        return PROGRAMS.run("salient-train", "--dataset", self.work / name, "--out", self.work / run, *programs.SMALL,
                            "--batch-size", 40, "--epochs", 12, *options, expect=expect)

    def accuracy(self, run):
        return json.loads((self.work / run / "run.json").read_text())["result"]["test_accuracy"]

    def test_from_a_table_to_a_model(self):
        made = self.prepare("weighted", "--weight-column", "amount")
        self.assertIn("edge weights    0.01 to ", made.stdout)
        self.assertEqual(json.loads((self.work / "weighted" / "dataset.json").read_text())["format_version"], 2)
        weights, indices = (npy.read(self.work / "weighted" / f"{name}.npy") for name in ("edge_weights", "indices"))
        self.assertEqual(weights.shape, indices.shape)
        PROGRAMS.run("salient-prepare", "verify", self.work / "weighted", expect=0)
        self.assertIn("edge weights", PROGRAMS.run("salient-prepare", "describe", self.work / "weighted").stdout)
        draws = ["--fanout", "3,3", "--eval-fanout", "3,3"]
        self.train("weighted", "by-weight", "--draw", "weighted", *draws)
        self.train("weighted", "uniform", *draws)
        self.assertGreater(self.accuracy("by-weight"), self.accuracy("uniform") + 0.05, "heavy edges tell the group")
        again = PROGRAMS.run("salient-infer", "--run", self.work / "by-weight", *QUIET, "--out",
                             self.work / "predicted", expect=0)
        self.assertIn("accuracy", again.stdout + again.stderr)

    def test_times_are_kept_and_plain_draws_work(self):
        made = self.prepare("timed", "--time-column", "day")
        self.assertIn(f"edge times      {min(self.days)} to {max(self.days)}", made.stdout)
        PROGRAMS.run("salient-prepare", "verify", self.work / "timed", expect=0)
        self.train("timed", "timed-gcn", "--model", "gcn")
        self.assertEqual(self.prepare("refused", "--repeats", "refuse", expect=65).returncode, 65)

    def test_nodes_have_times_that_split_them(self):
        table = self.work / "dated.csv"
        table.write_text("id,noise,born,label\n" + "".join(
            f"{v},{v % 7},{v * 11 % 60},g{v % GROUPS}\n" for v in range(NODES)))
        made = PROGRAMS.run("salient-prepare", "edges", "--edges", self.edges, "--nodes", table, "--time-column", "day",
                            "--node-time-column", "born", "--split-by-time", "0.7,0.15,0.15", "--out",
                            self.work / "dated", expect=0)
        self.assertIn("node times      0 to 59", made.stdout)
        PROGRAMS.run("salient-prepare", "verify", self.work / "dated", expect=0)
        times, *parts = (npy.read(self.work / "dated" / f"{name}.npy")
                         for name in ("node_times", "train", "valid", "test"))
        self.assertEqual([len(part.values) for part in parts], [168, 36, 36])
        ranges = [(min(born), max(born)) for born in ([times.values[v] for v in part.values] for part in parts)]
        self.assertLess(ranges[0][1], ranges[1][0])
        self.assertLess(ranges[1][1], ranges[2][0])
        self.assertIn("has no column 'when'", PROGRAMS.run(
            "salient-prepare", "edges", "--edges", self.edges, "--nodes", table, "--node-time-column", "when",
            "--out", self.work / "bad", expect=65).stderr)
        self.assertIn("--split-by-time: needs times of the nodes", PROGRAMS.run(
            "salient-prepare", "edges", "--edges", self.edges, "--nodes", table, "--split-by-time", "0.7,0.15,0.15",
            "--out", self.work / "bad", expect=2).stderr)

    def test_a_time_is_no_feature_of_a_table_that_another_is_coded_as(self):
        first, second = self.work / "first.csv", self.work / "second.csv"
        for table, shift in ((first, 0), (second, 1)):
            table.write_text("id,noise,born,label\n" + "".join(
                f"{v},{(v + shift) % 7},{v % 60},g{v % GROUPS}\n" for v in range(NODES)))
        words = ["salient-prepare", "edges", "--edges", self.edges, "--out"]
        timed = ["--node-time-column", "born"]
        PROGRAMS.run(*words, self.work / "as-time", "--nodes", first, *timed, expect=0)
        PROGRAMS.run(*words, self.work / "as-feature", "--nodes", first, expect=0)
        like = PROGRAMS.run(*words, self.work / "like", "--nodes", second, *timed, "--features-as",
                            self.work / "as-time", expect=0)
        self.assertIn("node times      0 to 59", like.stdout)
        refused = PROGRAMS.run(*words, self.work / "bad", "--nodes", second, *timed, "--features-as",
                               self.work / "as-feature", expect=65)
        self.assertIn("'born' is the column of times, and a feature in the table that it is to be coded as",
                      refused.stderr)
        bare = self.work / "bare.csv"
        bare.write_text("id,born\n" + "".join(f"{v},{v}\n" for v in range(NODES)))
        refused = PROGRAMS.run(*words, self.work / "bad", "--nodes", bare, *timed, expect=65)
        self.assertIn("has no column beside the id and the time, neither a feature nor a label", refused.stderr)

    def test_what_cannot_be_is_one_line(self):
        self.prepare("plain")
        refused = self.train("plain", "none", "--draw", "weighted", expect=2)
        self.assertIn("are to be drawn by weight, and the edges of this graph have no weights", refused.stderr)
        self.edges.with_name("bad.csv").write_text("source,target,amount\n0,1,2\n1,2,-0.5\n")
        bad = PROGRAMS.run("salient-prepare", "edges", "--edges", self.work / "bad.csv", "--weight-column", "amount",
                           "--out", self.work / "bad", expect=65)
        self.assertEqual(bad.stderr.strip().count("\n"), 0)
        self.assertIn("bad.csv: line 3: '-0.5': the weight is below 0", bad.stderr)
        self.assertIn("--weight-map: of weights", PROGRAMS.run(
            "salient-prepare", "edges", "--edges", self.edges, "--weight-map", "abs", "--out", self.work / "bad",
            expect=2).stderr)

    @unittest.skipUnless((DATA / "bitcoin-otc").is_dir(), "no bitcoin-otc in SALIENT_TEST_DATA")
    def test_bitcoin_otc(self):
        table = DATA / "bitcoin-otc" / "bitcoinotc.csv"
        options = ["--edges", table, "--make-features", "degree", "--out", self.work / "otc", "--weight-column",
                   "rating", "--time-column", "time", "--symmetric", "no"]
        self.assertIn("below 0", PROGRAMS.run("salient-prepare", "edges", *options, expect=65).stderr)
        made = PROGRAMS.run("salient-prepare", "edges", *options, "--weight-map", "abs", expect=0)
        self.assertIn("35,592 entries, directed", made.stdout)
        self.assertIn("edge weights    1 to 10, 0 entries of 0", made.stdout)
        PROGRAMS.run("salient-prepare", "verify", self.work / "otc", expect=0)

    @unittest.skipUnless((DATA / "uci-messages").is_dir(), "no uci-messages in SALIENT_TEST_DATA")
    def test_uci_messages(self):
        made = PROGRAMS.run("salient-prepare", "edges", "--edges", DATA / "uci-messages" / "uci.csv", "--columns",
                            "src,dest", "--time-column", "ts", "--symmetric", "no", "--make-features", "degree",
                            "--out", self.work / "uci", expect=0)
        self.assertIn("59,835 entries, directed", made.stdout)
        self.assertIn("edge times      1082008561 to ", made.stdout)
        PROGRAMS.run("salient-prepare", "verify", self.work / "uci", expect=0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
