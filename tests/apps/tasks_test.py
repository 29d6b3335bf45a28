#!/usr/bin/env python3
"""The tasks that tables ask for: values to be predicted, classes of few nodes, and the figures of both.

    tasks_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; about a minute on 2 cores

A planted graph: features are noise; "level" is 100 plus three times the sum of feature a over a node's in-neighbours,
and "own" a hundredth of its feature b, a fifth of it blank. "kind" is "rare" for the tenth of the nodes with the
highest levels, else "usual" or "other".
"""
import csv
import json
import math
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from serving import Server

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*QUIET, "--hidden", "32", "--fanout", "5,5", "--eval-fanout", "5,5", "--eval-batch-size", "300",
         "--lr", "0.01", "--dropout", "0", "--workers", "1", "--threads", "1"]
NODES, NEIGHBOURS = 2000, 5
USAGE, BAD_DATA = 2, 65


def plant(folder):
    """Writes edges.csv, nodes.csv, and level.npy, in which every value is there."""
    draw = random.Random(3)
    a, b = ([draw.gauss(0, 1) for _ in range(NODES)] for _ in range(2))
    neighbours = [draw.sample(range(NODES), NEIGHBOURS) for _ in range(NODES)]
    level = [100 + 3 * sum(a[u] for u in of) for of in neighbours]
    highest = sorted(level)[-NODES // 10]
    with open(folder / "edges.csv", "w") as out:
        out.write("from,to\n")
        out.writelines(f"n{u},n{v}\n" for v, of in enumerate(neighbours) for u in of)
    with open(folder / "nodes.csv", "w") as out:
        out.write("id,a,b,level,own,kind\n")
        for v in range(NODES):
            kind = "rare" if level[v] >= highest else ("usual", "other")[v % 2]
            own = "" if draw.random() < 0.2 else f"{b[v] / 100:.6f}"
            out.write(f"n{v},{a[v]:.5f},{b[v]:.5f},{level[v]:.4f},{own},{kind}\n")
    npy.write(folder / "level.npy", (NODES,), level, "<f4")
    npy.write(folder / "x.npy", (NODES, 2), [value for pair in zip(a, b) for value in pair], "<f4")
    with open(folder / "rows.csv", "w") as out:
        out.writelines(f"{u},{v}\n" for v, of in enumerate(neighbours) for u in of)


def figures(pairs):
    """RMSE, MAE and R2 of (known, predicted)."""
    mean = sum(known for known, _ in pairs) / len(pairs)
    squares = sum((p - k) ** 2 for k, p in pairs)
    return (math.sqrt(squares / len(pairs)), sum(abs(p - k) for k, p in pairs) / len(pairs),
            1 - squares / sum((k - mean) ** 2 for k, _ in pairs))


class Tasks(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plant(cls.work)
        cls.values = cls.prepare("values", "--target", "level,own", "--drop-columns", "kind").stdout
        cls.prepare("kinds", "--label", "kind", "--drop-columns", "level,own")
        cls.trained = cls.train("run", "--epochs", 12)

    @classmethod
    def prepare(cls, name, *args, expect=0):
        return PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / "edges.csv", "--nodes",
                            cls.work / "nodes.csv", "--symmetric", "no", "--split", ".6,.2,.2", "--out",
                            cls.work / name, *args, expect=expect)

    @classmethod
    def train(cls, name, *args, expect=0, dataset="values", ranks=0):
        return PROGRAMS.run("salient-train", "--dataset", cls.work / dataset, "--out", cls.work / name, *SMALL, *args,
                            ranks=ranks, expect=expect)

    def infer(self, name, *args, expect=0, run="run", ranks=0):
        return PROGRAMS.run("salient-infer", "--run", self.work / run, "--out", self.work / name, *QUIET, *args,
                            ranks=ranks, expect=expect)

    def table(self, name):
        with open(self.work / name / "predictions.csv") as file:
            return list(csv.DictReader(file))

    def report(self, name):
        return json.loads((self.work / name / "inference.json").read_text())

    # ---- values ----

    def test_a_store_says_which_values_it_has(self):
        self.assertIn("level: 2,000 values; of training nodes mean ", self.values)
        stored = json.loads((self.work / "values/dataset.json").read_text())
        self.assertEqual((stored["task"], stored["num_classes"]), ("regression", 2))
        labels = npy.read(self.work / "values/labels.npy")
        self.assertEqual((labels.dtype, labels.shape), ("<f4", (NODES, 2)))
        blanks = sum(math.isnan(value) for value in labels.values)
        with open(self.work / "nodes.csv") as file:
            self.assertEqual(blanks, sum(row["own"] == "" for row in csv.DictReader(file)))

    def test_a_model_that_sees_neighbours_learns_them(self):
        lines = self.trained.stdout.splitlines()
        best = max(self.metrics("run"), key=lambda row: row["valid_r2"])
        self.assertEqual(lines[0].split(" (epoch")[0], f"valid r2 {best['valid_r2']:.4f}, "
                         f"rmse {best['valid_rmse']:.5g}, mae {best['valid_mae']:.5g}")
        self.assertGreater(best["valid_r2"], 0.8)
        self.assertIsNone(best["train_accuracy"])
        self.assertIsNone(best["valid_accuracy"])
        result = json.loads((self.work / "run/run.json").read_text())["result"]
        self.assertEqual({name for name in result if name.startswith("test_")}, {"test_r2", "test_rmse", "test_mae"})
        self.assertGreater(result["test_r2"], 0.8)
        self.assertIn("valid_r2", (self.work / "run/report.html").read_text())
        self.assertFalse((self.work / "run/confusion.json").exists())

    def test_predictions_are_in_the_unit_of_the_table(self):
        for name, more in (("sampled", []), ("exact", ["--exact"])):
            self.infer(name, "--nodes", "all", "--format", "csv", *more)
            rows = self.table(name)
            self.assertEqual(list(rows[0]), ["node", "id", "level", "level_predicted", "own", "own_predicted"])
            split = npy.read(self.work / "values/test.npy").values
            by_target = []
            for target in ("level", "own"):
                pairs = [(float(rows[v][target]), float(rows[v][f"{target}_predicted"])) for v in split
                         if rows[v][target]]
                by_target.append(figures(pairs))
            found = self.report(name)["splits"]["test"]
            for place, figure in enumerate(("rmse", "mae", "r2")):
                mean = sum(of[place] for of in by_target) / 2
                self.assertAlmostEqual(found[figure], mean, delta=1e-5 * max(1, abs(mean)))
            self.assertGreater(by_target[0][2], 0.8, "level")
            self.assertNotIn("accuracy", found)
        # the same figures as in training, of the best epoch's model
        best = max(self.metrics("run"), key=lambda row: row["valid_r2"])
        self.assertAlmostEqual(self.report("sampled")["splits"]["valid"]["rmse"], best["valid_rmse"], places=6)

    def test_nodes_by_their_ids_and_arrays(self):
        self.infer("two", "--nodes", "n7,n3")
        values = npy.read(self.work / "two/predictions.npy")
        self.assertEqual((values.dtype, values.shape), ("<f4", (2, 2)))
        self.assertFalse((self.work / "two/logits.npy").exists())
        self.assertTrue(all(80 < row[0] < 120 and abs(row[1]) < 0.1 for row in npy.rows(values)), values)

    def test_a_server_answers_with_values_by_name(self):
        self.infer("served", "--nodes", "n7,n3")
        expected = npy.rows(npy.read(self.work / "served/predictions.npy"))
        with Server(PROGRAMS.folder, self.work / "run") as server:
            answers = server.predict({"nodes": ["n7", "n3"]})
            for answer, (level, own) in zip(answers, expected, strict=True):
                self.assertEqual(set(answer["values"]), {"level", "own"})
                self.assertAlmostEqual(answer["values"]["level"], level, places=3)
                self.assertAlmostEqual(answer["values"]["own"], own, places=5)
            [new] = server.predict({"new_nodes": [{"features": [0, 0], "neighbors": ["n1", "n2"]}]})
            self.assertTrue(50 < new["values"]["level"] < 150, new)
            model = json.loads(server.ask("GET", "/v1/model")[2])
            self.assertEqual((model["task"], model["targets"]), ("regression", {"count": 2, "names": ["level", "own"]}))
            for form in ({"top_k": 1}, {"probabilities": True}):
                status, _, text = server.ask("POST", "/predict", json.dumps({"nodes": ["n7"], **form}))
                self.assertEqual(status, 400)
                self.assertIn("predicts values", text)

    def test_losses_do_not_depend_on_the_number_of_ranks(self):
        for loss in ("mae", "huber"):
            for name, ranks in (("alone", 0), ("two", 2)):
                self.train(f"{loss}-{name}", "--epochs", 2, "--global-batch-size", 128, "--loss", loss, ranks=ranks)
            for one, two in zip(self.metrics(f"{loss}-alone"), self.metrics(f"{loss}-two"), strict=True):
                self.assertAlmostEqual(one["loss"], two["loss"], delta=1e-4)
                self.assertAlmostEqual(one["valid_rmse"], two["valid_rmse"], delta=1e-3)
        self.assertNotEqual(self.metrics("mae-alone")[0]["loss"], self.metrics("huber-alone")[0]["loss"])

    def test_a_resumed_run_has_the_same_bits(self):
        self.train("whole", "--epochs", 3)
        self.train("part", "--epochs", 2)
        PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 3, expect=0)
        self.assertEqual(self.weights("whole"), self.weights("part"))
        self.assertEqual([row["valid_r2"] for row in self.metrics("whole")],
                         [row["valid_r2"] for row in self.metrics("part")])

    def test_the_best_epoch_is_that_of_the_smallest_error(self):
        self.train("by-rmse", "--epochs", 5, "--metric", "rmse", "--lr", "0.3")
        rows = self.metrics("by-rmse")
        best = min(rows, key=lambda row: row["valid_rmse"])
        result = json.loads((self.work / "by-rmse/run.json").read_text())["result"]
        self.assertEqual((result["best_epoch"], result["valid_rmse"]), (best["epoch"], best["valid_rmse"]))

    def test_values_of_arrays(self):
        PROGRAMS.run("salient-prepare", "edges", "--edges", self.work / "rows.csv", "--features", self.work / "x.npy",
                     "--labels", self.work / "level.npy", "--target", "all", "--symmetric", "no", "--split",
                     ".6,.2,.2", "--out", self.work / "arrays", expect=0)
        self.train("of-arrays", "--epochs", 8, dataset="arrays", expect=0)
        self.assertGreater(self.metrics("of-arrays")[-1]["valid_r2"], 0.8)
        self.infer("from-arrays", "--nodes", "test", "--format", "csv", run="of-arrays")
        self.assertEqual(list(self.table("from-arrays")[0]), ["node", "target", "target_predicted"])

    def test_other_data_have_the_runs_targets_and_unit(self):
        self.prepare("turned", "--target", "own,level", "--features-as", self.work / "values")
        done = self.infer("on-turned", "--nodes", "n7,n3", "--dataset", self.work / "turned")
        self.assertIn("has its targets in another order, or others: they are compared by name", done.stderr)
        self.infer("on-own", "--nodes", "n7,n3")
        self.assertEqual(npy.read(self.work / "on-turned/predictions.npy").values,
                         npy.read(self.work / "on-own/predictions.npy").values)
        self.assertAlmostEqual(self.report("on-turned")["rmse"], self.report("on-own")["rmse"], places=6)

    # ---- classes ----

    def test_weighted_losses_do_not_depend_on_the_number_of_ranks(self):
        (self.work / "weights.csv").write_text("class,weight\nrare,9\n2,0.5\n")
        for weights in ("balanced", self.work / "weights.csv"):
            name = pathlib.Path(weights).stem
            for ranks in (0, 2):
                done = self.train(f"{name}-{ranks}", "--epochs", 2, "--global-batch-size", 128, "--class-weights",
                                  weights, dataset="kinds", ranks=ranks)
            self.assertIn("class weights: 'other' ", done.stderr)
            for one, two in zip(self.metrics(f"{name}-0"), self.metrics(f"{name}-2"), strict=True):
                self.assertAlmostEqual(one["loss"], two["loss"], delta=1e-5)
        resolved = json.loads((self.work / "weights-0/run.json").read_text())["resolved"]
        self.assertEqual(resolved["class_weights"], "1,9,0.5", "of other, rare, usual")

    def test_weights_of_one_are_none(self):
        (self.work / "ones.csv").write_text("rare,1\n")
        self.train("ones", "--epochs", 2, "--class-weights", self.work / "ones.csv", dataset="kinds")
        self.train("none", "--epochs", 2, dataset="kinds")
        for one, none in zip(self.metrics("ones"), self.metrics("none"), strict=True):
            self.assertAlmostEqual(one["loss"], none["loss"], delta=1e-6)

    def test_balanced_weights_find_more_of_a_rare_class(self):
        recall = {}
        for weights in ("none", "balanced"):
            self.train(f"recall-{weights}", "--epochs", 4, "--class-weights", weights, "--metric", "macro_f1",
                       dataset="kinds")
            self.infer(f"rare-{weights}", "--nodes", "all", "--format", "csv", run=f"recall-{weights}")
            rows = [row for row in self.table(f"rare-{weights}") if row["label_name"] == "rare"]
            recall[weights] = sum(row["class_name"] == "rare" for row in rows) / len(rows)
        self.assertGreater(recall["balanced"], recall["none"])

    def test_figures_of_classes_are_those_of_the_predictions(self):
        self.train("figures", "--epochs", 2, "--metric", "macro_f1", dataset="kinds")
        row = max(self.metrics("figures"), key=lambda row: row["valid_macro_f1"])
        done = self.infer("of-figures", "--nodes", "all", "--format", "csv", run="figures")
        rows, split = self.table("of-figures"), npy.read(self.work / "kinds/valid.npy").values
        pairs = [(rows[v]["label"], rows[v]["class"]) for v in split]
        known = {label for pair in pairs for label in pair}
        f1 = [2 * sum(a == b == k for a, b in pairs) / sum((a == k) + (b == k) for a, b in pairs) for k in known]
        recalls = [sum(a == b == k for a, b in pairs) / sum(a == k for a, _ in pairs)
                   for k in {a for a, _ in pairs}]
        found = self.report("of-figures")["splits"]["valid"]
        for name, value in (("macro_f1", sum(f1) / len(f1)), ("balanced_accuracy", sum(recalls) / len(recalls))):
            self.assertAlmostEqual(found[name], value, places=12)
            self.assertAlmostEqual(row[f"valid_{name}"], value, places=12)
        self.assertAlmostEqual(found["mcc"], row["valid_mcc"], places=12)
        self.assertIn(f"valid accuracy {found['accuracy']:.4f}, macro_f1 {found['macro_f1']:.4f}, ", done.stdout)

    # ---- misuse ----

    def test_what_does_not_fit_the_task_is_one_line(self):
        for dataset, options, words in (
                ("values", ["--class-weights", "balanced"], "class weights are for one class a node"),
                ("values", ["--metric", "accuracy"], "accuracy is no metric of values"),
                ("values", ["--label-smoothing", "0.1"], "label smoothing is for classes and labels"),
                ("values", ["--task", "multi-class"], "the task is to be multi-class, and values has values"),
                ("kinds", ["--task", "regression"], "the task is to be regression, and kinds has one class a node"),
                ("kinds", ["--loss", "mae"], "loss mae is of regression, and kinds has one class a node"),
                ("kinds", ["--metric", "r2"], "r2 is no metric of kinds")):
            with self.subTest(words):
                self.assert_one_error(self.train("refused", *options, dataset=dataset, expect=None), USAGE, words)
                self.assertFalse((self.work / "refused").exists())
        for options, words in ((["--target", "kind"], "line 2: column 'kind' is no number to predict"),
                               (["--target", "nothing"], "has no column 'nothing'"),
                               (["--label", "level"], "or words; --target takes numbers that are to be predicted")):
            with self.subTest(words):
                self.assert_one_error(self.prepare("refused", *options, expect=None), BAD_DATA, words)
        for option in (["--probabilities"], ["--top-k", "2"]):
            self.assert_one_error(self.infer("refused", *option, expect=None), USAGE, "the run predicts values")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
