#!/usr/bin/env python3
"""salient-infer as a user runs it: results, files, any number of ranks, and every kind of bad run.

    salient_infer_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]       on a small generated graph, CPU; under a minute
"""
import csv
import json
import math
import pathlib
import re
import shutil
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
from job import wait_until
from memory_limit import memory_limit

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
SMALL = [*programs.SMALL, "--batch-size", "200", "--eval-batch-size", "300", "--workers", "2"]
LIMIT_FILE_SIZE = """import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that write() fails as on a full disk
os.execv(sys.argv[1], sys.argv[1:])"""


class SalientInfer(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store, cls.run_dir = PROGRAMS.generate(cls.work / "graph"), cls.work / "run"
        cls.trained = PROGRAMS.run("salient-train", "--dataset", cls.store, "--out", cls.run_dir, *SMALL, "--epochs", 2,
                                   expect=0)

    def infer(self, name, *args, run=None, **how):
        out = [] if name is None else ["--out", self.work / name]
        return PROGRAMS.run("salient-infer", "--run", run or self.run_dir, *out, *QUIET, *args,
                            **{"expect": 0, **how})

    def assert_refused(self, code, *args, run=None, words=()):
        result = self.infer("never", *args, expect=code, run=run)
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, result.stderr)
        for word in words:
            self.assertIn(str(word), errors[0])
        self.assertFalse([p for p in self.work.iterdir() if p.name.startswith("never")])

    def arrays(self, name):
        return {p.stem: npy.read(p) for p in (self.work / name).glob("*.npy")}

    def report(self, name):
        return json.loads((self.work / name / "inference.json").read_text())

    def assert_same_files(self, a, b):
        names = {p.name for p in (self.work / a).iterdir()}
        self.assertEqual(names, {p.name for p in (self.work / b).iterdir()})
        for name in names - {"inference.json"}:  # it holds the time taken
            self.assertEqual((self.work / a / name).read_bytes(), (self.work / b / name).read_bytes(), name)

    # --- what comes out ---

    def test_files_have_the_documented_shapes_and_agree(self):
        result = self.infer("shapes", "--nodes", "valid")
        arrays, valid = self.arrays("shapes"), npy.read(self.store / "valid.npy")
        n = valid.shape[0]
        self.assertEqual({k: (a.dtype, a.shape) for k, a in arrays.items()},
                         {"ids": ("<i8", (n,)), "predictions": ("<i4", (n,)), "logits": ("<f4", (n, 5))})
        self.assertEqual(list(arrays["ids"].values), list(valid.values))
        for prediction, row in zip(arrays["predictions"].values, npy.rows(arrays["logits"]), strict=True):
            self.assertEqual(prediction, max(range(5), key=lambda c: (row[c], -c)))
        labels = npy.read(self.store / "labels.npy").values
        correct = sum(labels[v] == p for v, p in zip(arrays["ids"].values, arrays["predictions"].values))
        self.assertEqual(self.report("shapes")["accuracy"], correct / n)
        lines = result.stdout.splitlines()
        self.assertTrue(lines[-3].startswith(f"accuracy {correct / n:.4f}, macro_f1 "), lines)
        self.assertTrue(lines[-3].endswith(f" ({n} of {n} nodes have a label)"), lines)
        self.assertRegex(lines[-2], r"^inference seconds \d+\.\d\d \(\d+\.\d nodes/s\)$")
        self.assertEqual(lines[-1], f"output directory {self.work / 'shapes'}")

    def test_accuracy_is_that_of_the_evaluation_in_training(self):
        metrics = [json.loads(line) for line in (self.run_dir / "metrics.jsonl").read_text().splitlines()]
        for checkpoint, row in (("best", max(metrics, key=lambda m: m["valid_accuracy"])), ("latest", metrics[-1]),
                                ("epoch-0001", metrics[0])):
            name = f"as-{checkpoint}"
            self.infer(name, "--nodes", "valid", "--checkpoint", checkpoint, "--workers", 1)
            self.assertEqual(self.report(name)["accuracy"], row["valid_accuracy"])
        tested = re.search(r"^test accuracy (\S+)$", self.trained.stdout, re.M).group(1)
        said = self.infer(None).stdout
        self.assertIn(f"accuracy {tested}, ", said)
        folder = pathlib.Path(said.splitlines()[-1].removeprefix("output directory "))
        self.assertEqual(folder.parent, self.run_dir / "predictions")
        self.assertTrue((folder / "logits.npy").exists())

    def test_another_seed_draws_other_neighbourhoods(self):
        for seed in (1, 2):
            self.infer(f"seed-{seed}", "--seed", seed)
        first, second = (self.arrays(f"seed-{seed}")["logits"].values for seed in (1, 2))
        self.assertNotEqual(first, second)

    def test_any_number_of_ranks_and_workers_writes_the_same_bytes(self):
        options = ["--nodes", "all", "--embeddings", "1", "--batch-size", "300"]  # 14 batches, the last one short
        self.infer("alone", *options)
        self.infer("workers", *options, "--workers", 4, "--slots", 3)
        self.assert_same_files("alone", "workers")
        if not PROGRAMS.launch:
            self.skipTest("no MPI")
        for ranks in (2, 4):
            result = self.infer(f"ranks-{ranks}", *options, "--workers", 1, ranks=ranks)
            self.assert_same_files("alone", f"ranks-{ranks}")
            self.assertEqual(len(re.findall(r"^accuracy", result.stdout, re.M)), 1)
            self.assertEqual(self.report(f"ranks-{ranks}")["ranks"], ranks)

    def test_nodes_of_a_file_in_its_order(self):
        ids = [17, 3, 3999, 0]
        npy.write_ids(self.work / "ids.npy", ids, "<i4")
        self.infer("file", "--nodes", self.work / "ids.npy", "--fanout", "-1,-1")
        self.infer("everyone", "--nodes", "all", "--fanout", "-1,-1")
        self.assertEqual(list(self.arrays("file")["ids"].values), ids)
        every = npy.rows(self.arrays("everyone")["logits"])
        for node, row in zip(ids, npy.rows(self.arrays("file")["logits"]), strict=True):
            for a, b in zip(row, every[node]):
                self.assertAlmostEqual(a, b, delta=1e-4)

    def test_embeddings_are_the_layer_s_result(self):
        self.infer("first", "--embeddings", 1)
        self.infer("last", "--embeddings", 2)
        first, last = self.arrays("first"), self.arrays("last")
        self.assertEqual(first["embeddings"].shape, (first["ids"].shape[0], 16))
        self.assertGreaterEqual(min(first["embeddings"].values), 0)  # after a ReLU
        self.assertEqual(last["embeddings"].values, last["logits"].values)  # GraphSAGE has no head

    def test_the_best_k_classes(self):
        self.infer("top", "--top-k", 3)
        arrays = self.arrays("top")
        self.assertEqual(arrays["predictions"].shape, (arrays["ids"].shape[0], 3))
        for best, row in zip(npy.rows(arrays["predictions"]), npy.rows(arrays["logits"])):
            self.assertEqual(list(best), sorted(range(5), key=lambda c: -row[c])[:3])

    def test_a_table_for_people(self):
        self.infer("arrays")
        self.infer("table", "--format", "csv", "--top-k", 2)
        arrays, labels = self.arrays("arrays"), npy.read(self.store / "labels.npy").values
        with open(self.work / "table/predictions.csv") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([int(row["node"]) for row in table], list(arrays["ids"].values))
        for row, logits in zip(table, npy.rows(arrays["logits"]), strict=True):
            self.assertEqual(int(row["label"]), labels[int(row["node"])])
            order = sorted(range(5), key=lambda c: -logits[c])
            self.assertEqual([int(row["class_1"]), int(row["class_2"])], order[:2])
            probability = math.exp(logits[order[0]]) / sum(math.exp(x) for x in logits)
            self.assertAlmostEqual(float(row["probability_1"]), probability, delta=1e-4)
        self.assertEqual({p.name for p in (self.work / "table").iterdir()}, {"predictions.csv", "inference.json"})

    # --- exact ---

    def test_exact_equals_all_neighbours_in_every_hop(self):
        self.infer("sampled-all", "--nodes", "valid", "--fanout", "-1,-1", "--embeddings", 1)
        said = self.infer("exact", "--nodes", "valid", "--exact", "--embeddings", 1).stderr
        self.assertRegex(said, r"exact inference: layer 1 for \d+ nodes in (1 block|\d+ blocks), layer 2 for \d+ nodes")
        self.assertRegex(said, r"activations: \d+\.\d\d GB in host memory")
        expected, found = self.arrays("sampled-all"), self.arrays("exact")
        self.assertEqual(expected["ids"], found["ids"])
        for name in ("logits", "embeddings"):
            self.assertLess(max(abs(a - b) for a, b in zip(expected[name].values, found[name].values)), 1e-4)
        self.assertEqual(self.report("exact")["neighbours"], "all")
        self.assertEqual(self.report("exact")["accuracy"], self.report("sampled-all")["accuracy"])

    def test_exact_writes_the_same_bytes_wherever_and_on_any_number_of_ranks(self):
        options = ["--exact", "--block-mb", 1, "--top-k", 2]
        self.infer("exact-alone", *options)
        ways = {"memory": (), "file": ("--scratch", self.work)}
        for way, more in ways.items():
            self.infer(f"exact-{way}", *options, "--activations", way, *more, "--workers", 3)
            self.assert_same_files("exact-alone", f"exact-{way}")
        said = self.infer("exact-short", *options, "--memory-gb", "0.0001", "--activation-dtype", "f32").stderr
        self.assertIn("a mapped scratch file, f32", said)
        self.assert_same_files("exact-alone", "exact-short")
        said = self.infer("exact-f16", *options, "--memory-gb", "0.0001").stderr
        self.assertIn("a mapped scratch file, f16", said)
        for ours, theirs in zip(self.arrays("exact-f16")["logits"].values, self.arrays("exact-alone")["logits"].values):
            self.assertAlmostEqual(ours, theirs, delta=2e-3 * max(1, abs(theirs)))
        if not PROGRAMS.launch:
            self.skipTest("no MPI")
        for ranks in (2, 4):
            for way, more in ways.items():
                name = f"exact-{way}-{ranks}"
                self.infer(name, *options, "--activations", way, *more, "--workers", 1, ranks=ranks)
                self.assert_same_files("exact-alone", name)
            self.infer(f"exact-f16-{ranks}", *options, "--activation-dtype", "f16", ranks=ranks)
            self.assert_same_files("exact-f16", f"exact-f16-{ranks}")
        self.assertFalse([p for p in self.work.iterdir() if p.name.startswith("salient-infer-")])

    def test_exact_keeps_to_the_memory_of_its_control_group(self):
        big, run = self.work / "big", self.work / "run-wide"
        made = PROGRAMS.run("salient-prepare", "synthetic", "--nodes", 200_000, "--mean-degree", 6, "--features", 12,
                            "--classes", 5, "--out", big)
        self.assertEqual(made.returncode, 0, made.stderr)
        trained = PROGRAMS.run("salient-train", "--dataset", self.store, "--out", run, *SMALL, "--hidden", 256,
                               "--fanout", "3,3,3", "--eval-fanout", "3,3,3", "--epochs", 1)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        options = ["--exact", "--dataset", big, "--nodes", "all", "--block-mb", 8, "--workers", 1, "--threads", 2]
        self.infer("exact-free", *options, "--activation-dtype", "f16", run=run)
        with memory_limit(500_000_000) as launch:  # two layers in f32 alone: 0.41 GB
            if launch is None:
                self.skipTest("no control group can be made here")
            said = self.infer("exact-tight", *options, run=run, through=launch).stderr
        self.assertRegex(said, "activations: 0.20 GB in .*, f16")
        self.assert_same_files("exact-free", "exact-tight")

    # --- what is refused, and what is left behind ---

    def train(self, name, *args, expect=0):
        result = PROGRAMS.run("salient-train", *args, "--out", self.work / name, *SMALL, "--epochs", 1)
        self.assertEqual(result.returncode, expect, result.stderr)
        return self.work / name

    def test_a_gcn_begun_before_it_read_degrees_keeps_its_row_mean_and_says_so(self):
        run = self.train("gcn", "--dataset", self.store, "--model", "gcn", "--gcn-norm", "row")
        self.infer("gcn-said", "--exact", run=run)
        older = self.work / "gcn-older"
        shutil.copytree(run, older, symlinks=True)
        config = [line for line in (older / "config.toml").read_text().splitlines()
                  if not line.startswith(("gcn_norm", "gcn-norm", "gin_sum", "gin-sum"))]
        (older / "config.toml").write_text("\n".join(config) + "\n")
        self.assertIn("--gcn-norm row", self.infer("gcn-unsaid", "--exact", run=older).stderr)
        self.assert_same_files("gcn-said", "gcn-unsaid")
        resumed = PROGRAMS.run("salient-train", "--resume", older, "--epochs", 2, *QUIET)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertIn("--gcn-norm row", resumed.stderr)
        symmetric = self.train("gcn-symmetric", "--dataset", self.store, "--model", "gcn")
        self.assertNotIn("--gcn-norm", self.infer("gcn-new", "--exact", run=symmetric).stderr)

    def test_plain_sums_of_gin_are_warned_of_with_both_figures(self):
        run = self.train("gin", "--dataset", self.store, "--model", "gin", "--gin-sum", "plain")
        warning = self.infer("gin-exact", "--exact", run=run).stderr
        accuracy = re.search(r"accuracy (0\.\d{4}) with all, (0\.\d{4}) with those", warning)
        self.assertTrue(accuracy, warning)
        self.assertAlmostEqual(float(accuracy[1]), self.report("gin-exact")["accuracy"], places=4)
        self.assertIn("not 8,8", self.infer("gin-8", run=run).stderr)
        self.infer("gin-5", "--fanout", "5,4", run=run)
        self.assertAlmostEqual(float(accuracy[2]), self.report("gin-5")["accuracy"], places=4)
        scaled = self.train("gin-scaled", "--dataset", self.store, "--model", "gin", "--gin-sum", "scaled")
        self.assertNotIn("gin adds up", self.infer("gin-scaled-exact", "--exact", run=scaled).stderr)

    def test_results_are_not_overwritten_unasked(self):
        self.infer("kept", "--nodes", "valid")
        before = (self.work / "kept/ids.npy").read_bytes()
        self.assertIn("--force", self.infer("kept", expect=2).stderr)
        self.assertEqual((self.work / "kept/ids.npy").read_bytes(), before)
        self.infer("kept", "--force")
        self.assertNotEqual((self.work / "kept/ids.npy").read_bytes(), before)
        self.assertIn("inference.json", self.infer("graph", "--force", expect=2).stderr)  # not a folder of ours

    def test_what_a_killed_run_left_is_named(self):
        (self.work / "named.tmp-host-17").mkdir()
        self.assertIn("named.tmp-host-17 is what an interrupted run left",
                      self.infer("named", "--nodes", "valid").stderr)

    def test_a_full_disk_leaves_nothing(self):
        result = self.infer("never", "--nodes", "all", through=[sys.executable, "-c", LIMIT_FILE_SIZE], expect=74)
        self.assertIn("logits.npy: cannot write", result.stderr)
        self.assertFalse([p for p in self.work.iterdir() if p.name.startswith("never")])

    def test_ctrl_c_leaves_nothing(self):
        job = self.start(PROGRAMS.command("salient-infer", "--run", self.run_dir, "--out", self.work / "never",
                                          "--device", "cpu", "--nodes", "all", "--batch-size", 1, "--progress",
                                          "plain"))
        wait_until(lambda: self.written("never"), "its folder is there")
        job.signal(signal.SIGINT)
        self.assertEqual(self.finish(job, 130).stderr.count("nothing was written"), 1)
        self.assertFalse(self.written("never"))

    def written(self, name):
        """Folders of results called so, unfinished ones too."""
        return [path for path in self.work.iterdir() if path.name.startswith(name)]

    def test_bad_options_are_refused_in_one_line(self):
        for args, words in ((["--fanot", "3"], ["--fanout"]), (["--fanout", "3"], ["2 numbers"]),
                            (["--top-k", "6"], ["5 classes"]),
                            (["--exact", "--fanout", "3,3"], ["--exact"]),
                            (["--exact", "--activations", "device"], ["--activations auto"]),
                            (["--activation-dtype", "f16"], ["--exact"]),
                            (["--exact", "--activation-dtype", "fp8"], ["f32", "f16"]),
                            (["--nodes", "some"], ["--nodes"]), (["--embeddings", "3"], ["2 layers"]),
                            (["--checkpoint", "../x"], ["--checkpoint"]), (["--format", "xml"], ["--format"])):
            with self.subTest(args=args):
                self.assert_refused(2, *args, words=words)
        for args in (["--features", "cached"], ["--features", "device"], ["--sampler", "device"]):
            with self.subTest(args=args):
                self.assert_refused(2, "--device", "cpu", *args, words=[args[0], "GPU"])
        self.assert_refused(2, "--cache-gb", "1", words=["--cache-gb", "cached"])
        self.assertIn("--run", PROGRAMS.run("salient-infer").stderr)

    @unittest.skipIf(shutil.which("nvidia-smi"), "a GPU is here")
    def test_what_needs_a_gpu_says_that_there_is_none(self):
        for args in (["--features", "cached"], ["--features", "device", "--exact"], ["--sampler", "device"]):
            with self.subTest(args=args):
                self.assert_refused(69, "--device", "auto", *args, words=["there is no GPU", args[0] + " host"])
        for args in ([], ["--exact"]):
            with self.subTest(args=args):
                self.assert_refused(69, "--device", "auto", "--step", "resident", *args,
                                    words=["--step resident needs a GPU"])

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU is here")
    def test_predictions_do_not_depend_on_where_the_data_is(self):
        on_gpu = ["--device", "cuda", "--nodes", "all"]
        eager = [*on_gpu, "--step", "eager"]
        self.infer("on-host", *eager, "--features", "host", "--sampler", "host")
        self.infer("exact-on-host", *on_gpu, "--features", "host", "--exact")
        for features in (["host"], ["cached"], ["cached", "--cache-gb", "0.00002"], ["device"], ["auto"]):
            for sampler in ("host", "device", "auto"):
                with self.subTest(features=features, sampler=sampler):
                    name = "-".join(["on", *features, sampler])
                    self.infer(name, *eager, "--features", *features, "--sampler", sampler)
                    self.assert_same_files("on-host", name)
            with self.subTest(features=features):
                name = "-".join(["exact", *features])
                self.infer(name, *on_gpu, "--exact", "--features", *features)
                self.assert_same_files("exact-on-host", name)

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU is here")
    def test_resident_predictions_are_the_eager_ones_up_to_rounding(self):
        on_gpu = ["--device", "cuda", "--nodes", "all", "--features", "device", "--sampler", "device"]
        self.infer("eager", *on_gpu, "--step", "eager")
        expected = self.arrays("eager")
        for step, limit in ((["--step", "resident"], 1e-4), (["--step", "auto"], 1e-4),
                            (["--step", "resident", "--precision", "bf16"], 0.1)):
            with self.subTest(step=step):
                name = "-".join(word.strip("-") for word in step)
                result = self.infer(name, *on_gpu, *step)
                self.assertIn("predictions are resident", result.stdout + result.stderr)
                found = self.arrays(name)
                self.assertEqual(found["ids"], expected["ids"])
                for ours, theirs in zip(found["logits"].values, expected["logits"].values, strict=True):
                    self.assertLess(abs(ours - theirs), limit * max(1, abs(theirs)))
        self.infer("layers", *on_gpu, "--embeddings", "1")  # eager, as a layer's result is asked for
        self.assertEqual(self.arrays("layers")["logits"], expected["logits"])
        self.assert_refused(2, *on_gpu, "--step", "resident", "--fanout", "-1,4", words=["fanout"])

    @unittest.skipUnless(shutil.which("nvidia-smi"), "no GPU is here")
    def test_training_evaluates_as_inference_predicts(self):
        steps = ["--features", "device", "--sampler", "device", "--step", "resident"]
        run = self.work / "resident-run"
        made = PROGRAMS.run("salient-train", "--dataset", self.store, "--out", run, *SMALL, "--epochs", 2, "--device",
                            "cuda", *steps)
        self.assertEqual(made.returncode, 0, made.stderr)
        metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for name, step in (("as-resident", "resident"), ("as-eager", "eager")):
            self.infer(name, "--nodes", "valid", "--checkpoint", "latest", "--device", "cuda", *steps[:4], "--step",
                       step, run=run)
            self.assertAlmostEqual(self.report(name)["accuracy"], metrics[-1]["valid_accuracy"], delta=0.005)

    def test_bad_node_lists_are_refused(self):
        for ids, words in (([1, 4000], ["item 1", "4000"]), ([5, -1], ["-1"]), ([7, 8, 7], ["item 2 is 7", "twice"])):
            npy.write_ids(self.work / "bad.npy", ids)
            self.assert_refused(65, "--nodes", self.work / "bad.npy", words=["bad.npy", *words])
        (self.work / "bad.npy").write_text("1\n2\n")
        self.assert_refused(65, "--nodes", self.work / "bad.npy", words=["bad.npy"])
        self.assert_refused(74, "--exact", "--activations", "file", "--scratch", self.work / "nowhere",
                            words=["nowhere"])
        self.assert_refused(66, "--nodes", self.work / "absent.npy", words=["absent.npy"])
        npy.write_ids(self.work / "none.npy", [])
        self.assert_refused(2, "--nodes", self.work / "none.npy", words=["has no nodes"])

    def copy_of_run(self, name):
        shutil.copytree(self.run_dir, self.work / name, symlinks=True)
        return self.work / name

    def test_missing_foreign_and_damaged_runs_are_refused(self):
        self.assert_refused(66, run=self.work / "absent", words=["absent"])
        self.assert_refused(66, run=self.store, words=["config.toml"])
        run = self.copy_of_run("broken")
        weights = run / "checkpoints/latest/model.safetensors"
        whole = weights.read_bytes()
        weights.write_bytes(whole[:-4])
        self.assert_refused(65, "--checkpoint", "latest", run=run, words=["model.safetensors", "damaged"])
        weights.unlink()
        self.assert_refused(66, "--checkpoint", "latest", run=run, words=["model.safetensors"])
        weights.write_bytes(whole)
        self.assert_refused(66, "--checkpoint", "epoch-0009", run=run, words=["epoch-0009", "epoch-0001, epoch-0002"])
        config = run / "config.toml"
        text = config.read_text()
        config.write_text(text.replace("hidden = 16", "hidden = 32"))
        self.assert_refused(65, run=run, words=["hidden_dim"])
        config.write_text(text + "colour = 3\n")
        self.assert_refused(65, run=run, words=["config.toml", "colour"])
        config.write_text(text[:200])
        self.assertIn(PROGRAMS.run("salient-infer", "--run", run, *QUIET).returncode, (2, 65))
        shutil.rmtree(run / "checkpoints")
        config.write_text(text)
        self.assert_refused(66, run=run, words=["no checkpoint"])

    def test_other_data_must_be_meant(self):
        other = self.work / "other"
        made = PROGRAMS.run("salient-prepare", "synthetic", "--nodes", 500, "--mean-degree", 5, "--features", 12,
                            "--classes", 5, "--out", other)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("was trained on", self.infer("elsewhere", "--dataset", other, "--nodes", "all").stderr)
        self.assertEqual(self.arrays("elsewhere")["ids"].shape, (500,))
        run = self.copy_of_run("moved")
        config = run / "config.toml"
        config.write_text(config.read_text().replace(f'"{self.store}"', f'"{other}"'))
        self.assert_refused(65, run=run, words=["checksum", "--dataset"])

    def test_help_and_version(self):
        self.assertIn("--checkpoint", PROGRAMS.run("salient-infer", "--help").stdout)
        for library in (f"salient-infer {programs.version()}\n", "LibTorch"):
            self.assertIn(library, PROGRAMS.run("salient-infer", "--version").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
