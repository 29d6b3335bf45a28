#!/usr/bin/env python3
"""What prevents a good first model is warned of; the sets that our other tests train on have nothing of it.

    first_model_test.py BIN_DIRECTORY [DATA_DIRECTORY]       CPU; real sets where they are on this machine
"""
import os
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS = programs.Programs(sys.argv[1])
DATA = pathlib.Path(os.environ.get("SALIENT_TEST_DATA") or (sys.argv[2:] or ["."])[0]).resolve()
SHORT = [*programs.SMALL, "--epochs", "2"]
REAL = {"wordnet": (pathlib.Path("/usr/share/wordnet/data.noun"), ["wordnet"]),
        **{name: (DATA / name, ["ogb", "--raw", DATA / name]) for name in ("amazon-photo", "amazon-computers")},
        **{name: (DATA / f"{name}.npz", ["npz", "--file", DATA / f"{name}.npz"]) for name in ("tolokers",
                                                                                          "minesweeper")}}


class FirstModel(programs.ProgramTest):
    def prepared(self, name, *words):
        return PROGRAMS.run("salient-prepare", *words, "--out", self.work / name, expect=0)

    def trained(self, name, *more, dataset=None):
        done = PROGRAMS.run("salient-train", "--dataset", dataset or self.work / name, "--out",
                            self.work / f"run-{name}", *SHORT, *more, expect=0)
        return [line for line in done.stderr.splitlines() if "warning" in line]

    def plant_arrays(self, name, scales):
        """edges.csv, and arrays of features that say the class, times the scale of their column."""
        draw, folder, count = random.Random(1), self.work / name, 600
        folder.mkdir()
        classes = [v % 3 for v in range(count)]
        rows = [[(classes[v] + draw.gauss(0, 0.3)) * scale for scale in scales] for v in range(count)]
        npy.write(folder / "x.npy", (count, len(scales)), [value for row in rows for value in row], "<f4")
        npy.write(folder / "y.npy", (count,), classes, "<i4")
        edges = [(v, (v + 3 * draw.randrange(1, 9)) % count) for v in range(count)]
        (folder / "edges.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
        return ["edges", "--edges", folder / "edges.csv", "--features", folder / "x.npy", "--labels", folder / "y.npy",
                "--split", ".6,.2,.2", "--feature-dtype", "f32"]

    def test_sets_of_other_tests_have_nothing_to_warn_of(self):
        PROGRAMS.generate(self.work / "generated")
        self.assertEqual(self.trained("generated"), [])
        for dataset in ("synthetic:arxiv:0.02", "synthetic:products:0.002"):
            with self.subTest(dataset):
                self.assertEqual(self.trained(dataset.replace(":", "-"), dataset=dataset), [])
        self.prepared("even-store", *self.plant_arrays("even", (1, 2, 0.5)))
        self.assertEqual(self.trained("even-store"), [])
        for name, (needed, words) in REAL.items():
            if not needed.exists():
                continue
            with self.subTest(name):
                self.assertNotIn("--scale-features", self.prepared(name, *words).stderr)
                self.assertEqual(self.trained(name, "--batch-size", "256", "--epochs", "4", "--hidden", "64"), [])

    def test_arrays_of_unlike_scales_are_said_and_scaled_where_it_is_asked(self):
        words = self.plant_arrays("unlike", (1, 2, 4e4))
        said = self.prepared("wide", *words).stderr
        self.assert_told_once(said, r"warning: feature 2 varies by .*: the model will see little else; "
                                    r"--scale-features standard scales them$")
        [warning] = [line for line in self.trained("wide") if "varies by" in line]
        self.assertIn("--scale-features standard", warning)
        self.assertNotIn("warning", self.prepared("none", *words, "--scale-features", "none").stderr)
        self.assertNotIn("warning", self.prepared("scaled", *words, "--scale-features", "standard").stderr)
        self.assertEqual(self.trained("scaled"), [])
        described = PROGRAMS.run("salient-infer", "--run", self.work / "run-scaled", "--nodes", "all", "--dataset",
                                 self.work / "wide", "--device", "cpu", "--out", self.work / "p")
        self.assert_one_error(described, 65, "coded in another way than the run's", "--features-as")
        self.prepared("like", *words, "--features-as", self.work / "scaled")
        PROGRAMS.run("salient-infer", "--run", self.work / "run-scaled", "--nodes", "all", "--dataset",
                     self.work / "like", "--device", "cpu", "--out", self.work / "p", expect=0)

    def test_all_columns_far_apart_are_said_too(self):
        said = self.prepared("far-store", *self.plant_arrays("far", (1e3, 2e3, 4e3))).stderr
        self.assert_told_once(said, r"warning: most features vary by .* or more: .*; --scale-features standard")

    def test_a_size_of_batches_with_few_steps_is_said_with_a_better_one(self):
        self.prepared("few-store", *self.plant_arrays("few", (1, 1)))
        [said] = self.trained("few-store", "--batch-size", "300")
        self.assertIn("an epoch has 2 steps, few to learn from; --batch-size 32 makes 12", said)

    def test_labels_that_are_numbers_name_the_option_that_takes_them(self):
        words = self.plant_arrays("values", (1, 1))
        npy.write(self.work / "values/y.npy", (600,), [v + 0.5 for v in range(600)], "<f4")
        refused = PROGRAMS.run("salient-prepare", *words, "--out", self.work / "refused")
        self.assert_one_error(refused, 65, "node 0 has label 0.5", "--target takes numbers that are to be predicted")
        self.prepared("values-store", *words, "--target", "all")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
