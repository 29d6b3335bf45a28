#!/usr/bin/env python3
"""Links of a knowledge graph from triples to ranks: the commands of docs/LINKS.md, and what is refused.

    links_test.py BIN_DIRECTORY DOCS_LINKS_MD       CPU; a few seconds

Entities are numbers modulo 30, relations add 1, 2, 3 or 7.
"""
import csv
import json
import pathlib
import random
import re
import shlex
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs

PROGRAMS, PAGE = programs.Programs(sys.argv[1]), pathlib.Path(sys.argv[2])
USAGE, BAD_DATA, NO_INPUT = 2, 65, 66
SMALL = ["--hidden", "16", "--epochs", "4", "--threads", "1", "--progress", "none"]


def plant(folder):
    draw = random.Random(2)
    triples = [f"n{v}\tplus {by}\tn{(v + by) % 30}\n" for by in (1, 2, 3, 7) for v in range(30)]
    draw.shuffle(triples)
    for name, part in (("train", triples[:96]), ("valid", triples[96:108]), ("test", triples[108:])):
        (folder / f"{name}.txt").write_text("".join(part))


class Links(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plant(cls.work)
        cls.run_here("salient-prepare", "triples", "--train", "train.txt", "--valid", "valid.txt", "--test", "test.txt",
                     "--out", "data")

    @classmethod
    def run_here(cls, program, *words, expect=0):
        return PROGRAMS.run(program, *words, expect=expect, cwd=cls.work)

    def train(self, name, *words, expect=0):
        return self.run_here("salient-train", "--dataset", "./data", "--task", "link", *SMALL, "--out", name, *words,
                             expect=expect)

    def test_the_page_s_commands(self):
        block = "\n".join(re.findall(r"^    (.*)$", PAGE.read_text().split("\n## ")[0], re.M)).replace("\\\n", "")
        commands = [shlex.split(line) for line in block.splitlines() if line.startswith("salient-")]
        self.assertEqual(len(commands), 4)
        for words in commands:
            done = self.run_here(*words, *(["--threads", "1"] if words[0] == "salient-train" else []))
        self.assertRegex(done.stdout, r"(?m)^valid mrr [01]\.\d{4}, hits_at_1 .* \(epoch \d+\)$")
        self.assertRegex(done.stdout, r"(?m)^test mrr [01]\.\d{4}, hits_at_1 [01]\.\d{4}, hits_at_3 .*, hits_at_10 ")

    def test_a_run_leaves_its_figures(self):
        self.train("run", "--decoder", "rotate")
        run = json.loads((self.work / "run/run.json").read_text())
        self.assertEqual(run["status"], "finished")
        self.assertEqual(run["dataset"]["task"], "link")
        self.assertEqual(run["dataset"]["test_links"], 12)
        self.assertIn("test_hits_at_10", run["result"])
        rows = self.metrics("run")
        self.assertEqual([row["epoch"] for row in rows], [1, 2, 3, 4])
        self.assertEqual(max(row["valid_mrr"] for row in rows), run["result"]["valid_mrr"])
        self.assertIn("valid_mrr", (self.work / "run/report.html").read_text())
        table = list(csv.DictReader((self.work / "run/test_relations.csv").read_text().splitlines()))
        self.assertEqual(sum(int(row["links"]) for row in table), 24, "both sides of each link")

    def test_a_resumed_run_is_an_undisturbed_one(self):
        self.train("whole", "--negatives", "5", "--dropout", "0.1")
        self.train("part", "--negatives", "5", "--dropout", "0.1", "--epochs", "2")
        self.run_here("salient-train", "--resume", "part", "--epochs", "4", "--threads", "2")
        self.assertEqual(self.weights("part"), self.weights("whole"))
        self.assertEqual([row["valid_mrr"] for row in self.metrics("part")],
                         [row["valid_mrr"] for row in self.metrics("whole")])
        self.assert_one_error(self.run_here("salient-train", "--resume", "part", "--hidden", "8", expect=BAD_DATA),
                              BAD_DATA, "hidden is 16, this run's is 8")

    def infer(self, out, *words, run="asked", expect=0):
        done = self.run_here("salient-infer", "--run", run, "--progress", "none", "--out", out, *words, expect=expect)
        found = [name for name in ("scores.csv", "best.csv") if (self.work / out / name).exists()]
        return list(csv.DictReader((self.work / out / found[0]).read_text().splitlines())) if found else done

    def test_likeliest_links_are_the_best_of_all_scored(self):
        """The scores of all triples, sorted, without those that the data set has; heads where no reverse relation has a
        row of its own, so that they are asked for by the relation itself."""
        known = {tuple(line.split("\t")) for name in ("train", "valid", "test")
                 for line in (self.work / f"{name}.txt").read_text().splitlines()}
        self.run_here("salient-prepare", "triples", "--train", "train.txt", "--valid", "valid.txt", "--test",
                      "test.txt", "--reverse", "none", "--out", "turned")
        entities, relation = ["n4", "n0", "n21"], "plus 2"
        for decoder, side, data in (("complex", "tail", "data"), ("rotate", "tail", "data"),
                                    ("complex", "head", "turned"), ("rotate", "head", "turned")):
            run = f"asked-{decoder}-{side}"
            self.train(run, "--dataset", f"./{data}", "--decoder", decoder, "--epochs", "8")
            triples = [(e, relation, f"n{v}") if side == "tail" else (f"n{v}", relation, e)
                       for e in entities for v in range(30)]
            (self.work / "all.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
            rows = self.infer(f"all-{decoder}-{side}", "--links", "all.txt", run=run)
            self.assertEqual([(row["source"], row["relation"], row["destination"]) for row in rows], triples)
            scores = {triple: float(row["score"]) for triple, row in zip(triples, rows)}
            best = self.infer(f"best-{decoder}-{side}", "--nodes", ",".join(entities), "--relation", relation,
                              "--side", side, "--top-k", "5", "--threads", "2", run=run)
            for e in entities:
                wanted = [t for t in triples if t[0 if side == "tail" else 2] == e and t not in known]
                wanted = sorted(wanted, key=lambda t: -scores[t])[:5]
                found = [row for row in best if row["source" if side == "tail" else "destination"] == e]
                self.assertEqual([(row["source"], row["relation"], row["destination"]) for row in found], wanted)
                self.assertEqual([row["rank"] for row in found], list("12345"))
                for row, triple in zip(found, wanted):
                    self.assertAlmostEqual(float(row["score"]), scores[triple], places=5)

    def test_what_cannot_be_asked_of_embeddings_is_one_line(self):
        self.train("asked", "--epochs", "1")
        ask = ["--nodes", "n1", "--relation", "plus 2"]

        def refused(*words, expect=USAGE, has=()):
            self.assert_one_error(self.infer("x", *words, expect=expect), expect, *has)
        refused("--nodes", "n1", has=["--relation: is needed"])
        refused("--top-k", "3", has=["--links: is needed"])
        refused("--nodes", "n1", "--relation", "rev_plus 2", has=["no relation 'rev_plus 2'"])
        refused(*ask, "--fanout", "3", has=["--fanout: of runs with an encoder"])
        refused(*ask, "--exact", has=["--exact: of runs with an encoder"])
        refused("--links", "test.txt", "--relation", "plus 2", has=["--relation"])
        refused("--links", "none.txt", expect=NO_INPUT, has=["none.txt"])
        (self.work / "unknown.txt").write_text("n1\tplus 2\tn3\nn1\tplus 4\tn3\n")
        refused("--links", "unknown.txt", expect=BAD_DATA, has=["unknown.txt: line 2", "no relation 'plus 4'"])
        (self.work / "stranger.txt").write_text("n1\tplus 2\tn77\n")
        refused("--links", "stranger.txt", expect=BAD_DATA, has=["stranger.txt: line 1: 'n77'"])
        self.assertFalse((self.work / "x").exists())

    PATHS = ["--model", "nbfnet", "--layers", "2", "--hidden", "8", "--epochs", "2"]

    def test_paths_are_trained_resumed_and_asked(self):
        self.train("paths", *self.PATHS)
        self.train("paths-part", *self.PATHS, "--epochs", "1")
        self.run_here("salient-train", "--resume", "paths-part", "--epochs", "2", "--threads", "2")
        self.assertEqual(self.weights("paths-part"), self.weights("paths"))
        run = json.loads((self.work / "paths/run.json").read_text())
        self.assertIn("test_mrr", run["result"])
        self.assertIn("nbfnet", (self.work / "paths/report.html").read_text())
        triples = [("n4", "plus 2", f"n{v}") for v in range(30)] + [("n9", "plus 7", "n16")]
        (self.work / "asked.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
        rows = self.infer("paths-all", "--links", "asked.txt", run="paths")
        self.assertEqual([(row["source"], row["relation"], row["destination"]) for row in rows], triples)
        known = {tuple(line.split("\t")) for name in ("train", "valid", "test")
                 for line in (self.work / f"{name}.txt").read_text().splitlines()}
        wanted = sorted((row for row in rows[:30] if tuple(row.values())[:3] not in known),
                        key=lambda row: -float(row["score"]))[:4]
        best = self.infer("paths-best", "--nodes", "n4", "--relation", "plus 2", "--top-k", "4", "--threads", "2",
                          run="paths")
        self.assertEqual([row["score"] for row in best], [row["score"] for row in wanted])
        heads = self.infer("paths-heads", "--nodes", "n4,n5", "--relation", "plus 2", "--side", "head", "--top-k", "2",
                           run="paths")
        self.assertEqual([row["destination"] for row in heads], ["n4", "n4", "n5", "n5"])

    def test_what_paths_cannot_do_is_one_line(self):
        def refused(*words, has, expect=USAGE):
            self.assert_one_error(self.train("x", *self.PATHS, *words, expect=expect), expect, *has)
        refused("--decoder", "complex", has=["--decoder"])
        refused("--hidden", "12", has=["--hidden", "a multiple of 8"])
        refused("--negatives", "0", has=["--negatives"])
        refused("--device", "cuda", has=["--device"])
        self.run_here("salient-prepare", "triples", "--train", "train.txt", "--reverse", "none", "--out", "one-way")
        refused("--dataset", "./one-way", has=["has no reverse, which paths follow"])
        self.assertEqual(self.train("x", *self.PATHS, "--ranks", "2", expect=USAGE).returncode, USAGE)

    def test_links_are_told_from_negatives(self):
        """By thresholds of each relation, as trying all scores finds them."""
        known = {line for name in ("train", "valid", "test")
                 for line in (self.work / f"{name}.txt").read_text().splitlines()}
        draw = random.Random(3)
        for name in ("valid", "test"):
            triples = [f"n{draw.randrange(30)}\tplus {draw.choice((1, 2, 3))}\tn{draw.randrange(30)}"
                       for _ in range(25)]
            (self.work / f"{name}-not.txt").write_text("".join(t + "\n" for t in triples if t not in known))
        files = ["--valid-negatives", "valid-not.txt", "--test-negatives", "test-not.txt"]
        self.train("told", "--epochs", "6")
        done = self.run_here("salient-infer", "--run", "told", "--progress", "none", "--out", "accuracy", *files)
        scores = {name: self.infer(f"told-{name}", "--links", f"{name}.txt", run="told")
                  for name in ("valid", "valid-not", "test", "test-not")}
        judged = {split: [(row["relation"], float(row["score"]), name == split)
                          for name in (split, f"{split}-not") for row in scores[name]] for split in ("valid", "test")}
        table = list(csv.DictReader((self.work / "accuracy/accuracy.csv").read_text().splitlines()))
        right = 0
        for row in table[:-1]:
            mine = [(score, is_link) for relation, score, is_link in judged["valid"] if relation == row["relation"]]
            if mine:
                most = max(sum((score >= at) == is_link for score, is_link in mine)
                           for at in [score for score, _ in mine] + [float("inf")])
                self.assertAlmostEqual(float(row["valid_accuracy"]), most / len(mine), places=4)
            right += sum((score >= float(row["threshold"]) - 1e-6) == is_link
                         for relation, score, is_link in judged["test"] if relation == row["relation"])
        self.assertEqual(table[-1]["relation"], "all")
        self.assertAlmostEqual(float(table[-1]["test_accuracy"]), right / len(judged["test"]), places=4)
        report = json.loads((self.work / "accuracy/inference.json").read_text())
        self.assertAlmostEqual(report["negatives"]["test_accuracy"], right / len(judged["test"]))
        self.assertIn("accuracy of triples: valid ", done.stdout)
        self.assert_one_error(self.infer("x", *files[:2], run="told", expect=USAGE), USAGE, "both are needed")
        self.assert_one_error(self.infer("x", *files, "--links", "test.txt", run="told", expect=USAGE), USAGE,
                              "--valid-negatives")
        self.assert_one_error(self.infer("x", *files[:2], "--test-negatives", "test.txt", run="told", expect=BAD_DATA),
                              BAD_DATA, "test.txt: line 1: this negative is a link")

    def test_a_data_set_with_links_needs_no_task(self):
        self.run_here("salient-train", "--dataset", "./data", "--out", "auto", *SMALL, "--epochs", "1")
        self.assertIn('task = "link"', (self.work / "auto/config.toml").read_text())

    def test_bad_input_is_one_line(self):
        (self.work / "leak.txt").write_text((self.work / "train.txt").read_text().splitlines()[4] + "\n")
        leak = ["salient-prepare", "triples", "--train", "train.txt", "--test", "leak.txt", "--out", "leak"]
        self.assert_one_error(self.run_here(*leak, expect=BAD_DATA), BAD_DATA, "leak.txt: line 1",
                              "is also line 5 of train.txt")
        dropped = self.run_here(*leak, "--repeats-between", "drop").stdout
        self.assertIn("--test: 0 triples that it has before are left out, and 1 that an earlier split has", dropped)
        (self.work / "bad.txt").write_text("a\tb\tc\na\tb\n")
        self.assert_one_error(self.run_here("salient-prepare", "triples", "--train", "bad.txt", "--out", "x",
                                            expect=BAD_DATA), BAD_DATA, "line 2: 2 fields, expected head, relation")
        self.assert_one_error(self.run_here("salient-prepare", "triples", "--out", "x", expect=USAGE), USAGE, "--train")
        self.assert_one_error(self.train("x", "--negatives", "few", expect=USAGE), USAGE, "--negatives")
        self.assert_one_error(self.train("x", "--decoder", "dot", expect=USAGE), USAGE, "--decoder")
        self.assert_one_error(self.run_here("salient-train", "--task", "link", "--dataset", "./none", expect=NO_INPUT),
                              NO_INPUT, "none is missing")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
