#!/usr/bin/env python3
"""Training and prediction by the times of edges and nodes: nothing of a seed's future decides.

    temporal_test.py BIN_DIRECTORY MPIEXEC FLAGS...       on a small graph, CPU; half a minute

Every node of a class has edges to hints, nodes whose feature says a class. Those before the node's time say its column
`before`, those after it its column `later`; so who sees the past alone knows the one and not the other.
"""
import json
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from serving import Server
from store_runs import StoreRuns

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
NODES, HINTS = 800, 40
EDGES = {"before": 3, "later": 5}  # of all together most are of the later's class
TRAIN = [*QUIET, "--hidden", 16, "--fanout", "8,4", "--eval-fanout", "8,8", "--lr", 0.01, "--batch-size", 40,
         "--epochs", 6, "--metric", "accuracy"]


class Temporal(StoreRuns):
    PROGRAMS, TRAIN = PROGRAMS, TRAIN

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        born = [draw.randrange(100, 1000) for _ in range(NODES)]
        classes = {column: [draw.randrange(2) for _ in range(NODES)] for column in ("before", "later")}
        edges = []
        for v in range(NODES):
            for column, days in (("before", (0, born[v])), ("later", (born[v] + 1, 1100))):
                for _ in range(EDGES[column]):
                    hint = NODES + 2 * draw.randrange(HINTS // 2) + classes[column][v]
                    edges.append((hint, v, draw.randrange(*days)))
        draw.shuffle(edges)
        (cls.work / "edges.csv").write_text("source,target,day\n" + "".join(f"{s},{d},{t}\n" for s, d, t in edges))
        rows = [f"{v},{draw.random():.3f},0,{born[v]},c{classes['before'][v]},c{classes['later'][v]}\n"
                for v in range(NODES)]
        rows += [f"{NODES + h},{draw.random():.3f},{2 * (h % 2) - 1},0,none,none\n" for h in range(HINTS)]
        (cls.work / "nodes.csv").write_text("id,noise,hint,born,before,later\n" + "".join(rows))
        for label, other in (("before", "later"), ("later", "before")):
            cls.prepare(label, "--label", label, "--drop-columns", other, "--unlabelled", "none", "--time-column",
                        "day", "--node-time-column", "born", "--split-by-time", "0.6,0.2,0.2")
        cls.prepare("no-edge-times", "--label", "later", "--unlabelled", "none", "--node-time-column", "born",
                    "--split", "0.6,0.2,0.2", "--drop-columns", "before")
        cls.prepare("no-node-times", "--label", "later", "--unlabelled", "none", "--time-column", "day",
                    "--split", "0.6,0.2,0.2", "--drop-columns", "before")

        cls.prepare("undated", "--label", "before", "--unlabelled", "none", "--time-column", "day", "--split",
                    "0.6,0.2,0.2", "--drop-columns", "later,born")

    @classmethod
    def prepare(cls, name, *options):
        PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / "edges.csv", "--nodes", cls.work / "nodes.csv",
                     "--out", cls.work / name, *options, expect=0)

    def logits(self, name):
        return (self.work / name / "logits.npy").read_bytes()

    def test_what_only_the_future_tells_is_chance(self):  # relbench#402: tasks that rows of the future answer
        said = self.train("later", "all-edges").stderr
        self.assert_told_once(said, "seeds see edges of all times, also those later than they; --time-rule lt")
        self.assertGreater(self.accuracy("all-edges"), 0.85, "the future tells the class")
        for name, rule in (("lt", ["lt"]), ("le", ["le"]), ("last", ["lt", "--time-strategy", "last"])):
            self.train("later", f"later-{name}", "--time-rule", *rule)
            self.assertLess(abs(self.accuracy(f"later-{name}") - 0.5), 0.12, "the past does not tell it")
            self.train("before", f"before-{name}", "--time-rule", *rule)
            self.assertGreater(self.accuracy(f"before-{name}"), 0.95, "the past tells this one")

    def test_a_run_keeps_its_rule(self):
        self.train("before", "kept", "--time-rule", "lt", "--epochs", 3)
        self.infer("kept", "as-run", "--nodes", "all")
        report = json.loads((self.work / "as-run" / "inference.json").read_text())
        self.assertEqual(report["neighbours"]["time_rule"], "lt")
        self.infer("kept", "given", "--nodes", "all", "--time-rule", "lt")
        self.infer("kept", "none", "--nodes", "all", "--time-rule", "none")
        self.infer("kept", "five-days", "--nodes", "all", "--time-window", 5)
        self.assertEqual(self.logits("as-run"), self.logits("given"))
        for other in ("none", "five-days"):
            self.assertNotEqual(self.logits("as-run"), self.logits(other))
        for rule in (["--exact"], ["--new-nodes", self.work / "nodes.csv"]):
            self.assert_one_error(self.infer("kept", "refused", *rule, expect=2), 2, rule[0], "--time-rule none")
        self.infer("kept", "exact", "--exact", "--time-rule", "none")
        with Server(PROGRAMS.folder, self.work / "kept") as server:
            self.assertEqual(len(server.predict({"nodes": ["0", "1"]})), 2)
            new = {"new_nodes": [{"features": [0.5, 1], "neighbors": []}]}
            status, _, text = server.ask("POST", "/predict", json.dumps(new))
            self.assertEqual(status, 400, text)
            self.assertIn("by the times of seeds, and new nodes have none", text)

    def predicted(self, name):
        return (self.work / name / "predictions.csv").read_text()

    def test_nodes_are_asked_for_at_a_time(self):
        self.train("before", "asked", "--time-rule", "lt", "--epochs", 3)
        self.infer("asked", "own", "--nodes", "all")
        for name, time in (("first", 100), ("middle", 500), ("date", "1970-01-01T00:08:20"), ("last", 1100)):
            self.infer("asked", name, "--nodes", "all", "--time", time)
        report = json.loads((self.work / "date" / "inference.json").read_text())
        self.assertEqual(report["neighbours"]["time"], 500)
        self.assertEqual(self.logits("middle"), self.logits("date"))
        self.assertEqual(len({self.logits(name) for name in ("own", "first", "middle", "last")}), 4)
        # Nodes of that time have it anyway; of a store without times of nodes every one is asked for at one.
        born = {line.split(",")[0]: int(line.split(",")[3])
                for line in (self.work / "nodes.csv").read_text().splitlines()[1:]}
        node, time = next((v, t) for v, t in born.items() if t > 500)
        for name, options in (("of-own", []), ("of-asked", ["--time", time])):
            self.infer("asked", name, "--nodes", node, *options)
        self.assertEqual(self.logits("of-own"), self.logits("of-asked"))
        other = ["--dataset", self.work / "undated", "--nodes", "0,1,2"]
        self.infer("asked", "other", *other, "--time", 500)
        self.infer("asked", "same", "--nodes", "0,1,2", "--time", 500)
        self.assertEqual(self.logits("other"), self.logits("same"))
        self.assert_one_error(self.infer("asked", "refused", *other, expect=2), 2, "has no times of nodes")
        self.assert_one_error(self.infer("asked", "refused", "--time", "soon", expect=2), 2, "--time", "soon")
        self.assert_one_error(self.infer("asked", "refused", "--time", 5, "--time-rule", "none", expect=2), 2,
                              "--time: the run's neighbours are of all times")
        self.infer("asked", "asked-by-ranks", "--nodes", "all", "--time", 500, ranks=2)
        self.assertEqual(self.logits("asked-by-ranks"), self.logits("middle"))

    def test_a_server_answers_as_of_the_time_of_a_request(self):
        self.train("before", "dated", "--time-rule", "lt", "--epochs", 3)
        nodes = [str(v) for v in range(20)]
        want = {}
        for time in (None, 300, 1100):
            given = [] if time is None else ["--time", time]
            self.infer("dated", f"at-{time}", "--nodes", ",".join(nodes), *given, "--format", "csv",
                       "--probabilities", "--fanout", "-1,-1")
            rows = [line.split(",") for line in self.predicted(f"at-{time}").splitlines()]
            want[time] = [float(row[rows[0].index("prob_c0")]) for row in rows[1:]]
        with Server(PROGRAMS.folder, self.work / "dated", "--fanout", "-1,-1") as server:
            for time in (300, None, 1100, "1970-01-01T00:05:00", None):
                body = {"nodes": nodes, "probabilities": "by_name"}
                if time is not None:
                    body["time"] = time
                got = [row["probabilities"]["c0"] for row in server.predict(body)]
                for a, b in zip(got, want[300 if isinstance(time, str) else time], strict=True):
                    self.assertAlmostEqual(a, b, delta=1e-5, msg=str(time))
            status, _, text = server.ask("POST", "/predict", json.dumps({"nodes": ["0"], "time": "soon"}))
            self.assertEqual((status, "must be a whole number, or a date" in text), (400, True), text)
        self.assertNotEqual(want[300], want[1100])
        self.train("before", "timeless", "--epochs", 1)
        with Server(PROGRAMS.folder, self.work / "timeless") as server:
            status, _, text = server.ask("POST", "/predict", json.dumps({"nodes": ["0"], "time": 5}))
            self.assertEqual((status, "neighbours are of all times" in text), (400, True), text)

    def test_trees_of_seeds_with_different_times_never_mix_also_in_evaluation(self):  # relgt#6, with hints in common
        self.train("before", "trees", "--time-rule", "lt", "--epochs", 2, "--eval-fanout", "-1,-1")
        found = {}
        for size in (1, 800):
            self.infer("trees", f"by-{size}", "--nodes", "all", "--batch-size", size)
            found[size] = npy.read(self.work / f"by-{size}" / "logits.npy").values
        for alone, together in zip(found[1], found[800], strict=True):
            self.assertAlmostEqual(alone, together, delta=1e-4)
        report = json.loads((self.work / "by-1" / "inference.json").read_text())
        self.assertAlmostEqual(report["splits"]["test"]["accuracy"], self.accuracy("trees"), delta=1e-9)

    def test_threads_and_ranks_change_nothing(self):
        rule = ["--time-rule", "lt", "--time-window", 400, "--epochs", 3]
        for workers in (1, 3):
            self.train("before", f"workers-{workers}", *rule, "--workers", workers)
        self.assertEqual(self.losses("workers-1"), self.losses("workers-3"))
        self.assertEqual(self.weights("workers-1"), self.weights("workers-3"))
        self.infer("workers-1", "alone", "--nodes", "all", "--workers", 1)
        self.infer("workers-1", "threads", "--nodes", "all", "--workers", 3)
        self.infer("workers-1", "ranks", "--nodes", "all", ranks=2)
        self.assertEqual(self.logits("alone"), self.logits("threads"))
        self.assertEqual(self.logits("alone"), self.logits("ranks"))
        self.train("before", "ranks-2", *rule, "--global-batch-size", 40, ranks=2)
        for one, two in zip(self.losses("workers-1"), self.losses("ranks-2"), strict=True):
            self.assertAlmostEqual(one, two, delta=1e-4)

    def test_a_resumed_run_is_the_undisturbed_one(self):
        rule = ["--time-rule", "le", "--time-strategy", "last"]
        self.train("before", "whole", *rule, "--epochs", 4)
        self.train("before", "part", *rule, "--epochs", 2)
        PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 4, expect=0)
        self.assertEqual(self.losses("whole"), self.losses("part"))
        self.assertEqual(self.weights("whole"), self.weights("part"))

    def test_what_cannot_be_is_one_line(self):
        rule = ["--time-rule", "lt"]
        for data, options, words in (
            ("no-edge-times", rule, ["neighbours are to be drawn by time, and no-edge-times has no times of edges"]),
            ("no-node-times", rule, ["neighbours are to be drawn by time, and no-node-times has no times of nodes"]),
            ("before", [*rule, "--time-window", 0], ["--time-window: at least 1, or all"]),
            ("before", ["--time-window", 5], ["are of a rule of times, lt or le, and there is none"]),
            ("before", [*rule, "--model", "gcn"], ["--time-rule: not with this gcn", "--gcn-norm row"]),
            ("before", [*rule, "--sampler", "device"], ["--sampler"]),
        ):
            self.assert_one_error(self.train(data, "refused", *options, expect=2), 2, *words)
        PROGRAMS.generate(self.work / "synthetic", nodes=200)
        self.assert_one_error(self.train("synthetic", "refused", *rule, expect=2), 2, "has no times of edges")

    def test_a_node_without_a_past_has_a_prediction(self):  # no edge of it is in the window
        self.train("before", "narrow", "--time-rule", "lt", "--time-window", 1, "--epochs", 1)
        self.infer("narrow", "predicted", "--nodes", "all")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
