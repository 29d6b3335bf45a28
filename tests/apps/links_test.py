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
        self.assert_one_error(self.run_here("salient-prepare", "partition", "data", "--parts", "2", expect=BAD_DATA),
                              BAD_DATA, "typed graph")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
