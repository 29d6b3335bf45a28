#!/usr/bin/env python3
"""Links of a plain graph: kept aside, trained on by an encoder and a decoder, ranked; and nothing leaks.

    plain_links_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; about a minute on 2 cores

A planted graph: nodes are points on a circle, their features say where, and neighbours are near.
"""
import bisect
import csv
import json
import math
import pathlib
import random
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*QUIET, "--hidden", "16", "--fanout", "4,3", "--eval-fanout", "5,5", "--lr", "0.01", "--dropout", "0",
         "--epochs", "3", "--batch-size", "256", "--eval-negatives", "20", "--eval-batch-size", "300"]
NODES, FEATURES = 600, 8
USAGE, BAD_DATA = 2, 65
METRICS = ("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "rocauc", "average_precision")


def plant(folder):
    """edges.csv of near nodes, x.npy; pairs.csv of disjoint pairs with noise.npy."""
    draw = random.Random(3)
    edges = [(v, (v + draw.randrange(1, 8)) % NODES) for v in range(NODES) for _ in range(4)]
    edges += [(b, a) for a, b in edges[::5]] + edges[::9]
    (folder / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in edges))
    angle = [2 * math.pi * v / NODES for v in range(NODES)]
    npy.write(folder / "x.npy", (NODES, FEATURES),
              [f((k + 1) * a) for a in angle for k in range(FEATURES // 2) for f in (math.sin, math.cos)], "<f4")
    npy.write(folder / "y.npy", (NODES,), [v * 3 // NODES for v in range(NODES)], "<i8")
    (folder / "pairs.csv").write_text("".join(f"{2 * i},{2 * i + 1}\n" for i in range(4000)))
    npy.write(folder / "noise.npy", (8000, FEATURES), [draw.gauss(0, 1) for _ in range(8000 * FEATURES)], "<f4")


def philox(key, counter):
    """The four words of Philox4x32-10 (Salmon et al., SC 2011)."""
    mask = 0xFFFFFFFF
    (k0, k1), (a, b, c, d) = key, counter
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (second >> 32) ^ b ^ k0, second & mask, (first >> 32) ^ d ^ k1, first & mask
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return a, b, c, d


def negative(link, draw):
    """The destination of negative number `draw` of an evaluated link: uniform in all nodes, by decision 39."""
    at = draw // 4
    while True:
        product = philox((0, 0), (link, 0xFFFFFFFE, 0, at))[draw % 4] * NODES
        if product & 0xFFFFFFFF >= (2 ** 32 - NODES) % NODES:
            return product >> 32
        at += 1 << 16


def figures_of(scores):
    """MRR, hits and AUC of [links][1 + negatives] scores, a link's own the first, as OGB's evaluator has them."""
    ranks = [1 + sum(n > s for n in rest) + sum(n == s for n in rest) / 2 for s, *rest in scores]
    links, others = [of[0] for of in scores], sorted(n for of in scores for n in of[1:])
    won = sum(bisect.bisect_left(others, s) + bisect.bisect_right(others, s) for s in links) / 2
    figures = {f"hits_at_{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 3, 10)}
    return {**figures, "mrr": sum(1 / rank for rank in ranks) / len(ranks),
            "rocauc": won / len(links) / len(others)}


class PlainLinks(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plant(cls.work)
        cls.prepare("links", "edges.csv", "x.npy")

    @classmethod
    def run_here(cls, program, *words, expect=0, **how):
        return PROGRAMS.run(program, *words, expect=expect, cwd=cls.work, **how)

    @classmethod
    def prepare(cls, name, edges, features, *words, expect=0):
        return cls.run_here("salient-prepare", "edges", "--edges", edges, "--features", features, "--edge-split",
                            "0.8,0.1,0.1", "--out", name, *words, expect=expect)

    def train(self, name, *words, expect=0, **how):
        return self.run_here("salient-train", "--dataset", "./links", "--task", "link", *SMALL, "--out", name, *words,
                             expect=expect, **how)

    def losses(self, name):
        return [row["loss"] for row in self.metrics(name)]

    def result(self, name):
        return json.loads((self.work / name / "run.json").read_text())["result"]

    def test_a_split_is_described_and_verified(self):
        text = self.run_here("salient-prepare", "describe", "links").stdout
        self.assertRegex(text, r"links  +\d,\d+ train, \d+ valid, \d+ test")
        self.assertRegex(text, r"test  +0 of \d+ have their reverse in training")
        self.run_here("salient-prepare", "verify", "links")
        self.assertEqual(json.loads((self.work / "links/dataset.json").read_text())["task"], "link")
        self.assertIn("salient-train --dataset again --task link --model sage",
                      self.prepare("again", "edges.csv", "x.npy").stdout)
        for name in ("train", "valid", "test"):
            self.assertEqual((self.work / f"again/links-{name}.npy").read_bytes(),
                             (self.work / f"links/links-{name}.npy").read_bytes())
        self.prepare("other", "edges.csv", "x.npy", "--rng-seed", "5")
        self.assertNotEqual((self.work / "other/links-test.npy").read_bytes(),
                            (self.work / "links/links-test.npy").read_bytes())

    def test_a_run_leaves_its_figures(self):
        done = self.train("run", "--model", "sage", "--epochs", "8")
        for metric in METRICS:
            self.assertRegex(done.stdout, rf"(?m)^valid .*{metric} [01]\.\d{{4}}")
            self.assertIn(f"test_{metric}", self.result("run"))
            self.assertIn(f"valid_{metric}", self.metrics("run")[-1])
        self.assertGreater(self.result("run")["test_rocauc"], 0.8, "near nodes are links")
        self.assertGreater(self.result("run")["test_mrr"], 0.3, "21 candidates at random have .17")
        rows = self.metrics("run")
        self.assertEqual(max(row["valid_mrr"] for row in rows), self.result("run")["valid_mrr"])
        about = json.loads((self.work / "run/run.json").read_text())
        self.assertEqual((about["status"], about["dataset"]["task"]), ("finished", "link"))
        self.assertIn("valid_mrr", (self.work / "run/report.html").read_text())

    def test_figures_are_those_of_a_plain_reference(self):
        """Of scores that salient-infer gives, and of negatives that this file draws."""
        self.train("figures", "--model", "sage", "--decoder", "distmult", "--eval-fanout", "-1,-1", "--epochs", "4")
        ends = npy.read(self.work / "links/links-test.npy").values
        links = list(zip(ends[::2], ends[1::2]))
        pairs = [(s, d) for i, (s, t) in enumerate(links) for d in (t, *(negative(i, j) for j in range(20)))]
        (self.work / "pairs.txt").write_text("".join(f"{s} {d}\n" for s, d in pairs))
        for name, more in (("sampled", []), ("exact", ["--exact"])):
            self.run_here("salient-infer", "--run", "figures", "--links", "pairs.txt", "--out", name, *QUIET, *more)
            rows = list(csv.DictReader((self.work / name / "scores.csv").read_text().splitlines()))
            self.assertEqual([(int(row["source"]), int(row["destination"])) for row in rows], pairs)
            scores = [float(row["score"]) for row in rows]
            for metric, value in figures_of([scores[at:at + 21] for at in range(0, len(scores), 21)]).items():
                self.assertAlmostEqual(self.result("figures")[f"test_{metric}"], value, msg=f"{name} {metric}",
                                       delta=0.01 if more else 1e-6)
        alone = self.run_here("salient-infer", "--run", "figures", *QUIET, expect=USAGE)
        self.assert_one_error(alone, USAGE, "--links")
        (self.work / "unknown.txt").write_text("1 2\n3 600\n")
        self.assert_one_error(self.run_here("salient-infer", "--run", "figures", "--links", "unknown.txt", *QUIET,
                                            expect=BAD_DATA), BAD_DATA, "unknown.txt")

    def test_likeliest_links_are_the_best_of_all_scored(self):
        for decoder in ("dot", "mlp"):
            run = f"found-{decoder}"
            self.train(run, "--model", "sage", "--decoder", decoder, "--epochs", "4")
            (command,) = re.findall(r"next: (salient-infer .*)", (self.work / run / "log.txt").read_text())
            self.run_here(*command.split(), *QUIET, "--out", f"next-{decoder}")
            self.assertTrue((self.work / f"next-{decoder}/best.csv").exists(), command)
            nodes = [5, 0, 599]
            (self.work / "all.txt").write_text("".join(f"{v} {u}\n" for v in nodes for u in range(NODES)))
            infer = ["salient-infer", "--run", run, *QUIET, "--exact"]
            self.run_here(*infer, "--links", "all.txt", "--out", f"all-{decoder}")
            rows = list(csv.DictReader((self.work / f"all-{decoder}/scores.csv").read_text().splitlines()))
            scores = {(int(row["source"]), int(row["destination"])): float(row["score"]) for row in rows}
            self.run_here(*infer, "--nodes", "5,0,599", "--top-k", "7", "--out", f"best-{decoder}")
            best = list(csv.DictReader((self.work / f"best-{decoder}/best.csv").read_text().splitlines()))
            ends = [npy.read(self.work / f"links/links-{name}.npy").values for name in ("train", "valid", "test")]
            known = {pair for of in ends for s, d in zip(of[::2], of[1::2]) for pair in ((s, d), (d, s))}
            self.assertEqual([int(row["source"]) for row in best], [v for v in nodes for _ in range(7)])
            for at, row in enumerate(best):
                pair = (int(row["source"]), int(row["destination"]))
                self.assertNotIn(pair, known)
                self.assertNotEqual(*pair)
                self.assertEqual(int(row["rank"]), at % 7 + 1)
                wanted = sorted((s for (v, u), s in scores.items()
                                 if v == pair[0] and u != v and (v, u) not in known), reverse=True)[at % 7]
                self.assertAlmostEqual(float(row["score"]), wanted, delta=1e-4 * max(1, abs(wanted)))
                self.assertAlmostEqual(scores[pair], wanted, delta=1e-4 * max(1, abs(wanted)))
        for words, has in ((["--nodes", "5", "--relation", "r"], "--relation: of knowledge graphs"),
                           (["--links", "all.txt", "--top-k", "3"], "--top-k")):
            self.assert_one_error(self.run_here(*infer, *words, expect=USAGE), USAGE, has)

    def test_every_negative_sampler_learns_and_depends_on_no_rank(self):
        for sampler in ("degree", "in-batch", "joint"):
            words = ["--model", "sage", "--negatives", "2", "--negative-sampler", sampler, "--global-batch-size", "250"]
            self.train(f"of-{sampler}", *words)
            self.assertLess(self.losses(f"of-{sampler}")[-1], self.losses(f"of-{sampler}")[0])
            if PROGRAMS.launch:
                self.train(f"of-{sampler}-2", *words, ranks=2)
                for one, two in zip(self.losses(f"of-{sampler}"), self.losses(f"of-{sampler}-2")):
                    self.assertAlmostEqual(one, two, places=5)

    def test_every_model_decoder_and_loss(self):
        for model, decoder, loss in (("gcn", "mlp", "bce"), ("gin", "distmult", "bpr"), ("gat", "complex", "softmax"),
                                     ("gatv2", "rotate", "margin"), ("transformer", "dot", "softmax")):
            self.train(f"{model}-{loss}", "--model", model, "--decoder", decoder, "--link-loss", loss, "--negatives",
                       "3", "--corrupt", "both", "--negatives-strict", "--epochs", "2")
            losses = self.losses(f"{model}-{loss}")
            self.assertLess(losses[-1], losses[0], model)

    def test_threads_and_workers_change_no_bit(self):
        self.train("one", "--model", "sage", "--decoder", "mlp", "--threads", "1", "--workers", "1")
        self.train("two", "--model", "sage", "--decoder", "mlp", "--threads", "2", "--workers", "2")
        self.assertEqual(self.weights("one"), self.weights("two"))
        for row, other in zip(self.metrics("one"), self.metrics("two")):
            for name in ("loss", *(f"valid_{metric}" for metric in METRICS)):
                self.assertEqual(row[name], other[name])

    def test_a_resumed_run_is_an_undisturbed_one(self):
        self.train("whole", "--model", "sage", "--decoder", "mlp")
        self.train("part", "--model", "sage", "--decoder", "mlp", "--epochs", "1")
        self.run_here("salient-train", "--resume", "part", "--epochs", "3")
        self.assertEqual(self.weights("part"), self.weights("whole"))
        self.assertEqual([row["valid_mrr"] for row in self.metrics("part")],
                         [row["valid_mrr"] for row in self.metrics("whole")])
        refused = self.run_here("salient-train", "--resume", "part", "--decoder", "dot", "--epochs", "4",
                                expect=BAD_DATA)
        self.assert_one_error(refused, BAD_DATA, "decoder")

    @unittest.skipUnless(PROGRAMS.launch, "no mpirun")
    def test_ranks_have_the_losses_of_one(self):
        words = ["--model", "sage", "--negatives", "2", "--corrupt", "both", "--global-batch-size", "250"]
        self.train("ranks-1", *words)
        for ranks in (2, 3):
            self.train(f"ranks-{ranks}", *words, ranks=ranks)
            for one, several in zip(self.losses("ranks-1"), self.losses(f"ranks-{ranks}")):
                self.assertAlmostEqual(one, several, places=5)
            for metric in METRICS:
                self.assertAlmostEqual(self.result("ranks-1")[f"test_{metric}"],
                                       self.result(f"ranks-{ranks}")[f"test_{metric}"], delta=0.02)

    def test_nothing_leaks(self):
        """Of disjoint pairs with features at random nothing can be learned, unless a batch sees its links. A batch has
        all of them, so that no node has a neighbour, which would tell negatives from links."""
        self.prepare("pairs", "pairs.csv", "noise.npy")
        words = ["--dataset", "./pairs", "--model", "sage", "--epochs", "60", "--lr", "0.02", "--batch-size", "3200",
                 "--eval-negatives", "1", "--eval-every", "60"]
        self.train("excluded", *words)
        seen = self.train("seen", *words, "--exclude", "none")
        self.assert_told_once(seen.stdout + seen.stderr, "--exclude none: each batch sees the links")
        chance = math.log(2)
        self.assertGreater(min(self.losses("excluded")), chance - 0.02, "a link of two nodes without neighbours")
        self.assertLess(min(self.losses("seen")), chance - 0.1, "each end has the other as its neighbour")

    def test_training_does_not_depend_on_links_kept_aside(self):
        self.train("before", "--model", "sage")
        self.run_here("salient-prepare", "verify", "links")
        copy = self.work / "swapped"
        self.prepare("swapped", "edges.csv", "x.npy")
        valid, test = copy / "links-valid.npy", copy / "links-test.npy"
        first, second = valid.read_bytes(), test.read_bytes()
        if len(first) == len(second):
            valid.write_bytes(second), test.write_bytes(first)
        self.train("after", "--model", "sage", "--dataset", "./swapped")
        self.assertEqual(self.losses("before"), self.losses("after"))

    def test_links_and_classes_are_in_one_store(self):
        self.prepare("both", "edges.csv", "x.npy", "--labels", "y.npy", "--split", "0.6,0.2,0.2")
        auto = self.run_here("salient-train", "--dataset", "./both", *SMALL, "--epochs", "1", "--out", "auto")
        self.assertIn("mrr", auto.stdout)
        nodes = self.run_here("salient-train", "--dataset", "./both", "--task", "multi-class", *QUIET, "--hidden", "8",
                              "--epochs", "1", "--out", "nodes")
        self.assertIn("accuracy", nodes.stdout)

    def test_bad_input_is_one_line(self):
        def refused(*words, expect=USAGE, has=()):
            self.assert_one_error(self.train("x", "--model", "sage", *words, expect=expect), expect, *has)
        refused("--negatives", "0", has=["--negatives"])
        refused("--negative-sampler", "hard", has=["--negative-sampler", "in-batch"])
        refused("--metric", "accuracy", has=["accuracy is no metric of links"])
        refused("--class-weights", "balanced", has=["class weights are of labels"])
        refused("--decoder", "complex", "--hidden", "15", has=["a hidden width of 15"])
        refused("--sampler", "device", "--device", "cpu", has=["--sampler", "needs a GPU"])
        self.assert_one_error(self.train("x", "--model", "none", "--decoder", "distmult", expect=USAGE), USAGE)
        plain = ["salient-prepare", "edges", "--edges", "edges.csv", "--features", "x.npy", "--out", "plain"]
        self.run_here(*plain)
        self.assert_one_error(self.train("x", "--model", "sage", "--dataset", "./plain", expect=USAGE), USAGE,
                              "has no links to be predicted")
        self.assert_one_error(self.run_here(*plain, "--force", "--edge-split", "0.8,0.4,0.1", expect=USAGE), USAGE,
                              "--edge-split")
        (self.work / "one.csv").write_text("0,1\n")
        self.assert_one_error(self.run_here("salient-prepare", "edges", "--edges", "one.csv", "--out", "one",
                                            "--edge-split", "0.8,0.1,0.1", expect=BAD_DATA), BAD_DATA,
                              "leaves none to train on")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
