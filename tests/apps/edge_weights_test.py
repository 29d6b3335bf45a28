#!/usr/bin/env python3
"""Neighbours count by the weights of their edges: what these alone tell is learned with them, and chance without.

    edge_weights_test.py BIN_DIRECTORY MPIEXEC FLAGS...       on a small graph, CPU; a minute

Every node has as many edges to hints of its class as to hints of the other one, hints being nodes whose feature says a
class. The edges of its class weigh 9, the others 1, so who counts neighbours alike knows nothing.
"""
import json
import random
import sys
import pathlib
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from serving import Server
from store_runs import StoreRuns

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
NODES, HINTS, EACH = 800, 40, 3
MODELS = ("sage", "sage-ri", "gcn", "gat", "gatv2", "transformer")
TRAIN = [*QUIET, "--hidden", 16, "--fanout", "8,4", "--eval-fanout", "8,8", "--lr", 0.01, "--batch-size", 40,
         "--epochs", 8, "--metric", "accuracy", "--dropout", 0]
WEIGHTED = ("--aggregate", "weighted")


class EdgeWeights(StoreRuns):
    PROGRAMS, TRAIN = PROGRAMS, TRAIN

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        classes = [draw.randrange(2) for _ in range(NODES)]
        edges = []
        for v in range(NODES):
            for weight in (1, 9):
                hinted = classes[v] if weight == 9 else 1 - classes[v]
                hints = draw.sample(range(HINTS // 2), EACH)
                edges += [(NODES + 2 * hint + hinted, v, weight) for hint in hints]
        draw.shuffle(edges)
        (cls.work / "edges.csv").write_text("source,target,w\n" + "".join(f"{s},{d},{w}\n" for s, d, w in edges))
        rows = [f"{v},{draw.random():.3f},0,c{classes[v]}\n" for v in range(NODES)]
        rows += [f"{NODES + h},{draw.random():.3f},{2 * (h % 2) - 1},none\n" for h in range(HINTS)]
        (cls.work / "nodes.csv").write_text("id,noise,hint,label\n" + "".join(rows))
        cls.prepare("with", "--weight-column", "w")
        cls.prepare("without")

    @classmethod
    def prepare(cls, name, *options):
        PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / "edges.csv", "--nodes", cls.work / "nodes.csv",
                     "--label", "label", "--unlabelled", "none", "--split", "0.6,0.2,0.2", "--symmetric", "no",
                     "--out", cls.work / name, *options, expect=0)

    def logits(self, name):
        return npy.read(self.work / name / "logits.npy").values

    def test_what_they_alone_tell_is_learned_with_them(self):
        for model in MODELS:
            self.train("with", f"with-{model}", "--model", model, *WEIGHTED)
            self.assertGreater(self.accuracy(f"with-{model}"), 0.95, model)
        for model in ("sage", "gat"):
            self.train("with", f"plain-{model}", "--model", model)
            self.assertLess(abs(self.accuracy(f"plain-{model}") - 0.5), 0.12, model)

    def test_runs_without_them_are_those_of_a_store_without(self):
        for data in ("with", "without"):
            self.train(data, f"none-{data}", "--epochs", 2)
        self.assertEqual(self.losses("none-with"), self.losses("none-without"))
        self.assertEqual(self.weights("none-with"), self.weights("none-without"))

    def test_threads_and_ranks_change_nothing(self):
        for workers in (1, 3):
            self.train("with", f"workers-{workers}", "--model", "gcn", *WEIGHTED, "--epochs", 3, "--workers", workers)
        self.assertEqual(self.losses("workers-1"), self.losses("workers-3"))
        self.assertEqual(self.weights("workers-1"), self.weights("workers-3"))
        self.train("with", "ranks-2", "--model", "gcn", *WEIGHTED, "--epochs", 3, "--global-batch-size", 40, ranks=2)
        for one, two in zip(self.losses("workers-1"), self.losses("ranks-2"), strict=True):
            self.assertAlmostEqual(one, two, delta=1e-4)
        self.infer("workers-1", "alone", "--nodes", "all")
        self.infer("workers-1", "ranks", "--nodes", "all", ranks=2)
        self.assertEqual(self.logits("alone"), self.logits("ranks"))

    def test_exact_predictions_are_those_of_all_neighbours(self):
        for model in MODELS:
            self.train("with", f"exact-{model}", "--model", model, *WEIGHTED, "--epochs", 1)
            self.infer(f"exact-{model}", f"{model}-exact", "--nodes", "all", "--exact")
            self.infer(f"exact-{model}", f"{model}-all", "--nodes", "all", "--fanout", "-1,-1")
            for one, other in zip(self.logits(f"{model}-exact"), self.logits(f"{model}-all"), strict=True):
                self.assertAlmostEqual(one, other, delta=2e-3, msg=model)

    def test_parts_of_a_data_set_share_them(self):
        self.prepare("parted", "--weight-column", "w")
        PROGRAMS.run("salient-prepare", "partition", self.work / "parted", "--parts", 2, expect=0)
        for features in ("host", "partitioned"):
            self.train("parted", f"features-{features}", *WEIGHTED, "--epochs", 2, "--features", features,
                       "--global-batch-size", 40, ranks=2)
        self.assertEqual(self.losses("features-host"), self.losses("features-partitioned"))

    def test_a_server_predicts_what_inference_does(self):
        self.train("with", "served", *WEIGHTED, "--epochs", 2)
        with Server(PROGRAMS.folder, self.work / "served") as server:
            self.assertEqual(len(server.predict({"nodes": ["0", "1"]})), 2)
            new = {"new_nodes": [{"features": [0.5, 1], "neighbors": []}]}
            status, _, text = server.ask("POST", "/predict", json.dumps(new))
            self.assertEqual(status, 400, text)
            self.assertIn("reads the weights of edges, and new nodes have edges without any", text)

    def test_a_resumed_run_is_the_undisturbed_one(self):
        self.train("with", "whole", "--model", "gat", *WEIGHTED, "--epochs", 4)
        self.train("with", "part", "--model", "gat", *WEIGHTED, "--epochs", 2)
        PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 4, expect=0)
        self.assertEqual(self.weights("whole"), self.weights("part"))

    def test_what_has_no_place_for_them_says_so(self):
        def refused(data, *options, text):
            self.assert_one_error(self.train(data, "refused", *options, expect=2), 2, text)

        refused("with", *WEIGHTED, "--draw", "weighted", text="weights would count twice")
        refused("with", *WEIGHTED, "--model", "gin", text="gin has no place for the weights of edges; sage, gat")
        refused("with", *WEIGHTED, "--aggr", "max", text="a maximum has no weights")
        refused("with", "--aggregate", "other", text="plain")
        refused("without", *WEIGHTED, text="count by the weights of edges, and these have none")
        self.train("with", "chosen", *WEIGHTED, "--epochs", 1)
        self.assert_one_error(self.infer("chosen", "twice", "--draw", "weighted", expect=2), 2, "would count twice")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
