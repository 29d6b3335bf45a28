#!/usr/bin/env python3
"""Several labels a node, from arrays to predictions: a planted graph whose labels only its edges tell.

    multi_label_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       CPU; about a minute on 2 cores

A node's features are noise. It has label t if feature t is above 0 in the mean over its in-neighbours: a model that
sees neighbours can know all labels, one that sees the node alone none. A fifth of the labels are not known.
"""
import csv
import json
import math
import pathlib
import random
import re
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*QUIET, "--hidden", "32", "--fanout", "5,5", "--eval-fanout", "5,5", "--batch-size", "100",
         "--eval-batch-size", "300", "--lr", "0.01", "--dropout", "0", "--workers", "1"]
NODES, FEATURES, LABELS, NEIGHBOURS = 3000, 6, 3, 5


def plant(folder):
    """Writes edges.csv, none.csv (as good as no edge), x.npy, y.npy and full.npy, in which every label is there."""
    draw = random.Random(3)
    x = [[draw.gauss(0, 1) for _ in range(FEATURES)] for _ in range(NODES)]
    lines, labels = [], []
    for node in range(NODES):
        neighbours = draw.sample(range(NODES), NEIGHBOURS)
        lines += [f"{neighbour},{node}" for neighbour in neighbours]
        for t in range(LABELS):
            holds = sum(x[neighbour][t] for neighbour in neighbours) > 0
            labels.append(-1 if draw.random() < 0.2 and t != node % LABELS else int(holds))
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    (folder / "none.csv").write_text("0,0\n")
    npy.write(folder / "x.npy", (NODES, FEATURES), [value for row in x for value in row], "<f4")
    npy.write(folder / "y.npy", (NODES, LABELS), labels, "|i1")
    npy.write(folder / "full.npy", (NODES, LABELS), [1] * len(labels), "|i1")
    return labels


def roc_auc(scores, labels):
    """The share of all pairs that the labelled one wins, a tie counting half."""
    scored = list(zip(scores, labels, strict=True))
    pairs = [(a, b) for a, held in scored if held == 1 for b, other in scored if other == 0]
    return sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)


