#!/usr/bin/env python3
"""salient-train as a user runs it: results, run directory, reproducibility, resume, signals, exit codes.

    salient_train_test.py BIN_DIRECTORY          trains on a small generated graph; about a minute on 2 cores
"""
import contextlib
import csv
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs

PROGRAMS = programs.Programs(sys.argv.pop(1))
SMALL = [*programs.SMALL, "--batch-size", "200", "--eval-batch-size", "500", "--workers", "2"]
run = PROGRAMS.run


def npy_ints(path):
    """The uint32 of an .npy file whose data begins at byte 4096, as ours do."""
    return memoryview(path.read_bytes()[4096:]).cast("I")


@contextlib.contextmanager
def open_directory(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


class SalientTrain(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = PROGRAMS.generate(cls.work / "graph")

    def train(self, name, *args, expect=0, dataset=None, env=None):
        return run("salient-train", "--dataset", dataset or self.store, "--out", self.work / name, *SMALL, *args,
                   env=env, expect=expect)

    def losses(self, name):
        return [(m["loss"], m["train_accuracy"], m["valid_accuracy"], m["lr"]) for m in self.metrics(name)]

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("salient-train: error: "), lines[0])
        for word in words:
            self.assertIn(str(word), lines[0])

    def test_a_run_learns_and_ends_with_the_stable_lines(self):
        result = self.train("learns", "--epochs", 4)
        lines = result.stdout.splitlines()[-4:]
        self.assertRegex(lines[0], r"^valid accuracy 0\.\d{4} \(epoch \d\)$")
        self.assertRegex(lines[1], r"^test accuracy 0\.\d{4}$")
        self.assertRegex(lines[2], r"^epoch seconds \d+\.\d\d \(train \d+\.\d\d, blocked \d+\.\d\d, "
                                   r"transfer \d+\.\d\d\), \d+\.\d M edges/s sampled$")
        self.assertEqual(lines[3], f"run directory {self.work / 'learns'}")
        metrics = self.metrics("learns")
        self.assertLess(metrics[-1]["loss"], metrics[0]["loss"] * 0.9)
        majority = 0.5  # classes are uneven; the planted structure is worth far more
        self.assertGreater(float(lines[1].split()[-1]), majority)

    def test_the_run_directory_is_complete(self):
        self.train("complete", "--epochs", 3, "--keep", 1, "--trace")
        directory = self.work / "complete"
        status = json.loads((directory / "run.json").read_text())
        self.assertEqual(status["status"], "finished")
        self.assertEqual(status["dataset"]["source"], "synthetic")
        self.assertIsInstance(status["dataset"]["nodes"], int)
        self.assertEqual(status["result"]["valid_accuracy"],
                         max(line["valid_accuracy"] for line in self.metrics("complete")))
        with open(directory / "metrics.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["epoch"] for row in rows], ["1", "2", "3"])
        for row, line in zip(rows, self.metrics("complete")):
            self.assertEqual({k: v == "" for k, v in row.items()}, {k: v is None for k, v in line.items()})
            self.assertEqual(float(row["loss"]), line["loss"])
        checkpoints = directory / "checkpoints"
        self.assertEqual(os.readlink(checkpoints / "latest"), "epoch-0003")
        kept = {p.name for p in checkpoints.iterdir() if not p.is_symlink()}
        self.assertEqual(kept, {"epoch-0003", os.readlink(checkpoints / "best")})
        self.assertFalse([p for p in directory.rglob("*") if ".tmp" in p.name])
        self.assertIn("test accuracy", (directory / "log.txt").read_text())
        trace = json.loads((directory / "trace.json").read_text())
        self.assertTrue({"sample", "gather", "compute"} <= {e["name"] for e in trace["traceEvents"]})

    def test_the_report_is_there_and_agrees_with_the_result(self):
        result = self.train("reported", "--epochs", 3)
        accuracy = re.search(r"^test accuracy (0\.\d{4})$", result.stdout, re.M)[1]
        directory = self.work / "reported"
        page = (directory / "report.html").read_text()
        self.assertIn(f"<b>{accuracy}</b><span>test accuracy</span>", page)
        self.assertIn("finished", page)
        self.assertIn("synthetic data", page)
        self.assertIn(str(directory / "report.html"), result.stderr)
        confusion = json.loads((directory / "confusion.json").read_text())
        num_nodes = sum(n for _, _, n in confusion["cells"])
        self.assertEqual(confusion["set"], "test")
        self.assertEqual(num_nodes, len(npy_ints(self.store / "test.npy")))
        self.assertAlmostEqual(sum(n for t, p, n in confusion["cells"] if t == p) / num_nodes, float(accuracy), 4)
        last = self.metrics("reported")[-1]
        self.assertEqual((last["hop_nodes"][-1], sum(last["hop_edges"])), (last["nodes"], last["edges"]))
        self.assertLess(last["hop_nodes"][0], last["nodes"])  # the seeds' own hop comes first

    def test_a_report_that_cannot_be_written_ends_no_run(self):
        self.train("blocked", "--epochs", 1)
        report = self.work / "blocked/report.html"
        report.unlink()
        (report / "in the way").mkdir(parents=True)
        resumed = run("salient-train", "--resume", self.work / "blocked", "--epochs", 3)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(resumed.stderr.count("the report is out of date"), 1, resumed.stderr)

    def test_tensorboard_reads_the_event_files_of_a_resumed_run(self):
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("no Python package tensorboard")
        self.train("events", "--epochs", 2)
        resumed = run("salient-train", "--resume", self.work / "events", "--epochs", 4)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(len(list((self.work / "events").glob("events.out.tfevents.*"))), 2)
        events = EventAccumulator(str(self.work / "events")).Reload()
        for tag, column in (("loss", "loss"), ("accuracy/valid", "valid_accuracy"), ("seconds/epoch", "epoch_seconds")):
            self.assertEqual([(e.step, struct.pack("f", e.value)) for e in events.Scalars(tag)],
                             [(m["step"], struct.pack("f", m[column])) for m in self.metrics("events")])

    def test_losses_do_not_depend_on_workers_or_slots(self):
        self.train("workers1", "--epochs", 2, "--workers", 1, "--slots", 2)
        self.train("workers5", "--epochs", 2, "--workers", 5, "--slots", 9)
        self.assertEqual(self.losses("workers1"), self.losses("workers5"))

    def test_the_saved_configuration_reproduces_the_run(self):
        self.train("first", "--epochs", 2, "--seed", 7, "--dropout", "0.3")
        again = run("salient-train", "--config", self.work / "first/config.toml", "--out", self.work / "repeated",
                    "--progress", "none")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.losses("first"), self.losses("repeated"))
        self.train("other-seed", "--epochs", 2, "--seed", 8, "--dropout", "0.3")
        self.assertNotEqual(self.losses("first"), self.losses("other-seed"))

    def test_a_resumed_run_goes_on_in_the_precision_that_it_came_to(self):
        # Not the small store: of its products, with 12 features, a Xeon with AMX rounds none in bf16.
        self.train("was-fp32", "--epochs", 2, dataset="synthetic:arxiv:0.03")
        state = json.loads((self.work / "was-fp32/run.json").read_text())
        self.assertEqual(state["resolved"]["precision"], "fp32", "left open on a CPU")
        has_bf16 = " avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
        losses = {}
        for before, after in (("fp32", "fp32"), ("bf16", "bf16" if has_bf16 else "fp32"), ("tf32", "fp32")):
            name = f"now-{before}"
            shutil.copytree(self.work / "was-fp32", self.work / name, symlinks=True)
            state["resolved"]["precision"] = before  # as on a machine with a GPU
            (self.work / name / "run.json").write_text(json.dumps(state))
            predicted = run("salient-infer", "--run", self.work / name, "--device", "cpu", "--out",
                            self.work / f"{name}-predictions")
            self.assertEqual(predicted.returncode, 0, predicted.stderr)
            said = f"the run is in {before}, which this device lacks: predictions in fp32"
            self.assertEqual(predicted.stderr.count(said), before != after, predicted.stderr)
            report = json.loads((self.work / f"{name}-predictions/inference.json").read_text())
            self.assertEqual(report["precision"], after)
            resumed = run("salient-train", "--resume", self.work / name, "--epochs", 4)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertEqual(json.loads((self.work / name / "run.json").read_text())["resolved"]["precision"], after)
            self.assertEqual(f"the run was in {before} so far" in resumed.stderr, before != after, resumed.stderr)
            losses[name] = self.losses(name)
            self.assertEqual(run("salient-infer", "--run", self.work / name, "--device", "cpu").returncode, 0)
            report = json.loads(next((self.work / name / "predictions").glob("*/inference.json")).read_text())
            self.assertEqual(report["precision"], after)
        self.assertEqual(losses["now-tf32"], losses["now-fp32"])
        self.assertEqual(losses["now-bf16"] == losses["now-fp32"], not has_bf16)
        asked = run("salient-train", "--resume", self.work / "now-bf16", "--epochs", 5, "--precision", "fp32")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn('precision = "fp32"', (self.work / "now-bf16/config.toml").read_text())

    def test_a_configuration_keeps_what_the_user_left_open(self):
        self.train("open", "--epochs", 2, "--workers", 0, "--seed", 3, "--device", "auto")
        config = (self.work / "open/config.toml").read_text()
        said = dict(re.findall(r"^(\S+) = (\S+) ", config, re.M))
        for name, value in (("device", '"auto"'), ("features", '"auto"'), ("sampler", '"auto"'), ("comm", '"auto"'),
                            ("precision", '"auto"'), ("metric", '"auto"'), ("workers", "0"), ("threads", "0"),
                            ("slots", "0")):
            self.assertEqual(said[name], value, name)
        resolved = json.loads((self.work / "open/run.json").read_text())["resolved"]
        self.assertEqual((resolved["comm"], resolved["metric"]), ("self", "accuracy"))
        self.assertIn(resolved["device"], ("cpu", "cuda"))
        for name in ("workers", "threads", "slots"):
            self.assertGreater(resolved[name], 0, name)
        # As on the same machine after its GPU is gone, and with the values that older programs wrote.
        narrowed = {"device": '"cpu"', "features": '"host"', "sampler": '"host"', "comm": '"self"', "workers": "3",
                    "threads": str(resolved["threads"]), "slots": "5", "metric": '"accuracy"'}
        for directory in ("old", "again"):
            shutil.copytree(self.work / "open", self.work / directory, symlinks=True)
        old = config
        for name, value in narrowed.items():
            old = re.sub(rf"^{name} = \S+", f"{name} = {value}", old, flags=re.M)
        (self.work / "old/config.toml").write_text(old)
        for directory in ("again", "old"):
            resumed = run("salient-train", "--resume", self.work / directory, "--epochs", 4, "--progress", "none",
                          "--device", "cpu")
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(self.losses("again"), self.losses("old"))
        fresh = run("salient-train", "--config", self.work / "open/config.toml", "--out", self.work / "fresh",
                    "--epochs", 4, "--device", "cpu")
        self.assertEqual(fresh.returncode, 0, fresh.stderr)
        if resolved["device"] == "cpu":
            self.assertEqual(self.losses("fresh"), self.losses("again"))

    def test_drawing_with_replacement_is_a_choice_of_the_run(self):
        self.train("without", "--epochs", 2)
        self.train("with", "--epochs", 2, "--with-replacement")
        self.assertNotEqual(self.losses("without"), self.losses("with"))
        predictions = {}
        for name, options in (("as-run", []), ("given", ["--with-replacement"]), ("not", ["--with-replacement=false"])):
            out = self.work / f"predicted-{name}"
            inferred = run("salient-infer", "--run", self.work / "with", "--out", out, "--device", "cpu", *options)
            self.assertEqual(inferred.returncode, 0, inferred.stderr)
            predictions[name] = (out / "logits.npy").read_bytes()
            report = json.loads((out / "inference.json").read_text())
            self.assertEqual(report["neighbours"]["with_replacement"], name != "not")
        self.assertEqual(predictions["as-run"], predictions["given"])
        self.assertNotEqual(predictions["as-run"], predictions["not"])

    def test_labor_is_a_choice_of_the_run(self):
        self.train("uniform", "--epochs", 2)
        self.train("labor", "--epochs", 2, "--draw", "labor")
        self.train("labor-part", "--epochs", 1, "--draw", "labor")
        resumed = run("salient-train", "--resume", self.work / "labor-part", "--epochs", 2)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        if json.loads((self.work / "labor/run.json").read_text())["resolved"]["device"] == "cpu":
            self.assertEqual(self.losses("labor-part"), self.losses("labor"))
        self.assertNotEqual(self.losses("uniform"), self.losses("labor"))
        for name, options in (("labor", []), ("uniform", ["--draw", "uniform"])):
            out = self.work / f"predicted-by-{name}"
            inferred = run("salient-infer", "--run", self.work / "labor", "--out", out, "--device", "cpu", *options)
            self.assertEqual(inferred.returncode, 0, inferred.stderr)
            self.assertEqual(json.loads((out / "inference.json").read_text())["neighbours"]["draw"], name)
        self.assertNotEqual((self.work / "predicted-by-labor/logits.npy").read_bytes(),
                            (self.work / "predicted-by-uniform/logits.npy").read_bytes())

    def test_a_misspelt_variable_is_warned_of(self):
        result = self.train("misspelt", "--epochs", 1, env={"SALIENT_EPOCH": "3"})
        self.assertIn("SALIENT_EPOCH is not read; did you mean SALIENT_EPOCHS?", result.stderr)

    def test_resume_continues_with_the_same_bits(self):
        plateau = ["--schedule", "plateau", "--plateau-patience", 0, "--plateau-factor", 0.3, "--warmup", 0.5]
        self.train("whole", "--epochs", 4, *plateau)
        self.train("part", "--epochs", 2, *plateau)
        resumed = run("salient-train", "--resume", self.work / "part", "--epochs", 4)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(self.losses("whole"), self.losses("part"))
        weights = "checkpoints/epoch-0004/model.safetensors"
        self.assertEqual((self.work / "whole" / weights).read_bytes(), (self.work / "part" / weights).read_bytes())
        self.assertNotIn("no epoch is left", resumed.stderr)
        shorter = run("salient-train", "--resume", self.work / "part", "--epochs", 1)
        self.assertEqual(shorter.returncode, 0, shorter.stderr)
        self.assertIn("resuming after epoch 4, step 0\nno epoch is left to train: the run is to have 1\n",
                      shorter.stderr)
        self.assertIn("\nepoch seconds none: the run had ended, and no epoch was trained\nrun directory ",
                      shorter.stdout)

    def test_a_run_that_ended_before_its_first_checkpoint_begins_anew(self):
        self.train("begun", "--epochs", 2)
        self.train("begun-trials", "--epochs", 1, "--trials", 2)
        for name, folders in (("begun", ["."]), ("begun-trials", ["trial-1", "trial-2"])):
            expected = [self.losses(f"{name}/{folder}") for folder in folders]
            for folder in folders:
                shutil.rmtree(self.work / name / folder / "checkpoints")
            resumed = run("salient-train", "--resume", self.work / name)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertEqual([self.losses(f"{name}/{folder}") for folder in folders], expected)
            self.assertEqual("the run begins anew" in resumed.stderr, name == "begun", resumed.stderr)
            self.assertNotIn("resuming after", resumed.stderr)

    def test_libtorch_starts_once_with_openmp_threads_that_do_not_spin(self):
        environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        for program in ("salient-train", "salient-infer"):
            started = subprocess.run([PROGRAMS.folder / program, "--version"], env={**environment, "LD_DEBUG": "files",
                                     "OMP_DISPLAY_ENV": "true"}, text=True, capture_output=True, timeout=300)
            self.assertEqual(started.returncode, 0)
            self.assertEqual(len(re.findall(r"calling init: .*/libtorch_cpu\.so", started.stderr)), 1)
            self.assertRegex(started.stderr, r"OMP_WAIT_POLICY = 'PASSIVE'")

    def test_the_job_for_slurm_resumes_what_has_begun(self):
        script = pathlib.Path(__file__).resolve().parents[2] / "scripts/cluster/slurm.sbatch"
        folder = self.work / "slurm"
        (folder / "bin").mkdir(parents=True)
        (folder / "bin/srun").write_text('#!/bin/sh\necho "$@"\n')
        (folder / "bin/srun").chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "SLURM_JOB_ID": "7"}
        start = lambda: subprocess.run(["bash", script], cwd=folder, env=environment, text=True, capture_output=True)
        self.assertIn("--out runs/papers100M-7", start().stdout)
        (folder / "runs/papers100M-7").mkdir(parents=True)
        self.assertIn("--out runs/papers100M-7", start().stdout)  # a folder that is empty
        (folder / "runs/papers100M-7/config.toml").write_text("")
        self.assertIn("--resume runs/papers100M-7", start().stdout)

    def test_a_resumed_run_says_what_options_it_changed(self):
        out = self.work / "changed"
        self.assertEqual(self.train(out.name, "--epochs", 2, "--schedule", "cosine").returncode, 0)
        same = run("salient-train", "--resume", out)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertNotIn("another option", same.stderr)
        for options in (["--dry-run"], []):  # the dry run leaves the configuration as it is
            resumed = run("salient-train", "--resume", out, "--epochs", 4, "--lr", 0.001, *options)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertIn("resumed with another option: epochs 2 -> 4\n", resumed.stderr)
            self.assertIn("resumed with another option: lr ", resumed.stderr)
            self.assertEqual(resumed.stderr.count("another option"), 2, resumed.stderr)
            self.assertIn("the step size goes on at 0.0005 in epoch 3; epoch 2 ended at 0: the cosine", resumed.stderr)
        self.assertIn("epochs 2 -> 4", (out / "log.txt").read_text())

    def test_a_run_resumed_with_larger_batches_has_the_step_sizes_of_its_epochs(self):
        larger = ["--epochs", 6, "--schedule", "cosine", "--warmup", 2.5, "--batch-size", 400]
        self.train("larger-throughout", *larger)
        for num_epochs in (2, 4):  # in the warm-up, behind it
            name = f"larger-after-{num_epochs}"
            self.train(name, "--epochs", num_epochs, "--batch-size", 100)
            resumed = run("salient-train", "--resume", self.work / name, *larger)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertIn("it goes on, but not with the same bits", resumed.stderr)
            rates, expected = ([m["lr"] for m in self.metrics(r)][num_epochs:] for r in (name, "larger-throughout"))
            self.assertEqual(rates, expected)
            self.assertGreater(min(rates), 0)

    def test_ctrl_c_ends_inside_the_epoch_and_resumes_to_the_same_bits(self):
        options = ["--epochs", "6", "--batch-size", "20", "--checkpoint-every", "1", "--schedule", "cosine",
                   "--warmup", "1.5", "--norm", "batch", "--label-smoothing", "0.1"]
        job = self.start(PROGRAMS.command("salient-train", "--dataset", self.store, "--out", self.work / "stopped",
                                          *SMALL, *options))
        job.wait_for_line("epoch 1:")
        job.signal(signal.SIGINT)
        num_epochs = len(self.metrics("stopped"))  # that had ended when it came, or ended since
        errors = self.finish(job, 130).stderr
        self.assertLessEqual(len(self.metrics("stopped")), num_epochs + 1)
        self.assertIn("--resume", errors)
        self.assertEqual(json.loads((self.work / "stopped/run.json").read_text())["status"], "interrupted")
        self.assertIn("<b>interrupted</b>", (self.work / "stopped/report.html").read_text())
        resumed = run("salient-train", "--resume", self.work / "stopped")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.train("unstopped", *options)
        self.assertEqual(self.losses("unstopped"), self.losses("stopped"))

    def test_schedules_change_the_step_size(self):
        self.train("cosine", "--epochs", 3, "--schedule", "cosine", "--warmup", 1)
        rates = [m["lr"] for m in self.metrics("cosine")]  # of each epoch's last step
        self.assertEqual(rates[0], 0.01)
        self.assertGreater(rates[1], rates[2])
        self.assertLess(rates[2], 0.001)
        self.train("stuck", "--epochs", 4, "--schedule", "plateau", "--plateau-patience", 0, "--lr", "1e-7",
                   "--dropout", 0)
        rates = [m["lr"] for m in self.metrics("stuck")]
        self.assertEqual(rates[0], 1e-7)
        self.assertIn(5e-8, rates)

    def test_patience_waits_for_a_validation(self):
        self.train("rare", "--epochs", 12, "--eval-every", 4, "--patience", 2, "--lr", 0.01)
        validated = [m["epoch"] for m in self.metrics("rare") if m["valid_accuracy"] is not None]
        self.assertEqual(validated, list(range(4, validated[-1] + 1, 4)))
        self.assertGreater(len(validated), 1)

    def test_scores_that_are_not_numbers_are_an_error(self):
        result = self.train("burst", "--epochs", 1, "--lr", "1e30", "--batch-size", 4000, expect=1)
        self.assertIn("valid nodes are not numbers", result.stderr)
        self.assertIn("failed", json.loads((self.work / "burst/run.json").read_text())["status"])

    def test_nodes_without_labels_are_not_scored(self):
        store = self.work / "unlabelled"
        shutil.copytree(self.store, store)
        labels = bytearray((store / "labels.npy").read_bytes())
        for node in npy_ints(store / "valid.npy"):
            labels[4096 + 4 * node:4100 + 4 * node] = b"\xff" * 4
        (store / "labels.npy").write_bytes(labels)
        # As a program writes it that leaves these labels out, and without the seal that an edit would break.
        verified = run("salient-prepare", "verify", store)
        manifest = json.loads((store / "dataset.json").read_text())
        del manifest["checksum"]
        manifest["files"]["labels.npy"]["xxh3"] = re.search(r"checksum (\w+), dataset.json says", verified.stderr)[1]
        (store / "dataset.json").write_text(json.dumps(manifest, indent=2))
        result = self.train("unlabelled-run", "--epochs", 2, dataset=store)
        self.assertIn("no validation node has a label", result.stderr)
        self.assertRegex(result.stdout.splitlines()[0], "^test accuracy")
        self.assertEqual([m["valid_accuracy"] for m in self.metrics("unlabelled-run")], [None, None])
        outcome = json.loads((self.work / "unlabelled-run/run.json").read_text())["result"]
        self.assertIn("test_accuracy", outcome)
        self.assertTrue(all(name.startswith("test_") for name in outcome), outcome)

    def test_a_trial_is_a_run_directory_of_one_program(self):
        self.train("locked", "--epochs", 1, "--trials", 2)
        with open_directory(self.work / "locked/trial-1") as folder:
            fcntl.flock(folder, fcntl.LOCK_EX)
            again = run("salient-train", "--resume", self.work / "locked", "--log-level", "off")
            self.assert_refused(again, 2, "trial-1", "another program")

    def test_a_run_is_found_from_any_folder(self):
        (self.work / "elsewhere").mkdir()
        made = run("salient-train", "--dataset", "./graph", "--data-root", ".", "--out", "relative", "--epochs", 1,
                   *SMALL, cwd=self.work)
        self.assertEqual(made.returncode, 0, made.stderr)
        for args in (["salient-train", "--resume", "../relative", "--epochs", 2],
                     ["salient-infer", "--run", "../relative", "--device", "cpu"]):
            with self.subTest(args=args):
                result = run(*args, cwd=self.work / "elsewhere")
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_crash_between_a_checkpoint_and_its_links_loses_nothing(self):
        self.train("uncrashed", "--epochs", 3)
        lines = (self.work / "uncrashed/metrics.csv").read_text()
        best = os.readlink(self.work / "uncrashed/checkpoints/best")
        shutil.copytree(self.work / "uncrashed", self.work / "torn", symlinks=True)
        (self.work / "torn/checkpoints/best").unlink()
        os.symlink("epoch-0009", self.work / "torn/checkpoints/best")
        resumed = run("salient-train", "--resume", self.work / "torn")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(os.readlink(self.work / "torn/checkpoints/best"), best)
        self.assertEqual((self.work / "torn/metrics.csv").read_text(), lines)
        results = [json.loads((self.work / name / "run.json").read_text())["result"] for name in ("uncrashed", "torn")]
        self.assertEqual(results[0], results[1])

    def test_patience_ends_a_run_that_has_stopped_improving(self):
        result = self.train("patience", "--epochs", 50, "--patience", 2, "--lr", "1e-9")
        metrics = self.metrics("patience")
        best = max(range(len(metrics)), key=lambda i: metrics[i]["valid_accuracy"])
        self.assertEqual(len(metrics), best + 3)
        self.assertIn("no better validation result for 2 epochs", result.stderr)
        self.assertEqual(os.readlink(self.work / "patience/checkpoints/latest"), f"epoch-{best + 3:04}")
        again = run("salient-train", "--resume", self.work / "patience")
        self.assertEqual(again.stdout.splitlines()[:2], result.stdout.splitlines()[:2])
        self.assertEqual(self.metrics("patience"), metrics)

    def test_trials_end_with_mean_and_deviation(self):
        result = self.train("trials", "--epochs", 2, "--trials", 2, "--seed", 4)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 4, result.stdout)
        self.assertRegex(lines[0], r"^valid accuracy 0\.\d{4} \+- 0\.\d{4} \(2 trials\)$")
        self.assertRegex(lines[1], r"^test accuracy 0\.\d{4} \+- 0\.\d{4} \(2 trials\)$")
        self.assertEqual(lines[3], f"run directory {self.work / 'trials'}")
        self.train("seed-5", "--epochs", 2, "--seed", 5)
        self.assertEqual(self.losses("trials/trial-2"), self.losses("seed-5"))
        results = [json.loads((self.work / f"trials/trial-{i}/run.json").read_text())["result"] for i in (1, 2)]
        tests = [r["test_accuracy"] for r in results]
        summary = json.loads((self.work / "trials/run.json").read_text())
        self.assertEqual(summary["status"], "finished")
        self.assertAlmostEqual(summary["result"]["test_accuracy"], sum(tests) / 2)
        self.assertAlmostEqual(summary["result"]["test_accuracy_deviation"], abs(tests[0] - tests[1]) / 2 ** 0.5)
        shutil.rmtree(self.work / "trials/trial-2")  # as if it had been stopped before the second trial
        resumed = run("salient-train", "--resume", self.work / "trials")
        self.assertEqual(resumed.stdout.splitlines()[:2], lines[:2])

    def test_binary_tasks_are_scored_by_roc_auc(self):
        binary = self.work / "binary"
        made = run("salient-prepare", "synthetic", "--nodes", 3000, "--mean-degree", 8, "--features", 12,
                   "--classes", 2, "--out", binary)
        self.assertEqual(made.returncode, 0, made.stderr)
        result = self.train("auc", "--epochs", 3, dataset=binary)
        lines = result.stdout.splitlines()
        metrics = self.metrics("auc")
        best = max(metrics, key=lambda m: m["valid_rocauc"])
        self.assertEqual(lines[0], f"valid rocauc {best['valid_rocauc']:.4f}, accuracy {best['valid_accuracy']:.4f} "
                                   f"(epoch {best['epoch']})")
        self.assertRegex(lines[1], r"^test rocauc 0\.\d{4}, accuracy 0\.\d{4}$")
        shown = json.loads((self.work / "auc/run.json").read_text())["result"]
        self.assertAlmostEqual(shown["valid_accuracy"], best["valid_accuracy"])
        self.assertEqual(f"{shown['test_accuracy']:.4f}", lines[1].split()[4])
        resumed = run("salient-train", "--resume", self.work / "auc")
        self.assertEqual(resumed.stdout.splitlines()[:2], lines[:2])
        self.assertGreater(metrics[-1]["valid_rocauc"], 0.6)
        inferred = run("salient-infer", "--run", self.work / "auc", "--checkpoint", "latest", "--nodes", "valid",
                       "--out", self.work / "auc-valid", "--device", "cpu")
        self.assertEqual(inferred.returncode, 0, inferred.stderr)
        self.assertTrue(inferred.stdout.startswith(f"rocauc {metrics[-1]['valid_rocauc']:.4f}, accuracy "),
                        inferred.stdout)
        report = json.loads((self.work / "auc-valid/inference.json").read_text())
        self.assertAlmostEqual(report["rocauc"], metrics[-1]["valid_rocauc"], places=12)
        accuracy = self.train("auc-as-accuracy", "--epochs", 3, "--metric", "accuracy", dataset=binary)
        self.assertTrue(accuracy.stdout.startswith("valid accuracy"))
        self.assertEqual([m["valid_accuracy"] for m in self.metrics("auc-as-accuracy")],
                         [m["valid_accuracy"] for m in metrics])
        self.assert_refused(self.train("auc-of-five", "--metric", "rocauc", "--log-level", "off", expect=2), 2,
                            "ROC AUC", "5 classes", "--metric accuracy")
        other = run("salient-train", "--resume", self.work / "auc", "--metric", "accuracy", "--epochs", 4)
        self.assertEqual(other.returncode, 65)

    def test_a_damaged_checkpoint_is_refused_and_the_whole_one_named(self):
        self.train("damaged", "--epochs", 2)
        weights = self.work / "damaged/checkpoints/epoch-0002/model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4])
        result = run("salient-train", "--resume", self.work / "damaged", "--epochs", 3)
        self.assertEqual(result.returncode, 65)
        error = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(error), 1)
        self.assertIn("model.safetensors", error[0])
        self.assertIn("epoch-0001", error[0])

    def test_divergence_is_exit_1_and_names_the_step(self):
        result = self.train("diverged", "--epochs", 3, "--lr", "1e30", expect=1)
        self.assertRegex(result.stderr, r"salient-train: error: the loss is not a number at epoch \d+, step \d+")
        self.assertIn("failed", json.loads((self.work / "diverged/run.json").read_text())["status"])
        self.assertIn("<b>failed</b>: the loss is not a number", (self.work / "diverged/report.html").read_text())

    def test_a_first_loss_that_is_no_number_names_the_features(self):
        huge = self.work / "huge"
        huge.mkdir()
        npy.write(huge / "x.npy", (40, 2), [2.5e38 if v % 2 else -1e38 for v in range(78)] + [1.0, -3e38], "<f4")
        npy.write_ids(huge / "y.npy", [v % 2 for v in range(40)])
        npy.write(huge / "e.npy", (2, 80), [v % 40 for v in range(80)] + [(7 * v + 1) % 40 for v in range(80)], "<i8")
        made = run("salient-prepare", "edges", "--edges", "e.npy", "--features", "x.npy", "--labels", "y.npy",
                   "--feature-dtype", "f32", "--split", "0.6,0.2,0.2", "--out", "store", cwd=huge)
        self.assertEqual(made.returncode, 0, made.stderr)
        result = self.train("huge-run", "--epochs", 1, "--metric", "accuracy", dataset=huge / "store", expect=1)
        self.assertRegex(result.stderr, r"error: the loss is not a number at epoch 1, step 1, before any update, so it "
                         r"comes from the features: the largest feature is -3e\+38 \(node 39, column 1\); scale them")
        self.assertNotIn("--lr", result.stderr)

    def test_bad_stores_are_refused_and_nothing_is_written(self):
        broken = self.work / "broken"
        out = self.work / "never"
        self.assert_refused(self.train("never", dataset=broken, expect=66), 66, broken)
        for damage, word in ((lambda f: f.unlink(), "indices.npy"), (lambda f: os.truncate(f, 5000), "indices.npy"),
                             (lambda f: f.write_bytes(f.read_bytes()[:-4] + b"\xff\xff\xff\x7f"), "indices.npy")):
            shutil.rmtree(broken, ignore_errors=True)
            shutil.copytree(self.store, broken)
            damage(broken / "indices.npy")
            code = 65 if (broken / "indices.npy").exists() else 66
            self.assert_refused(self.train("never", dataset=broken, expect=code), code, word)
        self.assertFalse(out.exists())

    def test_a_generated_graph_that_does_not_fit_is_refused(self):
        with open("/proc/meminfo") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
        if free > 42e9:
            self.skipTest("this machine has room for synthetic:papers100M")
        result = self.train("too-big", expect=71, dataset="synthetic:papers100M")
        self.assert_refused(result, 71, "synthetic-papers100M", "GB are free")
        self.assertFalse((self.work / "too-big").exists())

    def test_bad_options_are_refused_in_one_line(self):
        for args, words in ((["--fanot", "3"], ["--fanout"]), (["--lr", "0"], ["--lr: above 0"]),
                            (["--lr", "nan"], ["--lr"]), (["--layers", "3", "--fanout", "3,3"], ["--fanout"]),
                            (["--model", "perceptron"], ["perceptron", "sage"]),
                            (["--config", "absent.toml"], ["absent.toml"]),
                            (["--epochs"], ["--epochs"]), (["stray"], ["stray"]),
                            (["--features", "device"], ["--features", "GPU"]),
                            (["--sampler", "device"], ["--sampler"])):
            with self.subTest(args=args):
                result = run("salient-train", "--dataset", self.store, "--device", "cpu", *args)
                self.assert_refused(result, 66 if "--config" in args else 2, *words)
        self.assert_refused(run("salient-train"), 2, "--dataset")
        occupied = self.work / "occupied"
        occupied.mkdir()
        (occupied / "file").write_text("mine")
        self.assert_refused(self.train_into(occupied), 2, "occupied")

    @unittest.skipIf(shutil.which("nvidia-smi"), "a GPU is here")
    def test_what_needs_a_gpu_says_that_there_is_none(self):
        for option in (["--device", "cuda"], ["--precision", "tf32"], ["--step", "resident"], ["--features", "device"],
                       ["--sampler", "device"]):
            with self.subTest(option=option):
                self.assert_refused(run("salient-train", "--dataset", self.store, "--log-level", "off", *option), 69,
                                    option[0])

    def train_into(self, directory):
        return run("salient-train", "--dataset", self.store, "--out", directory, "--log-level", "off", *SMALL)

    def test_precedence_is_command_line_environment_file_default(self):
        config = self.work / "config.toml"
        config.write_text("lr = 0.1\nhidden = 11\nepochs = 9\n")
        printed = run("salient-train", "--dataset", "x", "--config", config, "--lr", "0.3", "--print-config",
                      env={"SALIENT_LR": "0.2", "SALIENT_HIDDEN": "12", "SALIENT_DATA": "/somewhere"}).stdout
        values = dict(re.findall(r"^(\S+) = (.*?)\s+#", printed, re.M))
        self.assertEqual((values["lr"], values["hidden"], values["epochs"], values["dropout"]),
                         ("0.3", "12", "9", "0.5"))
        self.assertEqual(values["data-root"], '"/somewhere"')

    def test_dry_run_prints_the_memory_plan_and_writes_nothing(self):
        result = self.train("dry", "--dry-run")
        self.assertIn("memory plan", result.stdout)
        self.assertFalse((self.work / "dry").exists())
        self.train("dried", "--epochs", 1)
        for args, code, words in ((["--out", self.work / "dried"], 2, ["is not empty"]),
                                  (["--out", self.store / "train.npy/run"], 74, ["cannot write"]),
                                  (["--metric", "f1"], 2, ["F1", "--metric accuracy"]),
                                  (["--resume", self.work / "dried", "--seed", 7], 65, ["seed"])):
            with self.subTest(args=args):
                refused = run("salient-train", "--dataset", self.store, "--dry-run", "--device", "cpu",
                              "--log-level", "off", *args)
                self.assertEqual(refused.returncode, code, refused.stderr)
                for word in words:
                    self.assertIn(word, refused.stderr)

    def test_version_names_the_libraries(self):
        text = run("salient-train", "--version").stdout
        for library in (f"salient-train {programs.version()}\n", "LibTorch", "oneTBB"):
            self.assertIn(library, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
