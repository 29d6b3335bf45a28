#!/usr/bin/env python3
"""Training and prediction with the features of edges: what they alone tell is learned with them, and chance without.

    edge_features_test.py BIN_DIRECTORY MPIEXEC FLAGS...       on a small graph, CPU; a minute

Every node has as many edges to hints of its class as to hints of the other one, hints being nodes whose feature says a
class. The edges of its class are of kind 1, the others of kind 0, so who does not know the kind knows nothing.
"""
import json
import pathlib
import random
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from serving import Server
from store_runs import StoreRuns

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
NODES, HINTS, EACH = 800, 40, 3
TRAIN = [*QUIET, "--hidden", 16, "--fanout", "8,4", "--eval-fanout", "8,8", "--lr", 0.01, "--batch-size", 40,
         "--epochs", 8, "--metric", "accuracy", "--dropout", 0]


class EdgeFeatures(StoreRuns):
    PROGRAMS, TRAIN = PROGRAMS, TRAIN

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        classes = [draw.randrange(2) for _ in range(NODES)]
        edges = []
        for v in range(NODES):
            for kind in (0, 1):
                hinted = classes[v] if kind else 1 - classes[v]
                edges += [(NODES + 2 * draw.randrange(HINTS // 2) + hinted, v, kind) for _ in range(EACH)]
        draw.shuffle(edges)
        cls.edges = edges
        (cls.work / "edges.csv").write_text(
            "source,target,kind,noise\n" + "".join(f"{s},{d},{k},{draw.random():.3f}\n" for s, d, k in edges))
        rows = [f"{v},{draw.random():.3f},0,c{classes[v]}\n" for v in range(NODES)]
        rows += [f"{NODES + h},{draw.random():.3f},{2 * (h % 2) - 1},none\n" for h in range(HINTS)]
        (cls.work / "nodes.csv").write_text("id,noise,hint,label\n" + "".join(rows))
        cls.prepare("with", "--edge-feature-columns", "kind,noise")
        cls.prepare("without")
        cls.prepare("without-kept", "--repeats", "keep")
        (cls.work / "amounts.csv").write_text("source,target,amount\n" + "".join(
            f"{s},{d},{2 * classes[d] + draw.gauss(0, 1):.3f}\n" for s, d, _ in edges))
        cls.prepare("amounts", "--edge-feature-columns", "amount", edges="amounts.csv")

    @classmethod
    def prepare(cls, name, *options, expect=0, edges="edges.csv"):
        return PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / edges, "--nodes", cls.work / "nodes.csv",
                            "--label", "label", "--unlabelled", "none", "--split", "0.6,0.2,0.2", "--symmetric", "no",
                            "--out", cls.work / name, *options, expect=expect)

    def parameters(self, run):
        """What the header of a run's weights says of each."""
        data = (self.work / run / "checkpoints/latest/model.safetensors").read_bytes()
        return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])

    def logits(self, name):
        return (self.work / name / "logits.npy").read_bytes()

    def test_what_they_alone_tell_is_learned_with_them(self):
        for model in ("gine", "gatv2", "transformer", "gat"):
            said = self.train("with", f"with-{model}", "--model", model).stderr
            self.assert_told_once(said, f"features of edges: 2, which {model} reads")
            self.assertGreater(self.accuracy(f"with-{model}"), 0.95, model)
        for model in ("gatv2", "gcn"):
            said = self.train("with", f"none-{model}", "--model", model, "--edge-features",
                              "none" if model == "gatv2" else "auto").stderr
            self.assert_told_once(said, "features of edges: 2, which are not read")
            self.assertLess(abs(self.accuracy(f"none-{model}") - 0.5), 0.12, model)

    def test_sage_learns_what_edges_tell_by_themselves(self):
        """Every edge's amount says something of the node that it leads to, and nothing else does."""
        for name, least, options in (("mean", 0.95, []), ("max", 0.85, ["--aggr", "max"]),  # largest ones differ less
                                     ("norm", 0.95, ["--norm", "layer", "--residual"])):
            said = self.train("amounts", f"amounts-{name}", "--model", "sage", *options).stderr
            self.assert_told_once(said, "features of edges: 1, which sage reads")
            self.assertGreater(self.accuracy(f"amounts-{name}"), least, name)
        self.train("amounts", "amounts-none", "--model", "sage", "--edge-features", "none")
        self.assertLess(abs(self.accuracy("amounts-none") - 0.5), 0.12)
        weights = self.parameters("amounts-mean")
        self.assertEqual(weights["convs.0.lin_edge.weight"]["shape"], [16, 1])
        self.assertNotIn("convs.0.lin_edge.weight", self.parameters("amounts-none"))

    def test_a_run_of_sage_that_read_none_goes_on_without(self):
        """One that was begun before sage read them, and one on data without."""
        self.train("with", "undisturbed", "--model", "sage", "--edge-features", "none", "--epochs", 4)
        self.train("with", "older", "--model", "sage", "--edge-features", "none", "--epochs", 2)
        config = self.work / "older/config.toml"
        config.write_text(re.sub('edge-features = "none"', 'edge-features = "auto"', config.read_text()))
        self.infer("older", "older-predicted", "--nodes", "all")
        PROGRAMS.run("salient-train", "--resume", self.work / "older", "--epochs", 4, expect=0)
        self.assertEqual(self.weights("undisturbed"), self.weights("older"))
        self.train("without", "elsewhere", "--model", "sage", "--epochs", 1)
        for data in ("with", "without-kept"):
            self.infer("elsewhere", f"elsewhere-{data}", "--dataset", self.work / data, "--nodes", "all")
        self.assertEqual(self.logits("elsewhere-with"), self.logits("elsewhere-without-kept"))

    def test_runs_without_them_are_those_of_a_store_without(self):
        for data, options in (("with", ["--edge-features", "none"]), ("without-kept", [])):
            self.train(data, f"plain-{data}", "--model", "gatv2", "--epochs", 2, *options)
        self.assertEqual(self.losses("plain-with"), self.losses("plain-without-kept"))
        self.assertEqual(self.weights("plain-with"), self.weights("plain-without-kept"))

    def test_threads_and_ranks_change_nothing(self):
        for model in ("gatv2", "sage"):
            one, three, ranks = (f"{model}-{how}" for how in ("workers-1", "workers-3", "ranks-2"))
            for run, workers in ((one, 1), (three, 3)):
                self.train("with", run, "--model", model, "--epochs", 3, "--workers", workers)
            self.assertEqual(self.losses(one), self.losses(three))
            self.assertEqual(self.weights(one), self.weights(three))
            self.train("with", ranks, "--model", model, "--epochs", 3, "--global-batch-size", 40, ranks=2)
            for alone, two in zip(self.losses(one), self.losses(ranks), strict=True):
                self.assertAlmostEqual(alone, two, delta=1e-4)
            self.infer(one, f"{model}-alone", "--nodes", "all")
            self.infer(one, f"{model}-ranks", "--nodes", "all", ranks=2)
            self.assertEqual(self.logits(f"{model}-alone"), self.logits(f"{model}-ranks"))

    def test_exact_predictions_are_those_of_all_neighbours(self):
        for model in ("sage", "gine", "gatv2", "transformer", "gat"):
            self.train("with", f"exact-{model}", "--model", model, "--epochs", 1)
            self.infer(f"exact-{model}", f"{model}-exact", "--nodes", "all", "--exact")
            self.infer(f"exact-{model}", f"{model}-all", "--nodes", "all", "--fanout", "-1,-1")
            pairs = [npy.read(self.work / f"{model}-{how}" / "logits.npy").values
                     for how in ("exact", "all")]
            for one, other in zip(*pairs, strict=True):
                self.assertAlmostEqual(one, other, delta=2e-3, msg=model)

    def test_parts_of_a_data_set_share_them(self):
        self.prepare("parted", "--edge-feature-columns", "kind,noise")
        PROGRAMS.run("salient-prepare", "partition", self.work / "parted", "--parts", 2, expect=0)
        PROGRAMS.run("salient-prepare", "verify", self.work / "parted", expect=0)
        self.assertEqual(len(list((self.work / "parted").rglob("edge_features*.npy"))), 1)
        for features in ("host", "partitioned"):
            self.train("parted", f"features-{features}", "--model", "gine", "--epochs", 2, "--features", features,
                       "--global-batch-size", 40, ranks=2)
        self.assertEqual(self.losses("features-host"), self.losses("features-partitioned"))
        self.assertEqual(self.weights("features-host"), self.weights("features-partitioned"))

    def test_links_are_predicted_with_them(self):
        self.prepare("links", "--edge-feature-columns", "kind,noise", "--edge-split", "0.8,0.1,0.1")
        PROGRAMS.run("salient-prepare", "verify", self.work / "links", expect=0)
        for model, said in (("gatv2", "features of edges: 2, which gatv2 reads"), ("gcn", "2, which are not read"),
                            ("sage", "features of edges: 2, which sage reads")):
            done = self.train("links", f"links-{model}", "--task", "link", "--model", model, "--epochs", 2,
                              "--metric", "mrr", "--eval-negatives", 20)
            self.assert_told_once(done.stderr, said)
        self.assertNotEqual(self.losses("links-gatv2"), self.losses("links-gcn"))
        self.train("links", "links-workers", "--task", "link", "--model", "gatv2", "--epochs", 2, "--metric", "mrr",
                   "--eval-negatives", 20, "--workers", 3)
        self.assertEqual(self.losses("links-gatv2"), self.losses("links-workers"))

    def test_a_server_predicts_what_inference_does(self):
        self.train("with", "served", "--model", "gine", "--epochs", 2)
        with Server(PROGRAMS.folder, self.work / "served") as server:
            self.assertEqual(len(server.predict({"nodes": ["0", "1"]})), 2)
            new = {"new_nodes": [{"features": [0.5, 1], "neighbors": []}]}
            status, _, text = server.ask("POST", "/predict", json.dumps(new))
            self.assertEqual(status, 400, text)
            self.assertIn("reads features of edges, and new nodes have edges without any", text)
        (self.work / "new.csv").write_text("id,noise,hint\n90001,0.5,1\n")
        self.assert_one_error(self.infer("served", "refused", "--new-nodes", self.work / "new.csv", expect=2), 2,
                              "new nodes have edges without any")

    def test_a_resumed_run_is_the_undisturbed_one(self):
        self.train("with", "whole", "--model", "gine", "--epochs", 4)
        self.train("with", "part", "--model", "gine", "--epochs", 2)
        PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 4, expect=0)
        self.assertEqual(self.weights("whole"), self.weights("part"))

    def test_other_data_without_them_is_refused(self):
        self.train("with", "moved", "--model", "gatv2", "--epochs", 1)
        done = self.infer("moved", "refused", "--dataset", self.work / "without", "--nodes", "all", expect=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("features of edges", done.stderr)

    def test_the_store_says_what_it_has(self):
        said = PROGRAMS.run("salient-prepare", "describe", self.work / "with", expect=0).stdout
        self.assertIn("edge features   2", said)
        PROGRAMS.run("salient-prepare", "verify", self.work / "with", expect=0)
        self.assertFalse((self.work / "without" / "edge_features.npy").exists())

    def test_what_cannot_be_is_one_line(self):
        (self.work / "bad.csv").write_text("source,target,kind\n800,0,1\n801,1,many\n")
        for options, words in (
            (["--edge-feature-columns", "kind"], ["bad.csv", "line 3: 'many': the feature in column 2"]),
            (["--edge-feature-columns", "sort"], ["sort"]),
        ):
            self.assert_one_error(self.prepare("refused", *options, edges="bad.csv", expect=65), 65, *words)
        (self.work / "nan.csv").write_text("source,target,kind\n800,0,1\n801,1,nan\n")
        self.assert_one_error(self.prepare("refused", "--edge-feature-columns", "kind", edges="nan.csv", expect=65), 65,
                              "nan.csv", "line 3: 'nan': the feature in column 2")
        npy.write(self.work / "short.npy", (len(self.edges) - 1, 2), [0.5] * (2 * len(self.edges) - 2), "<f4")
        npy.write(self.work / "nan.npy", (len(self.edges), 2), [0.5] * 3 + [float("nan")] * (2 * len(self.edges) - 3),
                  "<f4")
        for file, words in (("short.npy", [f"short.npy: has {len(self.edges) - 1} rows, and", "a row for each"]),
                            ("nan.npy", ["nan.npy: row 1, column 1 is nan"])):
            self.assert_one_error(self.prepare("refused", "--edge-features", self.work / file, expect=65), 65, *words)
        for options, words in (
            (["--edge-feature-columns", "kind", "--edge-features", "e.npy"], ["--edge-features: instead of columns"]),
            (["--edge-feature-columns", "kind,kind"], ["--edge-feature-columns: different columns"]),
        ):
            self.assert_one_error(self.prepare("refused", *options, expect=2), 2, *words)
        for data, options, words in (
            ("without", ["--model", "gine"], ["without: gine reads the features of edges, and these have none"]),
            ("with", ["--model", "gine", "--edge-features", "none"], ["--edge-features: gine is gin with"]),
            ("with", ["--model", "gatv2", "--step", "resident"], ["--step"]),
        ):
            self.assert_one_error(self.train(data, "refused", *options, expect=2), 2, *words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
