#!/usr/bin/env python3
"""Whole trainings with resident steps: what a run is beside its epochs works as it does with eager steps.

    resident_training_gpu_test.py BIN_DIRECTORY [MPIEXEC [FLAGS...]]      two minutes on a GPU; skipped without one

Trainings that do not depend on each other run at the same time.
"""
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / "support"), str(pathlib.Path(__file__).resolve().parent)]
import npy
import programs

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[2:])
NO_DEVICE, USAGE, SKIPPED = 69, 2, 77
TOLERANCE = 0.01  # of losses in fp32 after some hundred steps, in which rounding grows
BF16_TOLERANCE = 0.05
SPREAD = 200.0  # of the targets of values(), both columns together: early RMSEs swing by more than their losses
ON_GPU = ["--device", "cuda", "--features", "device", "--sampler", "device", "--progress", "none", "--workers", "2",
          "--eval-batch-size", "500", "--lr", "0.01"]
SMALL = ["--hidden", "32", "--fanout", "5,4", "--eval-fanout", "8,8", "--batch-size", "200", "--precision", "fp32"]
FUSED = ["--fanout", "10,5,5", "--eval-fanout", "8,8,8", "--precision", "bf16"]  # hidden 256: one kernel is a layer
MODELS = {"sage-fused": ["--model", "sage", *FUSED], "gat-heads": ["--model", "gat", "--heads", "4", *SMALL],
          **{name: ["--model", name, *SMALL]
             for name in ("sage", "gcn", "gin", "sage-ri", "gat", "gatv2", "transformer")}}