class MultiLabel(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.labels = plant(cls.work)
        cls.made = cls.prepare("planted", "edges.csv", "y.npy")
        cls.trained = cls.train("run", "--epochs", 20)

    @classmethod
    def prepare(cls, name, edges, labels):
        return PROGRAMS.run("salient-prepare", "edges", "--edges", cls.work / edges, "--symmetric", "no", "--features",
                            cls.work / "x.npy", "--labels", cls.work / labels, "--split", "0.6,0.2,0.2",
                            "--out", cls.work / name, expect=0).stdout

    @classmethod
    def train(cls, name, *args, expect=0, dataset="planted", ranks=0):
        return PROGRAMS.run("salient-train", "--dataset", cls.work / dataset, "--out", cls.work / name, *SMALL, *args,
                            ranks=ranks, expect=expect)

    def infer(self, name, *args, expect=0, ranks=0):
        return PROGRAMS.run("salient-infer", "--run", self.work / "run", "--out", self.work / name, *QUIET, *args,
                            ranks=ranks, expect=expect)

    def losses(self, name):
        return [(m["loss"], m["train_accuracy"], m["valid_rocauc"], m["valid_f1"]) for m in self.metrics(name)]

    def known(self, nodes):
        return [self.labels[v * LABELS + t] for v in nodes for t in range(LABELS)]

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, result.stderr)
        for word in words:
            self.assertIn(word, errors[0])

    def test_the_store_says_what_it_holds(self):
        share = 100 * sum(label >= 0 for label in self.labels) / len(self.labels)
        for text in (self.made, PROGRAMS.run("salient-prepare", "describe", self.work / "planted").stdout):
            self.assertRegex(text, r"labels +3 a node, each of 1,\d\d\d to 1,\d\d\d nodes; "
                                   rf"{share:.1f} % known; 0 nodes unlabelled")
        self.assertEqual(PROGRAMS.run("salient-prepare", "verify", self.work / "planted").returncode, 0)
        stored = npy.read(self.work / "planted/labels.npy")
        self.assertEqual((stored.dtype, stored.shape, list(stored.values)), ("|i1", (NODES, LABELS), self.labels))

    def test_it_learns_what_features_alone_do_not_tell(self):
        lines = self.trained.stdout.splitlines()
        best = max(m["valid_rocauc"] for m in self.metrics("run"))
        self.assertRegex(lines[0], rf"^valid rocauc {best:.4f} \(epoch \d+\)$")
        test = float(re.match(r"^test rocauc (0\.\d{4})$", lines[1]).group(1))
        self.assertGreater(test, 0.95)
        self.assertIn("3 labels a node", self.trained.stderr)
        self.assertRegex(self.trained.stderr, r"epoch 1: loss 0\.\d+, train accuracy 0\.\d+, valid rocauc 0\.\d+, "
                                              r"\d+\.\d\d s")
        self.prepare("alone", "none.csv", "y.npy")
        self.train("alone-run", "--epochs", 10, dataset="alone")
        self.assertLess(max(m["valid_rocauc"] for m in self.metrics("alone-run")), 0.6)

    def test_the_loss_is_the_mean_over_known_labels(self):
        """Weights that do not move: their loss on all training nodes, from salient-infer's logits."""
        self.train("still", "--epochs", 1, "--lr", "1e-12")
        result = PROGRAMS.run("salient-infer", "--run", self.work / "still", "--out", self.work / "still-out", *QUIET,
                              "--nodes", "train", "--exact")
        self.assertEqual(result.returncode, 0, result.stderr)
        z = npy.read(self.work / "still-out/logits.npy").values
        y = self.known(npy.read(self.work / "still-out/ids.npy").values)
        terms = [math.log1p(math.exp(-a if b else a)) for a, b in zip(z, y, strict=True) if b >= 0]
        metrics = self.metrics("still")[0]
        self.assertAlmostEqual(metrics["loss"], sum(terms) / len(terms), delta=1e-5)
        right = sum((a > 0) == (b == 1) for a, b in zip(z, y, strict=True) if b >= 0)
        self.assertAlmostEqual(metrics["train_accuracy"], right / len(terms), delta=2e-4)

    def test_its_logits_are_not_read_as_those_of_classes(self):
        of_classes = self.work / "of-classes"
        made = PROGRAMS.run("salient-prepare", "synthetic", "--nodes", 500, "--features", FEATURES, "--classes", LABELS,
                            "--out", of_classes)
        self.assertEqual(made.returncode, 0, made.stderr)
        result = PROGRAMS.run("salient-infer", "--run", self.work / "run", "--dataset", of_classes, "--nodes", "all",
                              "--out", self.work / "other-out", *QUIET)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("one class a node, which are not compared with the labels that the run predicts", result.stderr)
        self.assertNotIn("accuracy", result.stdout)
        predictions = npy.read(self.work / "other-out/predictions.npy")
        self.assertEqual(tuple(predictions.shape), (500, LABELS), "labels of the run, not a class")

    def test_what_a_run_leaves_behind(self):
        self.assertFalse((self.work / "run/confusion.json").exists())
        run = json.loads((self.work / "run/run.json").read_text())
        self.assertEqual((run["dataset"]["task"], run["dataset"]["labels"]), ("multi-label", 3))
        self.assertIn("valid_rocauc", run["result"])
        self.assertIn("several labels, so there is no confusion matrix", (self.work / "run/report.html").read_text())

    def test_scores_are_those_of_the_written_logits(self):
        result = self.infer("valid", "--nodes", "valid", "--checkpoint", "latest")
        ids, logits, predictions = (npy.read(self.work / f"valid/{name}.npy") for name in ("ids", "logits",
                                                                                           "predictions"))
        self.assertEqual((predictions.dtype, predictions.shape), ("|i1", (600, LABELS)))
        self.assertEqual(list(predictions.values), [int(z > 0) for z in logits.values])
        y = self.known(ids.values)
        last = self.metrics("run")[-1]
        mean = sum(roc_auc(list(logits.values)[t::LABELS], y[t::LABELS]) for t in range(LABELS)) / LABELS
        self.assertAlmostEqual(last["valid_rocauc"], mean, places=12)
        pairs = [(p, label) for p, label in zip(predictions.values, y, strict=True) if label >= 0]
        f1 = 2 * sum(p == label == 1 for p,
                     label in pairs) / (sum(p for p, _ in pairs) + sum(label for _, label in pairs))
        self.assertAlmostEqual(last["valid_f1"], f1, places=12)
        accuracy = sum(p == label for p, label in pairs) / len(pairs)
        self.assertAlmostEqual(last["valid_accuracy"], accuracy, places=12)
        self.assertIn(f"rocauc {mean:.4f}, f1 {f1:.4f}, accuracy {accuracy:.4f}, average_precision ", result.stdout)
        self.assertIn(f" ({len(pairs)} known labels of 600 nodes)", result.stdout)
        report = json.loads((self.work / "valid/inference.json").read_text())
        self.assertEqual((report["known_labels"], report["f1"]), (len(pairs), last["valid_f1"]))
        self.assertAlmostEqual(report["rocauc"], mean, places=12)

    def test_a_table_for_people(self):
        self.infer("arrays")
        self.infer("table", "--format", "csv", "--top-k", 2)
        logits = npy.rows(npy.read(self.work / "arrays/logits.npy"))
        with open(self.work / "table/predictions.csv") as file:
            table = list(csv.DictReader(file))
        for row, z in zip(table, logits, strict=True):
            y = self.known([int(row["node"])])
            self.assertEqual(row["labels"], " ".join(str(t) for t in range(LABELS) if y[t] == 1))
            self.assertEqual(row["predicted"], " ".join(str(t) for t in range(LABELS) if z[t] > 0))
            order = sorted(range(LABELS), key=lambda t: -z[t])
            self.assertEqual([int(row["label_1"]), int(row["label_2"])], order[:2])
            self.assertAlmostEqual(float(row["probability_1"]), 1 / (1 + math.exp(-z[order[0]])), delta=1e-4)
        self.assert_refused(self.infer("never", "--top-k", 2, expect=2), 2, "--format csv")
        self.assert_refused(self.infer("never", "--top-k", 4, "--format", "csv", expect=2), 2, "3 labels")

    def test_other_metrics_and_options(self):
        lines = self.train("f1", "--epochs", 2, "--metric", "f1", "--label-smoothing", "0.1").stdout.splitlines()
        best = max(m["valid_f1"] for m in self.metrics("f1"))
        self.assertRegex(lines[0], rf"^valid f1 {best:.4f} \(epoch \d\)$")
        self.assertRegex(lines[1], r"^test f1 0\.\d{4}$")
        self.assertIsNone(self.metrics("f1")[0]["valid_rocauc"])
        self.prepare("full", "edges.csv", "full.npy")
        self.assert_refused(self.train("no-auc", expect=65, dataset="full"), 65, "all of one class in every label",
                            "--metric accuracy")
        said = self.train("accuracy", "--metric", "accuracy", "--epochs", 2, dataset="full").stdout
        self.assertTrue(said.startswith("valid accuracy"), said)
        made = PROGRAMS.run("salient-prepare", "synthetic", "--nodes", 300, "--mean-degree", 4, "--features", 4,
                            "--classes", 2, "--out", self.work / "classes")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assert_refused(self.train("no-f1", "--metric", "f1", expect=2, dataset="classes"), 2, "F1",
                            "one class a node", "--metric accuracy")

    def test_resume_continues_with_the_same_bits(self):
        options = ["--dropout", "0.3", "--label-smoothing", "0.1"]
        self.train("whole", "--epochs", 3, *options)
        self.train("part", "--epochs", 1, *options)
        resumed = PROGRAMS.run("salient-train", "--resume", self.work / "part", "--epochs", 3)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(self.losses("whole"), self.losses("part"))

    def test_ctrl_c_inside_an_epoch_resumes_to_the_same_sums(self):
        options = ["--epochs", "3", "--batch-size", "4"]
        job = self.start(PROGRAMS.command("salient-train", "--dataset", self.work / "planted", "--out",
                                          self.work / "stopped", *SMALL, *options))
        job.wait_for_line("epoch 1:")
        job.signal(signal.SIGINT)
        self.finish(job, 130)
        resumed = PROGRAMS.run("salient-train", "--resume", self.work / "stopped")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.train("unstopped", *options)
        for a, b in zip(self.losses("stopped"), self.losses("unstopped"), strict=True):
            for found, expected in zip(a, b, strict=True):  # sums of parts round differently
                self.assertAlmostEqual(found, expected, places=12)

    def test_any_number_of_ranks_trains_and_scores_the_same(self):
        if not PROGRAMS.launch:
            self.skipTest("no MPI")
        options = ["--global-batch-size", 250, "--epochs", 4, "--dropout", "0.5", "--threads", 1]
        for ranks in (0, 2, 4):
            self.train(f"ranks-{ranks}", *options, ranks=ranks)
        for ranks in (2, 4):
            for a, b in zip(self.metrics("ranks-0"), self.metrics(f"ranks-{ranks}"), strict=True):
                self.assertAlmostEqual(a["loss"], b["loss"], delta=1e-5 * a["loss"])
                self.assertAlmostEqual(a["valid_rocauc"], b["valid_rocauc"], delta=1e-4)
        for ranks in (0, 2):  # weights that do not move have the same scores
            self.train(f"still-{ranks}", *options, "--epochs", 1, "--lr", "1e-12", ranks=ranks)
        a, b = (self.metrics(f"still-{ranks}")[0] for ranks in (0, 2))
        self.assertAlmostEqual(a["valid_rocauc"], b["valid_rocauc"], places=5)
        self.assertEqual(a["valid_f1"], b["valid_f1"])
        self.infer("one", "--nodes", "all")
        self.infer("two", "--nodes", "all", ranks=2)
        for name in ("predictions.npy", "logits.npy"):
            self.assertEqual((self.work / "one" / name).read_bytes(), (self.work / "two" / name).read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
