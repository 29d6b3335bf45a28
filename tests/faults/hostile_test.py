#!/usr/bin/env python3
"""tests/faults/hostile_test.py - closed descriptors, full disks, odd paths, deep JSON, two programs at a time.

    hostile_test.py BIN_DIRECTORY          needs root for a few cases, which are skipped with their reason elsewhere
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import small_runs
from job import wait_until
from small_runs import Programs

PROGRAMS = Programs(sys.argv.pop(1))
CORES = os.sched_getaffinity(0)
DEEP = ["[" * 100000, '{"a":' * 100000]


class Hostile(small_runs.FaultTest):
    PROGRAMS = PROGRAMS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.work.chmod(0o755)  # some programs run as another user

    # Point 10: no foreign data is removed.

    def test_of_two_programs_with_one_out_one_wins(self):
        for attempt in range(4):
            out = self.new(f"out-{attempt}")
            command = [PROGRAMS.folder / "salient-prepare", "synthetic", "--nodes", "20000", "--out", out]
            both = [subprocess.Popen(list(map(str, command)) + ["--rng-seed", str(seed)], stderr=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, text=True) for seed in (1, 2)]
            said = [process.communicate(timeout=300)[1] for process in both]
            codes = [process.returncode for process in both]
            self.assertEqual(sorted(codes), [0, 2], said)
            self.assertIn(str(out), said[codes.index(2)])
            self.assertEqual(PROGRAMS.verify(out).returncode, 0)

    def test_of_two_runs_with_one_out_one_wins(self):
        out = self.new("run")
        command = [PROGRAMS.folder / "salient-train", "--dataset", self.store, "--out", out, "--epochs", 3,
                   *small_runs.TRAIN]
        both = [subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
                for _ in range(2)]
        said = [process.communicate(timeout=300)[1] for process in both]
        self.assertEqual(sorted(process.returncode for process in both), [0, 2], said)
        self.assertEqual(len(small_runs.metrics(out)), 3)

    # Point 13: JSON that is nested too deeply, and what is no file.

    def test_deep_json_is_refused_everywhere(self):
        for number, text in enumerate(DEEP):
            store = self.copy(self.store, f"store-{number}")
            (store / "dataset.json").write_text(text)
            self.assert_ends(PROGRAMS.verify(store), 65)
            self.assert_ends(PROGRAMS.run("salient-prepare", "describe", store), 65)
            for name, code in (("run.json", 65), ("metrics.jsonl", 0), ("confusion.json", 0)):
                run = self.copy(self.run_folder, f"{name}-{number}")
                (run / name).write_text(text)
                self.assert_ends(PROGRAMS.report(run), code)
            run = self.copy(self.run_folder, f"state-{number}")
            (run / "checkpoints/epoch-0002/state.json").write_text(text)
            self.assert_ends(PROGRAMS.resume(run, 3), 65)
            self.assert_ends(PROGRAMS.infer(run, self.new(f"out-{number}"), "--checkpoint", "latest"), 65)
            run = self.copy(self.run_folder, f"metrics-{number}")
            (run / "metrics.jsonl").write_text(text)
            self.assert_ends(PROGRAMS.resume(run, 3), 0)

    def test_a_pipe_as_manifest_does_not_block(self):
        store = self.copy(self.store, "store")
        (store / "dataset.json").unlink()
        os.mkfifo(store / "dataset.json")
        for command in ("verify", "describe"):
            self.assert_ends(PROGRAMS.run("salient-prepare", command, store), 65)

    def test_null_in_the_place_of_a_number(self):
        run = self.copy(self.run_folder, "run")
        (run / "metrics.jsonl").write_text('{"epoch": null, "loss": "x"}\n' + (run / "metrics.jsonl").read_text())
        self.assert_ends(PROGRAMS.report(run), 0)
        self.assert_ends(PROGRAMS.resume(run, 3), 0)
        state = run / "checkpoints/epoch-0003/state.json"
        fields = json.loads(state.read_text())
        del fields["checksum"]
        state.write_text(json.dumps({**fields, "epoch": None}, indent=2) + "\n")
        self.assert_ends(PROGRAMS.resume(run, 4), 65)

    # Point 15: signals while a program starts.

    def test_a_signal_while_a_graph_is_generated(self):
        for count, (signals, ends) in enumerate((([signal.SIGUSR1, signal.SIGTERM], -signal.SIGTERM),
                                                 ([signal.SIGINT], -signal.SIGINT))):
            out = self.new(f"run-{count}")
            command = [PROGRAMS.folder / "salient-train", "--dataset", "synthetic:products:0.5", "--out", out,
                       *small_runs.TRAIN, "--progress", "plain", "--log-level", "info"]
            job = self.start(["taskset", "--cpu-list", min(CORES), *command])
            job.wait_for_line(".*edges")  # the first line of progress
            for number in signals:
                self.assertIsNone(job.process.poll())
                job.signal(number)
                time.sleep(0.3)  # in which it would end, or go on
            self.assertNotIn("opened in", self.finish(job, ends).stderr)  # the graph was never there
            self.assertFalse(out.exists())

    # Point 16: exit codes.

    def test_standard_output_on_a_full_disk(self):
        def start(program, *args):
            with open("/dev/full", "w") as full:
                return subprocess.run([str(PROGRAMS.folder / program), *map(str, args)], stdout=full, text=True,
                                      stderr=subprocess.PIPE, timeout=300)
        for result in (start("salient-prepare", "describe", self.store), start("salient-prepare", "verify", self.store),
                       start("salient-prepare", "--help"), start("salient-report", self.run_folder),
                       start("salient-train", "--dataset", self.store, "--out", self.new("run"), "--epochs", 1,
                             *small_runs.TRAIN),
                       start("salient-train", "--print-config", "--dataset", self.store),
                       start("salient-infer", "--run", self.run_folder, "--out", self.new("out"), *small_runs.INFER)):
            self.assert_ends(result, 74)
            self.assertIn("standard output", result.stderr)

    def test_paths_that_are_not_utf8(self):
        odd = os.fsdecode(os.fsencode(str(self.work)) + b"/caf\xe9")
        self.assert_ends(PROGRAMS.prepare(odd + "-store"), 0)
        self.assert_ends(PROGRAMS.verify(odd + "-store"), 0)
        shutil.copytree(self.run_folder, odd, symlinks=True)
        self.assert_ends(PROGRAMS.infer(odd, odd + "-out", "--dataset", self.store), 0)
        self.assertTrue(os.path.exists(odd + "-out/logits.npy"))
        self.assert_ends(PROGRAMS.report(odd), 0)
        self.assert_ends(PROGRAMS.resume(odd, 3), 0)

    def test_names_that_are_too_long(self):
        name = "x" * 300
        for result in (PROGRAMS.verify(name), PROGRAMS.report(name), PROGRAMS.resume(name, 3),
                       PROGRAMS.infer(name, self.new("out")), PROGRAMS.train(name, self.new("run"), 1),
                       PROGRAMS.run("salient-train", "--config", name)):
            self.assert_ends(result, 66)
        for result in (PROGRAMS.prepare(self.work / name), PROGRAMS.train(self.store, self.work / name, 1),
                       PROGRAMS.infer(self.run_folder, self.work / name)):
            self.assert_ends(result, 74)

    def test_unreadable_is_not_missing(self):
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            self.skipTest("root may read everything, and there is no setpriv to give that up")
        give_up = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        user = Programs(PROGRAMS.folder, launch=give_up)
        store, run = self.copy(self.store, "store"), self.copy(self.run_folder, "run")
        for folder in (store, run):
            folder.chmod(0)
            self.addCleanup(folder.chmod, 0o755)
        for result in (user.verify(store), user.report(run), user.train(store, self.new("out"), 1),
                       user.infer(run, self.new("out")), user.resume(run, 3)):
            self.assert_ends(result, 74)
            self.assertIn("Permission denied", result.stderr)
        run.chmod(0o755)
        for name in ("metrics.jsonl", "metrics.csv"):  # read as missing, their rows would be lost by a resume
            before = (run / name).read_bytes()
            (run / name).chmod(0)
            self.assert_ends(user.resume(run, 3), 74)
            if name == "metrics.jsonl":
                self.assert_ends(user.report(run), 74)
            (run / name).chmod(0o644)
            self.assertEqual((run / name).read_bytes(), before)

    def small_disk(self, options):
        disk = self.new("disk")
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        return disk

    def test_a_full_disk(self):
        disk = self.small_disk("size=160k")
        result = PROGRAMS.train(self.store, disk / "run", 200, "--keep", 50)
        self.assert_ends(result, 74)
        self.assertIn("No space left", result.stderr)
        self.assertNotIn('"running"', (disk / "run/run.json").read_text())
        self.assertEqual(small_runs.temporary_names(disk), [])
        shutil.rmtree(disk / "run")
        (disk / "ballast").write_bytes(bytes(140 << 10))
        self.assert_ends(PROGRAMS.prepare(disk / "store"), 74)
        self.assert_ends(PROGRAMS.infer(self.run_folder, disk / "out"), 74)
        self.assertEqual([p.name for p in disk.iterdir()], ["ballast"])

    def test_no_inodes(self):
        disk = self.small_disk("size=10m,nr_inodes=6")
        self.assert_ends(PROGRAMS.prepare(disk / "store"), 74)
        self.assert_ends(PROGRAMS.train(self.store, disk / "run", 3), 74)

    def test_no_further_threads(self):
        group = pathlib.Path("/sys/fs/cgroup/pids") / f"salient-test-{os.getpid()}"
        try:
            group.mkdir()
            self.addCleanup(group.rmdir)
            (group / "pids.max").write_text("1")
        except OSError as error:
            self.skipTest(f"cannot limit the number of threads: {error}")
        alone = {"preexec_fn": lambda: (group / "cgroup.procs").write_text(str(os.getpid()))}
        refusals = []
        for limit in (1, 2, 3, 5):  # LibTorch's pool, oneTBB, the loader: who comes when differs
            (group / "pids.max").write_text(str(limit))
            for threads in (1, 3):
                run, out = self.new(f"run-{limit}-{threads}"), self.new(f"out-{limit}-{threads}")
                more = ("--threads", threads)
                for result in (PROGRAMS.prepare(self.new("store"), "--force", *more, **alone),
                               PROGRAMS.run("salient-prepare", "verify", self.store, *more, **alone),
                               PROGRAMS.train(self.store, run, 1, *more, **alone),
                               PROGRAMS.infer(self.run_folder, out, *more, **alone),
                               PROGRAMS.report(self.run_folder, **alone)):
                    self.assert_ends(result, 0, 71)
                    refusals += [] if result.returncode == 0 else small_runs.error_lines(result)
        self.assertTrue(refusals)
        for line in refusals:
            self.assertRegex(line, "no further thread can be started; `ulimit -u` .* allows no more$")

    # Point 14: refused, not killed for memory.

    def peak_bytes(self, command, **more):
        """(result, most resident memory) of a program."""
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=said, text=True, **more)
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            process.stdout.close()
            said.seek(0)
            return subprocess.CompletedProcess(command, process.returncode, out, said.read()), usage.ru_maxrss * 1024

    def test_a_large_model_is_planned_and_not_made(self):
        four_gigabytes = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))}
        for model in ("sage", "gat", "gatv2", "gcn", "gin", "sage-ri", "transformer"):
            command = [PROGRAMS.folder / "salient-train", "--dataset", self.store, "--device", "cpu", "--model", model,
                       "--hidden", 24000, "--fanout", "2,2,2,2", "--workers", 1, "--dry-run"]
            result, peak = self.peak_bytes(command, **four_gigabytes)
            self.assertIn(result.returncode, (0, 71), result.stderr)  # by the machine's memory
            self.assertRegex(result.stdout, r"parameters, gradients, Adam moments +\d\d")
            self.assertLess(peak, 1 << 29)

    def test_memory_gb_bounds_a_generated_store(self):
        shapes = ([260000, 15, 100], [900000, 8, 1], [30000, 300, 1], [1500000, 3, 1])
        for nodes, degree, width in shapes:
            command = [PROGRAMS.folder / "salient-prepare", "synthetic", "--nodes", nodes, "--mean-degree", degree,
                       "--features", width, "--progress", "none", "--out", self.new(f"store-{nodes}"), "--memory-gb"]
            refused, _ = self.peak_bytes([*command, 0.03])
            self.assert_ends(refused, 71)
            least = re.search(r"needs about (\S+) GB of memory, --memory-gb allows 0.03 GB", refused.stderr)[1]
            made, peak = self.peak_bytes([*command, least])
            self.assert_ends(made, 0)
            self.assertLessEqual(peak, float(least) * 1e9)
            self.assertGreater(peak, float(least) * 0.7e9)  # what it asks for is not far from what it takes

    # Point 17: closed standard descriptors.

    def test_closed_descriptors(self):
        expected = small_runs.metrics(self.run_folder)
        for mask in range(1, 8):
            def close():
                for descriptor in range(3):
                    if mask >> descriptor & 1:
                        os.close(descriptor)

            def start(program, *args):
                return subprocess.run([str(PROGRAMS.folder / program), *map(str, args)], preexec_fn=close, timeout=300,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
            store, run = self.new(f"store-{mask}"), self.new(f"run-{mask}")
            self.assertEqual(start("salient-prepare", "synthetic", *small_runs.SYNTHETIC, "--rng-seed", 1, "--progress",
                                   "plain", "--out", store), 0, f"closed: {mask:b}")
            self.assertEqual(PROGRAMS.verify(store).returncode, 0)
            if mask not in (4, 7):
                continue
            plain = [*small_runs.TRAIN[:-6], "--keep", 1, "--progress", "plain"]
            self.assertEqual(start("salient-train", "--dataset", store, "--out", run, "--epochs", 2, *plain), 0)
            self.assertEqual(small_runs.metrics(run), expected)
            self.assertEqual(PROGRAMS.resume(run, 2).returncode, 0)

    # Point 18: readers beside writers.

    def test_many_reports_at_a_time(self):
        run = self.copy(self.run_folder, "run")
        command = [str(PROGRAMS.folder / "salient-report"), str(run)]
        reports = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for _ in range(16)]
        said = [report.communicate(timeout=300)[1] for report in reports]
        self.assertEqual([report.returncode for report in reports], [0] * 16, said)
        self.assertTrue((run / "report.html").read_text().rstrip().endswith("</html>"))
        self.assertEqual(small_runs.temporary_names(run), [])

    def test_a_report_beyond_the_file_size_limit(self):
        run = self.copy(self.run_folder, "run")
        before = (run / "report.html").read_bytes()
        result = PROGRAMS.report(run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assert_ends(result, 74)
        self.assertEqual((run / "report.html").read_bytes(), before)
        self.assertEqual(small_runs.temporary_names(run), [])

    def test_inference_beside_a_run_that_keeps_one(self):
        run = self.new("run")
        command = [PROGRAMS.folder / "salient-train", "--dataset", self.store, "--out", run, "--epochs", 1000000,
                   *small_runs.TRAIN]
        self.start(command)
        wait_until((run / "checkpoints/best").exists, "a checkpoint")
        for attempt in range(4):
            for checkpoint in ("latest", "best"):
                out = self.new(f"{checkpoint}-{attempt}")
                self.assert_ends(PROGRAMS.infer(run, out, "--checkpoint", checkpoint), 0)


if __name__ == "__main__":
    unittest.main()
