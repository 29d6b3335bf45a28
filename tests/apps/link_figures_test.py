#!/usr/bin/env python3
"""Figures of links by the rules of OGB's evaluators, on negatives that a data set comes with; hard ones in training.

    link_figures_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU
"""
import csv
import json
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from link_sets import FEATURES, NODES, USAGE, LinkTest, features_text

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*QUIET, "--hidden", "16", "--fanout", "4,3", "--eval-fanout", "-1,-1", "--lr", "0.01", "--dropout", "0",
         "--batch-size", "256", "--eval-batch-size", "300"]


def by_ogb(scores, negatives, k):
    """hits@K of ogb's evaluator: strictly above the K-th best of all negatives."""
    return sum(s > sorted(negatives)[-k] for s in scores) / len(scores)


def mrr_by_ogb(scores):
    """Of [links][1 + K], a link's own score the first: rank by (greater + greater or equal) / 2."""
    ranks = [1 + (sum(n > s for n in rest) + sum(n >= s for n in rest)) / 2 for s, *rest in scores]
    return sum(1 / rank for rank in ranks) / len(ranks)


class LinkFigures(LinkTest):
    programs = PROGRAMS

    def result(self, name):
        return json.loads((self.work / name / "run.json").read_text())["result"]

    def scores(self, run, pairs, name, *words):
        (self.work / f"{name}.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))
        self.run_here("salient-infer", "--run", run, "--links", f"{name}.txt", "--out", name, *QUIET, *words)
        rows = csv.DictReader((self.work / name / "scores.csv").read_text().splitlines())
        return [float(row["score"]) for row in rows]

    def train(self, data, out, *words, expect=0, **how):
        return self.run_here("salient-train", "--dataset", f"./{data}", "--task", "link", "--model", "sage", *SMALL,
                             "--out", out, *words, expect=expect, **how)

    def test_collab_is_scored_by_its_rule(self):
        train, valid, test, negatives = self.collab("collab")
        self.prepare("collab")
        words = ["--decoder", "distmult", "--metric", "hits_at_50", "--epochs", "6"]
        done = self.train("data-collab", "run", *words)
        self.assertRegex(done.stdout, r"(?m)^test hits_at_50 [01]\.\d{4}")
        own = self.scores("run", test, "own", "--exact")
        others = self.scores("run", negatives[120:], "others", "--exact")
        for k in (1, 3, 10, 20, 50, 100):
            self.assertAlmostEqual(self.result("run")[f"test_hits_at_{k}"], by_ogb(own, others, k), delta=0.02)
        self.assertAlmostEqual(self.result("run")["test_mrr"], mrr_by_ogb([[s, *others] for s in own]), delta=0.01)
        self.assertGreater(self.result("run")["test_hits_at_50"], 0.5)
        won = sum((s > n) + (s == n) / 2 for s in own for n in others) / len(own) / len(others)
        self.assertAlmostEqual(self.result("run")["test_rocauc"], won, delta=0.01)
        self.assert_one_error(self.train("data-collab", "x", "--metric", "accuracy", expect=USAGE), USAGE, "accuracy")

    def test_the_test_sees_validation_links_where_it_may(self):
        train, valid, test, negatives = self.collab("seen")
        self.prepare("seen")
        words = ["--decoder", "distmult", "--epochs", "4"]
        self.train("data-seen", "without", *words)
        self.train("data-seen", "with", *words, "--test-messages", "train+valid")
        self.assertEqual(self.weights("without"), self.weights("with"))
        self.assertEqual(self.result("without")["valid_mrr"], self.result("with")["valid_mrr"])
        self.assertNotEqual(self.result("without")["test_mrr"], self.result("with")["test_mrr"])
        (self.work / "merged.csv").write_text("".join(f"{a},{b}\n" for a, b in train + valid))
        (self.work / "x.csv").write_text("".join(f"{v},{row}\n" for v, row in enumerate(features_text().split())))
        values = [float(x) for row in features_text().split() for x in row.split(",")]
        npy.write(self.work / "x.npy", (NODES, FEATURES), values, "<f4")
        self.run_here("salient-prepare", "edges", "--edges", "merged.csv", "--features", "x.npy", "--out", "merged",
                      "--columns", "0,1")
        own = self.scores("with", test, "merged-own", "--exact", "--dataset", "merged")
        others = self.scores("with", negatives[120:], "merged-others", "--exact", "--dataset", "merged")
        self.assertAlmostEqual(self.result("with")["test_mrr"], mrr_by_ogb([[s, *others] for s in own]), delta=0.01)

    def test_citation2_ranks_each_link_among_its_own(self):
        parts, negatives = self.citation("citation-v2")
        self.prepare("citation-v2")
        self.train("data-citation-v2", "cited", "--decoder", "dot", "--norm", "layer", "--epochs", "4")
        pairs = [(a, v) for (a, b), rest in zip(parts["test"], negatives["test"]) for v in (b, *rest)]
        scores = self.scores("cited", pairs, "cited-scores", "--exact")
        wanted = mrr_by_ogb([scores[at:at + 31] for at in range(0, len(scores), 31)])
        self.assertAlmostEqual(self.result("cited")["test_mrr"], wanted, delta=0.01)
        self.assert_one_error(self.train("data-citation-v2", "x", "--metric", "hits_at_50", expect=USAGE), USAGE,
                              "hits_at_50 of 30 negatives is 1 for every model")

    def test_wikikg2_ranks_heads_and_tails(self):
        parts, _, negatives = self.wikikg()
        self.prepare("wikikg-v2", "--reverse", "none")
        self.run_here("salient-train", "--dataset", "./data-wikikg-v2", "--task", "link", "--model", "none",
                      "--decoder", "distmult", "--hidden", "8", "--epochs", "6", "--threads", "1", "--progress",
                      "none", "--out", "kg")
        asked = [[(h, r, v) for v in (t, *tails)] for (r, h, t), tails in zip(parts["test"], negatives["test"][1])]
        asked += [[(v, r, t) for v in (h, *heads)] for (r, h, t), heads in zip(parts["test"], negatives["test"][0])]
        (self.work / "asked.txt").write_text("".join(f"{h}\t{r}\t{t}\n" for row in asked for h, r, t in row))
        self.run_here("salient-infer", "--run", "kg", "--links", "asked.txt", "--out", "kg-scores")
        scores = [float(row["score"]) for row in
                  csv.DictReader((self.work / "kg-scores/scores.csv").read_text().splitlines())]
        wanted = mrr_by_ogb([scores[at:at + 21] for at in range(0, len(scores), 21)])
        self.assertAlmostEqual(self.result("kg")["test_mrr"], wanted, delta=0.005)

    def test_biokg_of_several_types_is_ranked(self):
        self.biokg()
        self.prepare("biokg")
        done = self.run_here("salient-train", "--dataset", "./data-biokg", "--task", "link", "--model", "none",
                             "--decoder", "complex", "--hidden", "8", "--epochs", "3", "--threads", "1", "--progress",
                             "none", "--out", "bio")
        self.assertRegex(done.stdout, r"(?m)^test mrr [01]\.\d{4}")
        self.assertGreaterEqual(self.result("bio")["test_mrr"], 0.1, "ten candidates each")
        table = list(csv.DictReader((self.work / "bio/test_relations.csv").read_text().splitlines()))
        self.assertEqual(sum(int(row["links"]) for row in table), 16, "both sides of each link")

    def test_given_links_train_on_hard_negatives(self):
        self.put_files()
        self.given("given", "--train-negatives", "train-neg.csv", "--valid-negatives", "valid-neg.csv",
                   "--test-negatives", "test-neg.csv")
        for split, name in (("train", "edges"), ("valid", "valid"), ("test", "test")):
            self.assertEqual(self.links("given", split), self.parts[name])
        self.run_here("salient-prepare", "verify", "given")
        words = ["--decoder", "distmult", "--negatives", "2", "--negative-sampler", "given", "--epochs", "4"]
        self.train("given", "hard", *words, "--threads", "1", "--workers", "1")
        losses = [row["loss"] for row in self.metrics("hard")]
        self.assertLess(losses[-1], losses[0])
        self.train("given", "hard-2", *words, "--threads", "2", "--workers", "2")
        self.assertEqual(self.weights("hard"), self.weights("hard-2"))
        if PROGRAMS.launch:
            shared = ["--global-batch-size", "250"]
            self.train("given", "one", *words, *shared)
            self.train("given", "ranks", *words, *shared, ranks=2)
            for one, two in zip(self.metrics("one"), self.metrics("ranks")):
                self.assertAlmostEqual(one["loss"], two["loss"], places=5)
                self.assertAlmostEqual(one["valid_hits_at_20"], two["valid_hits_at_20"], delta=0.03)
        self.given("none")
        self.assert_one_error(self.train("none", "x", *words, expect=USAGE), USAGE, "comes with no negatives")

    def test_own_destinations_are_ranked(self):
        self.put_files()
        rows = [[(a + 40 + k) % NODES for k in range(30, 34)] for a, _ in self.parts["test"]]
        npy.write(self.work / "own.npy", (len(rows), 4), [v for row in rows for v in row], "<i8")
        self.given("apart", "--test-negatives", "own.npy")
        self.train("apart", "of-own", "--epochs", "1", "--norm", "layer")
        self.assertGreaterEqual(self.result("of-own")["test_mrr"], 0.2, "of five candidates")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
