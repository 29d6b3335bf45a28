#!/usr/bin/env python3
"""Bags of words kept sparse: the store, and every model trained and applied on it beside the same set stored dense.

    sparse_features_test.py BIN_DIRECTORY       CPU; a minute on 2 cores
"""
import array
import json
import pathlib
import shutil
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
import word_bags

run = programs.Programs(sys.argv.pop(1)).run
NODES, COLUMNS, VALUES = 400, 1200, 12
MODELS = {
    "sage": [], "gat": ["--heads", 2], "gin": [], "sage-ri": [], "gcn": [], "gatv2": ["--heads", 2],
    "transformer": ["--heads", 2],
    "sage, max": ["--aggr", "max"], "sage, all": ["--norm", "batch", "--residual", "--jk", "cat"],
}
QUIET = [*programs.QUIET, "--log-level", "warning", "--workers", 1, "--threads", 2]


class SparseFeatures(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = word_bags.parsed([str(cls.work), "--nodes", str(NODES), "--columns", str(COLUMNS), "--values",
                                    str(VALUES), "--classes", "3"])
        cls.rows = word_bags.write(cls.work, options)
        cls.prepare("sparse")
        cls.prepare("dense", "--feature-layout", "dense")

    @classmethod
    def prepare(cls, name, *more, features="x.npz", expected=0):
        result = run("salient-prepare", "edges", "--edges", cls.work / "edges.csv", "--features", cls.work / features,
                     "--labels", cls.work / "y.npy", "--split", "0.5,0.25,0.25", "--name", "bags", "--out",
                     cls.work / name, "--progress", "none", *more)
        assert result.returncode == expected, result.stderr
        return result

    def manifest(self, name):
        return json.loads((self.work / name / "dataset.json").read_text())

    def array(self, path, code):
        data = path.read_bytes()
        return array.array(code, data[10 + int.from_bytes(data[8:10], "little"):])

    def train(self, store, model, *more):
        out = self.work / f"run {store} {model}"
        shutil.rmtree(out, ignore_errors=True)
        result = run("salient-train", "--dataset", self.work / store, "--model", model.split(",")[0], *MODELS[model],
                     "--out", out, "--epochs", 2, "--hidden", 16, "--layers", 2, "--fanout", "4,4", "--batch-size", 40,
                     *QUIET, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual("makes the sparse rows of each batch dense" in result.stderr,
                         store == "sparse" and model == "sage, max", result.stderr)
        return out, [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]

    def logits(self, run_folder, store, *more):
        out = self.work / "predictions"
        shutil.rmtree(out, ignore_errors=True)
        result = run("salient-infer", "--run", run_folder, "--dataset", self.work / store, "--nodes", "all", "--out",
                     out, *QUIET, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return npy.read(out / "logits.npy").values

    def test_the_store_has_the_rows_and_no_more(self):
        self.assertEqual(self.manifest("sparse")["feature_layout"], "csr")
        self.assertNotIn("feature_layout", self.manifest("dense"))
        files = self.manifest("sparse")["files"]
        self.assertNotIn("features.npy", files)
        self.assertLess(sum(files[f"feature_{part}.npy"]["bytes"] for part in ("begin", "columns", "values")),
                        self.manifest("dense")["files"]["features.npy"]["bytes"] / 4)
        begin = self.array(self.work / "sparse/feature_begin.npy", "q")
        columns = self.array(self.work / "sparse/feature_columns.npy", "I")
        values = self.array(self.work / "sparse/feature_values.npy", "H")
        dense = self.array(self.work / "dense/features.npy", "H")
        for v, row in enumerate(self.rows):
            found = {columns[k]: values[k] for k in range(begin[v], begin[v + 1])}
            self.assertEqual({c: struct.unpack("<e", struct.pack("<H", bits))[0] for c, bits in found.items()}, row)
            self.assertEqual([found.get(c, 0) for c in range(COLUMNS)], list(dense[v * COLUMNS:(v + 1) * COLUMNS]))

    def test_any_features_may_be_asked_to_be_sparse(self):
        flat = [row.get(c, 0) for row in self.rows for c in range(COLUMNS)]
        npy.write(self.work / "x.npy", (NODES, COLUMNS), flat, "<f4")
        self.prepare("from array", "--feature-layout", "csr", features="x.npy")
        for name in ("feature_begin", "feature_columns", "feature_values"):
            self.assertEqual((self.work / "from array" / f"{name}.npy").read_bytes(),
                             (self.work / "sparse" / f"{name}.npy").read_bytes())
        self.prepare("array", features="x.npy")
        self.assertEqual((self.work / "array/features.npy").read_bytes(),
                         (self.work / "dense/features.npy").read_bytes())
        result = self.prepare("other", "--feature-layout", "ell", expected=2)
        self.assertIn("--feature-layout", result.stderr)

    def test_describe_and_verify_know_it(self):
        described = run("salient-prepare", "describe", self.work / "sparse")
        self.assertRegex(described.stdout, rf"features +{COLUMNS} x f16, 0.0 MB, sparse: 12.0 values a node, 1.00 %")
        self.assertEqual(run("salient-prepare", "verify", self.work / "sparse").returncode, 0)
        copy = self.work / "changed"
        shutil.copytree(self.work / "sparse", copy)
        data = bytearray((copy / "feature_values.npy").read_bytes())
        data[-1] ^= 1
        (copy / "feature_values.npy").write_bytes(data)
        for command in (("salient-prepare", "verify", copy), ("salient-train", "--dataset", copy, "--dry-run", *QUIET)):
            result = run(*command)
            self.assertEqual(result.returncode, 65)
            self.assertIn("feature_values.npy: XXH3 checksum", result.stderr)

    def test_memory_limits_hold(self):
        self.assertIn("peak memory", self.prepare("limited", "--memory-gb", 0.2).stdout)
        self.assertIn("needs", self.prepare("too limited", "--memory-gb", 0.013, expected=71).stderr)

    def test_losses_and_predictions_are_those_of_the_dense_set(self):
        for model in MODELS:
            with self.subTest(model=model):
                sparse, rows = self.train("sparse", model)
                _, expected = self.train("dense", model)
                for found, wanted in zip(rows, expected):
                    self.assertAlmostEqual(found["loss"] / wanted["loss"], 1, delta=1e-4)
                for how in (["--fanout", "4,4"], ["--exact"]):
                    # The run knows the sparse store by its fingerprint; the dense one has another.
                    on_sparse = self.logits(sparse, "sparse", *how)
                    on_dense = self.logits(sparse, "dense", *how)
                    scale = max(map(abs, on_dense))
                    self.assertLess(max(abs(a - b) for a, b in zip(on_sparse, on_dense)), 1e-5 * scale, how)


if __name__ == "__main__":
    unittest.main(verbosity=2)