class ResidentTraining(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = PROGRAMS.generate(cls.work / "graph", nodes=12000, degree=8, features=64)

    def command(self, name, *args, step="resident", ranks=0, dataset=None):
        return PROGRAMS.command("salient-train", "--dataset", dataset or self.store, "--out", self.work / name,
                                "--step", step, *ON_GPU, *args, ranks=ranks)

    def resume(self, name, *args, ranks=0):
        return self.start(PROGRAMS.command("salient-train", "--resume", self.work / name, *args, ranks=ranks))

    def said_by(self, job, expect=0, limit=None):
        done = self.finish(job, expect, limit)
        return done.stderr + done.stdout

    def train_all(self, runs, expect=0):
        """Trains {name: arguments of command()} at the same time. @return what each printed"""
        started = {name: self.start(self.command(name, *args, **how)) for name, (args, how) in runs.items()}
        return {name: self.said_by(job, expect) for name, job in started.items()}

    def curve(self, name):
        return [(m["step"], m["loss"], m["train_accuracy"], m["valid_accuracy"], m["lr"]) for m in self.metrics(name)]

    def state(self, name):
        """Every file of the last checkpoint that holds numbers: weights, statistics, the optimiser's moments."""
        files = sorted((self.work / name / "checkpoints/latest").glob("*.safetensors"))
        self.assertTrue(files)
        return {file.name: file.read_bytes() for file in files}

    def assert_same_run(self, a, b):
        self.assertEqual(self.curve(a), self.curve(b))
        self.assertEqual(self.state(a), self.state(b))

    def assert_close_curves(self, a, b, tolerance):
        for x, y in zip(self.metrics(a), self.metrics(b), strict=True):
            self.assertEqual((x["step"], x["seeds"], x["lr"]), (y["step"], y["seeds"], y["lr"]))
            self.assertLess(abs(x["loss"] - y["loss"]), tolerance * abs(x["loss"]), (a, x, y))
            self.assertLess(abs(x["valid_accuracy"] - y["valid_accuracy"]), 0.02, (a, x, y))

    # --- checkpoints and signals ---

    def test_a_resumed_run_of_every_model_has_the_bits_of_one_that_was_not_interrupted(self):
        options = {name: ["--deterministic", *more] for name, more in MODELS.items()}
        runs = {f"{part}-{name}": ([*args, "--epochs", epochs], {})
                for part, epochs in (("whole", 4), ("part", 2)) for name, args in options.items()}
        for printed in self.train_all(runs).values():
            self.assertIn("training steps are resident", printed)
        for job in [self.resume(f"part-{name}", "--epochs", 4) for name in options]:
            self.assertIn("resuming after epoch 2, step 0", self.said_by(job))
        for name in options:
            self.assert_same_run(f"whole-{name}", f"part-{name}")

    def test_ctrl_c_in_an_epoch_leaves_a_checkpoint_that_continues_to_the_same_bits(self):
        options = ["--deterministic", "--batch-size", 8, "--eval-every", 1000, "--warmup", 1.5,
                   "--label-smoothing", 0.1]
        names = {"sage": FUSED, "gat": SMALL}  # each kind of step; SMALL's batch size comes first
        jobs = {name: self.start(self.command(f"stopped-{name}", "--model", name, *more, *options, "--epochs", 1000))
                for name, more in names.items()}
        last = {}
        for name, job in jobs.items():
            job.wait_for_line("epoch 1:")
            job.signal(signal.SIGINT)
            self.assertIn("--resume", self.said_by(job, 130))
            run = json.loads((self.work / f"stopped-{name}/run.json").read_text())
            self.assertEqual(run["status"], "interrupted")
            last[name] = len(self.metrics(f"stopped-{name}")) + 2
        resumed = [self.resume(f"stopped-{name}", "--epochs", last[name]) for name in names]
        in_epoch = [int(re.search(r"resuming after epoch \d+, step (\d+)", self.said_by(job))[1]) for job in resumed]
        self.assertGreater(max(in_epoch), 0, "one of two signals, each at any of 900 steps, came inside an epoch")
        self.train_all({f"unstopped-{name}": (["--model", name, *more, *options, "--epochs", last[name]], {})
                        for name, more in names.items()})
        for name in names:
            self.assert_same_run(f"unstopped-{name}", f"stopped-{name}")

    # --- the same training as eager steps ---

    def test_what_a_run_is_told_works_as_with_eager_steps(self):
        cases = {"plain": [], "smoothing": ["--label-smoothing", 0.2], "decay": ["--weight-decay", 0.1],
                 "cosine": ["--schedule", "cosine", "--warmup", 1],
                 "plateau": ["--schedule", "plateau", "--plateau-patience", 0, "--plateau-factor", 0.3],
                 "replacement": ["--with-replacement"], "large batches": ["--global-batch-size", 5000],
                 "sparse": ["--fanout", "32,8"]}  # with few neighbours a tree fills a small part of its room
        runs = {f"{step}-{case}": ([*SMALL, *args, "--epochs", 4], {"step": step})
                for case, args in cases.items() for step in ("eager", "resident")}
        runs["patience"] = ([*SMALL, "--patience", 1, "--epochs", 100], {})
        self.train_all(runs)
        for case in cases:
            self.assert_close_curves(f"eager-{case}", f"resident-{case}", TOLERANCE)
        self.assertLess(len(self.metrics("patience")), 100)
        plain = self.metrics("resident-plain")[-1]["loss"]
        for case in ("smoothing", "decay"):  # the options reach the loss, by more than rounding does
            self.assertGreater(abs(self.metrics(f"resident-{case}")[-1]["loss"] - plain), 2 * TOLERANCE * plain, case)

    def values(self):
        """A store of two targets a node, one of them of large values and blank for a fifth; of the generated graph."""
        folder = self.work / "values"
        if (folder / "store").exists():
            return folder / "store"
        folder.mkdir()
        draw, nodes = random.Random(1), 12000
        x = [draw.gauss(0, 1) for _ in range(nodes * 8)]
        y = [value for v in range(nodes) for value in (
            x[8 * v], float("nan") if draw.random() < 0.2 else 5000 + 300 * x[8 * v + 1] + 30 * draw.gauss(0, 1))]
        (folder / "edges.csv").write_text("".join(f"{v},{draw.randrange(nodes)}\n" for v in range(nodes)
                                                  for _ in range(8)))
        npy.write(folder / "x.npy", (nodes, 8), x, "<f4")
        npy.write(folder / "y.npy", (nodes, 2), y, "<f4")
        PROGRAMS.run("salient-prepare", "edges", "--edges", folder / "edges.csv", "--features", folder / "x.npy",
                     "--labels", folder / "y.npy", "--target", "all", "--split", "0.6,0.2,0.2", "--out",
                     folder / "store", expect=0)
        return folder / "store"

    def test_values_are_trained_and_predicted_as_by_eager_steps(self):
        data = {"dataset": self.values()}
        cases = {**MODELS,
                 "mae": [*SMALL, "--loss", "mae"], "huber": [*SMALL, "--loss", "huber"],
                 # signs of gradients: curves part at once where the rate is high
                 "mae-fused": [*FUSED, "--loss", "mae", "--lr", "0.003"]}
        runs = {f"values-{step}-{case}": ([*args, *(["--precision", "fp32"] if step == "eager" else []),
                                           "--epochs", 3], {"step": step, **data})
                for case, args in cases.items() for step in ("eager", "resident")}
        for name, printed in self.train_all(runs).items():
            if "-resident-" in name:
                self.assertIn("training steps are resident", printed)
        for case, args in cases.items():
            tolerance = BF16_TOLERANCE if args[-1] == "bf16" or "fused" in case else 2 * TOLERANCE
            for x, y in zip(self.metrics(f"values-eager-{case}"), self.metrics(f"values-resident-{case}"), strict=True):
                self.assertLess(abs(x["loss"] - y["loss"]), tolerance * x["loss"], (case, x, y))
                allowed = 2 * tolerance * max(x["valid_rmse"], SPREAD / 2)
                self.assertLess(abs(x["valid_rmse"] - y["valid_rmse"]), allowed, (case, x, y))
        for how in ([], ["--exact"]):
            rows = {}
            for step in ("eager", "resident"):
                out = self.work / f"values-predicted-{step}{''.join(how)}"
                PROGRAMS.run("salient-infer", "--run", self.work / "values-resident-sage-fused", "--nodes", "test",
                             "--step", step, "--device", "cuda", "--out", out, *how, expect=0)
                rows[step] = npy.rows(npy.read(out / "predictions.npy"))
            for a, b in zip(rows["eager"], rows["resident"], strict=True):
                self.assertTrue(3000 < a[1] < 7000, a)
                self.assertLess(abs(a[0] - b[0]), 0.2)
                self.assertLess(abs(a[1] - b[1]), 60)

    def test_classes_have_weights_as_in_eager_steps(self):
        weights = self.work / "weights.csv"
        weights.write_text("0,5\n1,0.2\n2,1\n3,0\n")
        more = {"weighted": ["--class-weights", weights], "balanced": ["--class-weights", "balanced"],
                "smoothed": ["--class-weights", weights, "--label-smoothing", 0.2]}
        cases = {f"{case}-{kind}": [*args, *extra] for case, extra in more.items()
                 for kind, args in (("sage", SMALL), ("fused", FUSED), ("gat", ["--model", "gat", *SMALL]))}
        runs = {f"{step}-{case}": ([*args, *(["--precision", "fp32"] if step == "eager" else []), "--epochs", 3],
                                   {"step": step})
                for case, args in cases.items() for step in ("eager", "resident")}
        self.train_all(runs)
        for case in cases:
            self.assert_close_curves(f"eager-{case}", f"resident-{case}",
                                     BF16_TOLERANCE if case.endswith("fused") else TOLERANCE)
        weighted = self.metrics("resident-weighted-sage")[-1]["loss"]
        self.assertGreater(abs(self.metrics("resident-balanced-sage")[-1]["loss"] - weighted), 2 * TOLERANCE * weighted)

    def test_the_fused_first_layer_trains_as_eager_steps(self):
        printed = self.train_all({"eager-layers": ([*FUSED, "--precision", "fp32", "--epochs", 4], {"step": "eager"}),
                                  "fused-layers": ([*FUSED, "--epochs", 4], {})})
        self.assertIn("arithmetic (bf16)", printed["fused-layers"])
        self.assert_close_curves("eager-layers", "fused-layers", BF16_TOLERANCE)

    def test_the_precision_is_bf16_where_nothing_is_said_and_is_kept(self):
        options = [*FUSED[:4], "--batch-size", 200]
        printed = self.train_all({"open": ([*options, "--epochs", 2], {"step": "auto"}),
                                  "said": ([*options, "--precision", "fp32", "--epochs", 2], {"step": "auto"}),
                                  "bf16": ([*options, "--precision", "bf16", "--epochs", 3], {"step": "auto"})})
        for name, precision in (("open", "bf16"), ("said", "fp32")):
            self.assertRegex(printed[name], rf"training steps are resident: .* arithmetic \({precision}\)")
        self.assertIn('precision = "auto"', (self.work / "open/config.toml").read_text())
        eager = ["--step", "eager", "--epochs", 3]  # that were fp32 if the run had not been bf16
        self.assertNotIn("so far", self.said_by(self.resume("open", *eager)))
        self.assertEqual(json.loads((self.work / "open/run.json").read_text())["resolved"]["precision"], "bf16")
        self.assert_close_curves("open", "bf16", BF16_TOLERANCE)

    def test_trials_are_the_runs_of_their_seeds(self):
        printed = self.train_all({"trials": ([*SMALL, "--deterministic", "--epochs", 3, "--trials", 2], {}),
                                  "second": ([*SMALL, "--deterministic", "--epochs", 3, "--seed", 2], {})})
        self.assertRegex(printed["trials"], r"test accuracy 0\.\d+ \+- 0\.\d+")
        self.assert_same_run("trials/trial-2", "second")
        self.assertNotEqual(self.curve("trials/trial-1"), self.curve("second"))

    # --- what is refused, and what auto takes ---

    def test_what_no_resident_step_computes_is_refused_by_name(self):
        labels = self.work / "several"
        labels.mkdir()
        draw = random.Random(1)
        (labels / "edges.csv").write_text("".join(f"{v},{draw.randrange(500)}\n" for v in range(500) for _ in range(4)))
        npy.write(labels / "x.npy", (500, 8), [draw.gauss(0, 1) for _ in range(4000)], "<f4")
        npy.write(labels / "y.npy", (500, 3), [draw.randrange(2) for _ in range(1500)], "|i1")
        PROGRAMS.run("salient-prepare", "edges", "--edges", labels / "edges.csv", "--features", labels / "x.npy",
                     "--labels", labels / "y.npy", "--split", "0.6,0.2,0.2", "--out", labels / "store", expect=0)
        several = {"dataset": labels / "store"}
        refused = {"labels": (SMALL, several, "a node has several labels"),
                   "heads": (["--model", "gat", *SMALL, "--heads", 8], {},
                             "the width of an attention head is not a multiple of 8"),
                   "all": ([*SMALL, "--fanout=-1,4"], {}, "a fanout is not in 1 to 32"),
                   "host": ([*SMALL, "--features", "host"], {}, "not both in GPU memory")}
        printed = self.train_all({name: (args, how) for name, (args, how, _) in refused.items()}, expect=USAGE)
        for name, (_, _, reason) in refused.items():
            errors = [line for line in printed[name].splitlines() if line.startswith("salient-train: error: ")]
            self.assertEqual(len(errors), 1, printed[name])
            self.assertIn(reason, errors[0])
        auto = {f"auto-{name}": ([*args, "--epochs", 1], {**how, "step": "auto"})
                for name, (args, how, _) in refused.items()}
        auto["auto-bf16"] = ([*refused["heads"][0], "--precision", "bf16", "--epochs", 1], {"step": "auto"})
        taken = self.train_all(auto)
        for name, (_, _, reason) in refused.items():
            self.assertRegex(taken[f"auto-{name}"], f"training steps are eager: .*{reason}")
        advice = "; tf32 is faster there than bf16"
        self.assertEqual([name for name in taken if advice in taken[name]], ["auto-bf16"])

    # --- features of edges ---

    def edges(self):
        """A store whose edges alone tell the labels: the amount of each edge is noise around its node's class."""
        folder = self.work / "edges"
        if (folder / "store").exists():
            return folder / "store"
        folder.mkdir()
        draw, nodes = random.Random(1), 6000
        classes = [draw.randrange(2) for _ in range(nodes)]
        (folder / "edges.csv").write_text("s,t,amount,noise\n" + "".join(
            f"{draw.randrange(nodes)},{v},{2 * classes[v] + draw.gauss(0, 1):.3f},{draw.random():.3f}\n"
            for v in range(nodes) for _ in range(8)))
        (folder / "nodes.csv").write_text("id,x,y,label\n" + "".join(
            f"{v},{draw.gauss(0, 1):.3f},{draw.gauss(0, 1):.3f},c{classes[v]}\n" for v in range(nodes)))
        PROGRAMS.run("salient-prepare", "edges", "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv",
                     "--edge-feature-columns", "amount,noise", "--label", "label", "--split", "0.6,0.2,0.2",
                     "--symmetric", "no", "--out", folder / "store", expect=0)
        return folder / "store"

    def test_features_of_edges_train_and_predict_as_in_eager_steps(self):
        data, host = {"dataset": self.edges()}, ["--sampler", "host"]
        cases = {"edges-plain": SMALL, "edges-norm": [*SMALL, "--norm", "layer", "--residual", "--jk", "cat"],
                 "edges-bf16": FUSED}
        runs = {f"{step}-{case}": ([*args, *(["--precision", "fp32", *host] if step == "eager" else []), "--epochs", 4],
                                   {"step": step, **data})
                for case, args in cases.items() for step in ("eager", "resident")}
        runs["auto-edges"] = ([*SMALL, "--epochs", 1], {"step": "auto", **data})
        runs["none-edges"] = ([*SMALL, "--edge-features", "none", "--epochs", 4], data)
        runs["all-edges"] = ([*SMALL, "--eval-fanout=-1,-1", "--epochs", 1], data)
        printed = self.train_all(runs)
        for name in (*(f"resident-{case}" for case in cases), "auto-edges"):
            self.assertIn("training steps are resident", printed[name])
        self.assertIn("evaluation is eager: a fanout is not in 1 to 32", printed["all-edges"])
        for case, args in cases.items():
            self.assert_close_curves(f"eager-{case}", f"resident-{case}",
                                     BF16_TOLERANCE if args is FUSED else 2 * TOLERANCE)
            self.assertGreater(self.metrics(f"resident-{case}")[-1]["valid_accuracy"], 0.9)
        self.assertLess(self.metrics("none-edges")[-1]["valid_accuracy"], 0.6)
        logits = {}
        for step in ("eager", "resident"):
            out = self.work / f"edges-predicted-{step}"
            PROGRAMS.run("salient-infer", "--run", self.work / "resident-edges-plain", "--nodes", "test", "--step",
                         step, "--device", "cuda", "--fanout", "8,8", "--out", out, expect=0)
            logits[step] = npy.read(out / "logits.npy").values
        for a, b in zip(logits["eager"], logits["resident"], strict=True):
            self.assertLess(abs(a - b), 1e-3)
        for how, words in ((["--exact", "--step", "resident"], "the model reads features of edges"),):
            done = PROGRAMS.run("salient-infer", "--run", self.work / "resident-edges-plain", "--nodes", "test",
                                "--device", "cuda", "--out", self.work / "edges-refused", *how, expect=USAGE)
            self.assertIn(words, done.stderr)

    def test_features_of_edges_are_in_the_plan_and_in_resumed_runs(self):
        data = {"dataset": self.edges()}
        printed = self.train_all({"dry-edges": ([*SMALL, "--dry-run"], {"step": "auto", **data}),
                                  "whole-edges": ([*SMALL, "--deterministic", "--epochs", 4], data),
                                  "part-edges": ([*SMALL, "--deterministic", "--epochs", 2], data)})
        self.assertRegex(printed["dry-edges"], r"\n  features of edges +0\.0 MB +0\.2 MB")
        self.said_by(self.resume("part-edges", "--epochs", 4))
        self.assert_same_run("whole-edges", "part-edges")
        refused = {"refused-gatv2": (["--model", "gatv2", *SMALL], "attention reads the features of edges"),
                   "refused-gine": (["--model", "gine", *SMALL], "the model has no resident step")}
        printed = self.train_all({name: ([*args, "--sampler", "host"], data) for name, (args, _) in refused.items()},
                                 expect=USAGE)
        for name, (_, reason) in refused.items():
            self.assertRegex(printed[name], f"error: .*{reason}")

    def test_two_ranks_with_features_of_edges_train_as_one(self):
        comm = self.comm_of_two_ranks()
        options, data = [*SMALL, "--global-batch-size", 200, "--epochs", 3], {"dataset": self.edges()}
        self.train_all({"one-edges": (options, data), "two-edges": ([*options, *comm], {"ranks": 2, **data})})
        self.assert_close_curves("one-edges", "two-edges", TOLERANCE)

    # --- ranks: of one GPU too, over host memory ---

    def comm_of_two_ranks(self):
        if not PROGRAMS.launch or shutil.which(PROGRAMS.launch[0]) is None:
            self.skipTest("no mpiexec")
        gpus = len(subprocess.run(["nvidia-smi", "-L"], text=True, capture_output=True).stdout.splitlines())
        return ["--comm", "nccl" if gpus > 1 else "mpi"]

    def test_two_ranks_with_a_fused_first_layer_train_as_one(self):
        comm = self.comm_of_two_ranks()
        options = [*FUSED, "--global-batch-size", 200, "--epochs", 4]
        printed = self.train_all({"one-fused": (options, {}), "two-fused": ([*options, *comm], {"ranks": 2})})
        self.assert_close_curves("one-fused", "two-fused", BF16_TOLERANCE)
        is_inside = "gradients are exchanged inside a step, over NVLink" in printed["two-fused"]
        self.assertNotEqual(is_inside, "gradients are exchanged between steps, by " in printed["two-fused"])
        self.assertEqual(is_inside, self.metrics("two-fused")[-1].get("allreduce_seconds") is None)
        links = subprocess.run(["nvidia-smi", "topo", "-m"], text=True, capture_output=True).stdout
        if comm[1] == "nccl" and re.search(r"^GPU0\b.*\bNV\d+", links, re.MULTILINE):
            self.assertTrue(is_inside, printed["two-fused"])

    def test_a_rank_that_ends_or_hangs_ends_all(self):
        options = [*FUSED, *self.comm_of_two_ranks(), "--batch-size", 8, "--epochs", 1000, "--comm-timeout", 10]
        for what, code in ((signal.SIGKILL, 128 + signal.SIGKILL), (signal.SIGSTOP, 75)):
            name = f"ended-by-{what.name}"
            job = self.start(self.command(name, *options, ranks=2))
            job.wait_for_line("epoch 1:")
            job.signal(what, rank=1)
            said = self.said_by(job, code, limit=90)
            if what == signal.SIGSTOP:
                self.assertRegex(said, "error: .*no answer from rank 1 on ")

    def test_two_ranks_train_as_one_and_end_together(self):
        comm = self.comm_of_two_ranks()
        options = [*SMALL, "--global-batch-size", 200, "--epochs", 3]
        several = {"ranks": 2}
        self.train_all({"one": (options, {}), "two": ([*options, *comm], several),
                        "two-half": ([*options, *comm, "--epochs", 1], several)})
        self.assert_close_curves("one", "two", TOLERANCE)
        self.said_by(self.resume("two-half", "--epochs", 3, **several))
        self.assert_close_curves("two", "two-half", TOLERANCE)
        job = self.start(self.command("two-stopped", *options, *comm, "--batch-size", 8, "--epochs", 1000, **several))
        job.wait_for_line("epoch 1:")
        job.signal(signal.SIGINT, rank=0)
        self.assertIn("--resume", self.said_by(job, 130))
        self.said_by(self.resume("two-stopped", "--epochs", len(self.metrics("two-stopped")) + 1, **several))


if __name__ == "__main__":
    probe = PROGRAMS.run("salient-train", "--device", "cuda", "--dataset", "synthetic:arxiv:0.01", "--dry-run")
    if probe.returncode == NO_DEVICE:
        print("skipped: no GPU")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
