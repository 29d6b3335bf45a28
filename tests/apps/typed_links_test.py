#!/usr/bin/env python3
"""Links that have relations, by an encoder and a decoder: of a knowledge graph, and of several node types.

    typed_links_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; a minute on 2 cores

Planted graphs: entities on a circle, whose relations are steps of a length each; users and items on another circle,
where a user buys what is near.
"""
import csv
import json
import math
import pathlib
import random
import re
import shlex
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*QUIET, "--hidden", "16", "--lr", "0.02", "--dropout", "0", "--epochs", "3", "--batch-size", "64"]
BOTH = ["--corrupt", "both", "--negatives", "4"]
STEPS, ENTITIES, USERS, ITEMS = (1, 2, 3, 7), 60, 120, 80
USAGE, BAD_DATA = 2, 65
METRICS = ("mrr", "hits_at_1", "hits_at_3", "hits_at_10")


def plant(folder):
    draw = random.Random(2)
    triples = [f"n{v}\tplus {by}\tn{(v + by) % ENTITIES}\n" for by in STEPS for v in range(ENTITIES)]
    draw.shuffle(triples)
    for name, part in (("train", triples[:200]), ("valid", triples[200:220]), ("test", triples[220:])):
        (folder / f"{name}.txt").write_text("".join(part))
    position = [2 * math.pi * v / USERS for v in range(USERS)]
    npy.write(folder / "users.npy", (USERS, 4),
              [f(k * p) for p in position for k in (1, 2) for f in (math.sin, math.cos)], "<f4")
    near = [(v, (v + draw.randrange(1, 5)) % USERS) for v in range(USERS) for _ in range(3)]
    buys = [(v, (v * ITEMS // USERS + draw.randrange(4)) % ITEMS) for v in range(USERS) for _ in range(6)]
    (folder / "near.csv").write_text("".join(f"{a},{b}\n" for a, b in near))
    (folder / "buys.csv").write_text("".join(f"{a},{b}\n" for a, b in buys + buys[:5]))
    npy.write(folder / "noise.npy", (4000, 4), [draw.gauss(0, 1) for _ in range(16000)], "<f4")
    (folder / "pairs.csv").write_text("".join(f"{i},{(7 * i + 3) % 4000}\n" for i in range(4000)))


class TypedLinks(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plant(cls.work)
        cls.run_here("salient-prepare", "triples", "--train", "train.txt", "--valid", "valid.txt", "--test", "test.txt",
                     "--out", "kg")
        cls.prepare("shop", "--link-relation", "user:buys:item")
        cls.prepare("both")

    @classmethod
    def run_here(cls, program, *words, expect=0, **how):
        return PROGRAMS.run(program, *words, expect=expect, cwd=cls.work, **how)

    @classmethod
    def prepare(cls, name, *words, expect=0):
        return cls.run_here("salient-prepare", "typed", "--nodes", "user=users.npy", "--nodes", f"item=count:{ITEMS}",
                            "--edges", "user:near:user=near.csv", "--edges", "user:buys:item=buys.csv", "--edge-split",
                            "0.8,0.1,0.1", "--out", name, *words, expect=expect)

    def train(self, name, *words, data="kg", fanout="4,3", expect=0, **how):
        return self.run_here("salient-train", "--dataset", f"./{data}", "--task", "link", *SMALL, "--fanout", fanout,
                             "--eval-fanout", "8,8", "--out", name, *words, expect=expect, **how)

    def losses(self, name):
        return [row["loss"] for row in self.metrics(name)]

    def result(self, name):
        return json.loads((self.work / name / "run.json").read_text())["result"]

    def links(self, store, split):
        ends = npy.read(self.work / f"{store}/links-{split}.npy").values
        relations = npy.read(self.work / f"{store}/links-{split}-relation.npy").values
        return list(zip(ends[::2], relations, ends[1::2]))

    def test_a_knowledge_graph_is_learned(self):
        done = self.train("kg-run", "--model", "rsage", "--decoder", "rotate", "--corrupt", "both", "--negatives", "16",
                          "--link-loss", "softmax", "--hidden", "32", "--batch-size", "32", "--epochs", "15")
        self.assertRegex(done.stdout, r"(?m)^test mrr [01]\.\d{4}, hits_at_1 .*hits_at_10 [01]\.\d{4}$")
        result = self.result("kg-run")
        self.assertGreater(result["test_hits_at_10"], 0.4, "10 of 60 at random are .17")
        self.assertLess(self.losses("kg-run")[-1], self.losses("kg-run")[0])
        self.assertEqual(max(row["valid_mrr"] for row in self.metrics("kg-run")), result["valid_mrr"])
        table = list(csv.DictReader((self.work / "kg-run/test_relations.csv").read_text().splitlines()))
        self.assertEqual(sum(int(row["links"]) for row in table), 2 * 20, "both sides of each link")
        about = json.loads((self.work / "kg-run/run.json").read_text())
        self.assertEqual((about["status"], about["dataset"]["task"], about["dataset"]["test_links"]),
                         ("finished", "link", 20))
        self.assertIn("valid_mrr", (self.work / "kg-run/report.html").read_text())

    def test_ranks_are_those_of_all_scores(self):
        """Of scores that salient-infer gives: filtered, of both sides, ties in their middle. Heads by --corrupt dst are
        asked for by the relation itself, so that a triple has one score."""
        for decoder in ("distmult", "complex", "rotate", "dot"):
            run = f"ranks-{decoder}"
            self.train(run, "--model", "rsage", "--decoder", decoder, "--eval-fanout", "-1,-1", "--negatives", "2")
            names = [f"n{v}" for v in range(ENTITIES)]
            (self.work / "all.txt").write_text(
                "".join(f"{h}\tplus {by}\t{t}\n" for h in names for by in STEPS for t in names))
            self.run_here("salient-infer", "--run", run, "--links", "all.txt", "--out", f"all-{decoder}", *QUIET)
            scores = {(row["source"], row["relation"], row["destination"]): float(row["score"])
                      for row in csv.DictReader((self.work / f"all-{decoder}/scores.csv").read_text().splitlines())}
            known = {tuple(line.split("\t")) for name in ("train", "valid", "test")
                     for line in (self.work / f"{name}.txt").read_text().splitlines()}
            ranks = []
            for h, r, t in (line.split("\t") for line in (self.work / "test.txt").read_text().splitlines()):
                for others in ([(h, r, n) for n in names], [(n, r, t) for n in names]):
                    others = [scores[o] for o in others if o not in known]
                    own = scores[h, r, t]
                    ranks.append(1 + sum(o > own for o in others) + sum(o == own for o in others) / 2)
            self.assertAlmostEqual(self.result(run)["test_mrr"], sum(1 / r for r in ranks) / len(ranks), delta=2e-3,
                                   msg=decoder)
            self.run_here("salient-infer", "--run", run, "--nodes", "n4", "--relation", "plus 2", "--top-k", "3",
                          "--out", f"best-{decoder}", *QUIET)
            best = [row["destination"] for row in
                    csv.DictReader((self.work / f"best-{decoder}/best.csv").read_text().splitlines())]
            wanted = sorted((n for n in names if ("n4", "plus 2", n) not in known),
                            key=lambda n: -scores["n4", "plus 2", n])[:3]
            self.assertEqual(len(best), 3)
            self.assertAlmostEqual(scores["n4", "plus 2", best[0]], scores["n4", "plus 2", wanted[0]], places=4)

    def test_links_of_one_relation_of_a_typed_store(self):
        text = self.run_here("salient-prepare", "describe", "shop").stdout
        self.assertRegex(text, r"links  +\d+ train, \d+ valid, \d+ test")
        self.run_here("salient-prepare", "verify", "shop")
        schema = json.loads((self.work / "shop/dataset.json").read_text())
        entries = {relation["name"]: relation["entries"] for relation in schema["relations"]}
        links = {split: self.links("shop", split) for split in ("train", "valid", "test")}
        self.assertEqual({r for of in links.values() for _, r, _ in of}, {1}, "buys alone")
        self.assertEqual((entries["buys"], entries["rev_buys"]), (len(links["train"]),) * 2)
        distinct = {tuple(line.split(",")) for line in (self.work / "buys.csv").read_text().split()}
        all_links = [link for of in links.values() for link in of]
        self.assertEqual({(str(s), str(d - USERS)) for s, _, d in all_links}, distinct)
        self.assertEqual(len(all_links), len(distinct), "no link is in two splits, or twice")
        self.train("shop-run", "--model", "rsage", "--decoder", "distmult", *BOTH, "--epochs", "8", data="shop")
        self.assertGreater(self.result("shop-run")["test_mrr"], 0.1, "at random .05 among 100 of a type")
        rows = list(csv.DictReader((self.work / "shop-run/test_relations.csv").read_text().splitlines()))
        self.assertEqual({row["relation"] for row in rows}, {"buys"})
        again = self.prepare("again", "--link-relation", "user:buys:item")
        self.assertIn("--task link --model rgcn", again.stdout)
        for split in ("train", "valid", "test"):
            self.assertEqual(self.links("again", split), links[split])
        both = {split: self.links("both", split) for split in ("train", "valid", "test")}
        self.assertEqual({r for of in both.values() for _, r, _ in of}, {0, 1})
        pairs = {split: {frozenset((s, d)) for s, _, d in of} for split, of in both.items()}
        self.assertFalse(pairs["train"] & pairs["test"] or pairs["train"] & pairs["valid"])

    def test_every_model_decoder_and_loss(self):
        for model, decoder, loss, data in (("rgcn", "mlp", "bce", "shop"), ("rsage", "rotate", "margin", "kg"),
                                           ("rgat", "complex", "softmax", "shop"), ("hgt", "distmult", "bpr", "shop")):
            name = f"{model}-{loss}"
            self.train(name, "--model", model, "--decoder", decoder, "--link-loss", loss, *BOTH, "--negatives-strict",
                       data=data)
            self.assertLess(self.losses(name)[-1], self.losses(name)[0], name)
            for metric in METRICS:
                self.assertIn(f"test_{metric}", self.result(name))

    def test_threads_and_workers_change_no_bit(self):
        words = ["--model", "rgcn", "--decoder", "distmult", *BOTH]
        self.train("one", *words, "--threads", "1", "--workers", "1")
        self.train("two", *words, "--threads", "2", "--workers", "2")
        self.assertEqual(self.weights("one"), self.weights("two"))
        for row, other in zip(self.metrics("one"), self.metrics("two")):
            for name in ("loss", *(f"valid_{metric}" for metric in METRICS)):
                self.assertEqual(row[name], other[name])

    def test_a_resumed_run_is_an_undisturbed_one(self):
        words = ["--model", "rsage", "--decoder", "complex", *BOTH]
        self.train("whole-run", *words)
        self.train("part", *words, "--epochs", "1")
        self.run_here("salient-train", "--resume", "part", "--epochs", "3")
        self.assertEqual(self.weights("part"), self.weights("whole-run"))
        self.assertEqual([row["valid_mrr"] for row in self.metrics("part")],
                         [row["valid_mrr"] for row in self.metrics("whole-run")])

    @unittest.skipUnless(PROGRAMS.launch, "no mpirun")
    def test_ranks_have_the_losses_of_one(self):
        words = ["--model", "rgcn", "--decoder", "distmult", *BOTH, "--global-batch-size", "60", "--epochs", "2"]
        self.train("ranks-1", *words, data="shop")
        for ranks in (2, 4):
            self.train(f"ranks-{ranks}", *words, data="shop", ranks=ranks)
            for one, several in zip(self.losses("ranks-1"), self.losses(f"ranks-{ranks}")):
                self.assertAlmostEqual(one, several, places=5)
            self.assertAlmostEqual(self.result("ranks-1")["test_mrr"], self.result(f"ranks-{ranks}")["test_mrr"],
                                   delta=0.02)

    def test_nothing_leaks(self):
        """Of disjoint pairs of two types with features at random nothing can be learned, unless a batch sees its links,
        or their reverses. A batch has all of them."""
        self.run_here("salient-prepare", "typed", "--nodes", "a=noise.npy", "--nodes", "b=noise.npy", "--edges",
                      "a:to:b=pairs.csv", "--edge-split", "0.8,0.1,0.1", "--out", "pairs")
        words = ["--model", "rsage", "--decoder", "dot", "--epochs", "40", "--batch-size", "3200", "--eval-every", "40",
                 "--eval-fanout", "2"]
        self.train("excluded", *words, data="pairs", fanout="2")
        seen = self.train("seen", *words, "--exclude", "none", data="pairs", fanout="2")
        self.assert_told_once(seen.stdout + seen.stderr, "--exclude none: each batch sees the links")
        chance = math.log(2)
        self.assertGreater(min(self.losses("excluded")), chance - 0.02, "ends without neighbours")
        self.assertLess(min(self.losses("seen")), chance - 0.1, "each end has the other as its neighbour")

    def test_the_page_s_commands(self):
        """Of docs/LINKS.md, on the files that are planted here."""
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/LINKS.md").read_text()
        section = page.split("## Encoders of relations")[1].split("\n### ")[0]
        block = "\n".join(re.findall(r"^    (.*)$", section, re.M)).replace("\\\n", "")
        (self.work / "data").mkdir()
        self.run_here("salient-prepare", "triples", "--train", "train.txt", "--valid", "valid.txt", "--test",
                      "test.txt", "--out", "data/umls")
        for words in map(shlex.split, block.splitlines()):
            done = self.run_here(*words, *(QUIET if words[0] == "salient-train" else []))
        self.assertRegex(done.stdout, r"(?m)^test mrr ")

    def test_a_dry_run_counts_relations(self):
        done = self.train("dry", "--model", "rgcn", "--decoder", "distmult", "--dry-run", data="shop")
        self.assertIn("buys", done.stdout)
        self.assertFalse((self.work / "dry").exists())

    def test_what_is_not_there_is_one_line(self):
        def refused(*words, has=(), expect=USAGE, data="kg"):
            self.assert_one_error(self.train("x", "--model", "rgcn", "--decoder", "distmult", *words, data=data,
                                             expect=expect), expect, *has)
        refused("--corrupt", "both", "--negatives", "3", has=["an even number"])
        refused("--metric", "rocauc", has=["rocauc is of links without relations"])
        refused("--test-messages", "train+valid", has=["without relations"])
        refused("--negative-sampler", "given", has=["comes with no negatives"])
        refused("--negative-sampler", "in-batch", data="both", has=["several node types"])
        refused("--sampler", "device", "--device", "cpu", has=["--sampler", "needs a GPU"])
        refused("--decoder", "complex", "--hidden", "15", has=["a hidden width of 15"])
        for words, has in ((["--link-relation", "user:sells:item"], "no relation 'user:sells:item'"),
                           (["--split", "0.5,0.2,0.3"], "--split"), (["--edge-split", "0.8,0.4,0.1"], "--edge-split")):
            self.assert_one_error(self.prepare("y", *words, expect=USAGE), USAGE, has)
        given = ["salient-prepare", "typed", "--nodes", "user=users.npy", "--edges", "user:near:user=near.csv",
                 "--edges", "user:rev_near:user=near.csv", "--edge-split", "0.8,0.1,0.1", "--out", "y"]
        self.assert_one_error(self.run_here(*given, expect=USAGE), USAGE, "has its reverse in a file of its own")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
