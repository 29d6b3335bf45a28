#!/usr/bin/env python3
"""tests/faults/foreign_test.py - pipes and devices for files, control characters in names, two partitions at a time,
small stacks, more threads than cores.

    foreign_test.py BIN_DIRECTORY
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import unittest

import small_runs
from small_runs import Programs

PROGRAMS = Programs(sys.argv.pop(1))
ODD = "a\x1b[31m\nb\x9b"  # a newline, an escape sequence, and U+009B, which is one byte of it
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # but the ends of lines
FILES_OF_RUN = ["run.json", "config.toml", "checkpoints/epoch-0002/state.json",
                "checkpoints/epoch-0002/model.safetensors"]


class Foreign(small_runs.FaultTest):
    PROGRAMS = PROGRAMS

    def serve(self, run):
        return PROGRAMS.run("salient-serve", "--run", run, "--port", 0, "--device", "cpu", "--checkpoint", "latest")

    def run_with(self, name, make):
        run = self.copy(self.run_folder, "run")
        (run / name).unlink()
        make(run / name)
        return run

    def test_what_is_no_file_in_a_run_ends_at_once(self):
        for name in FILES_OF_RUN:
            for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir):
                run = self.run_with(name, make)
                out = self.new("out")
                self.assert_ends(PROGRAMS.infer(run, out, "--checkpoint", "latest"), 65)
                self.assert_ends(PROGRAMS.resume(run, 3), 65)
                if (PROGRAMS.folder / "salient-serve").exists() and make is os.mkfifo:
                    self.assert_ends(self.serve(run), 65)
        for name in ("run.json", "metrics.jsonl", "confusion.json", "config.toml"):
            self.assert_ends(PROGRAMS.report(self.run_with(name, os.mkfifo)), 0, 65)
        for name in ("metrics.csv", "log.txt"):
            run = self.run_with(name, os.mkfifo)
            self.assert_ends(PROGRAMS.resume(run, 3), 65)

    def test_inputs_that_are_no_files(self):
        pipe = self.new("pipe")
        os.mkfifo(pipe)
        for odd in (pipe, "/dev/zero", self.work):
            self.assert_ends(PROGRAMS.run("salient-prepare", "edges", "--edges", odd, "--out", self.new("o")), 65)
            self.assert_ends(PROGRAMS.run("salient-prepare", "npz", "--file", odd, "--out", self.new("o")), 65)
            self.assert_ends(PROGRAMS.run("salient-train", "--config", odd), 65)
            self.assert_ends(PROGRAMS.infer(self.run_folder, self.new("o"), "--nodes", odd), 2, 65)

    def assert_is_printable(self, result, what):
        for text in (result.stdout, result.stderr):
            self.assertIsNone(RAW.search(text), f"{what}: {text!r}")
            self.assertNotRegex(text, r"(?m)^b", f"{what}: a name begins a line: {text!r}")

    def test_control_characters_in_names(self):
        odd = self.work / ODD
        edges, labels, features = self.work / (ODD + "e.csv"), self.work / (ODD + "y.csv"), self.work / (ODD + "x.csv")
        edges.write_text("".join(f"{v},{(v + 1) % 40}\n" for v in range(40)))
        labels.write_text("id,label\n" + "".join(f'{v},"{ODD}{v % 2}"\n' for v in range(40)))
        features.write_text(f'id,"{ODD}",x\n' + "".join(f"{v},{v % 2},{v}\n" for v in range(40)))
        edges_of = ["salient-prepare", "edges", "--edges", edges, "--make-features", "degree", "--split",
                    "0.5,0.25,0.25", "--name", "odd"]
        store, run, out = odd / "store", odd / "run", odd / "out"
        odd.mkdir()
        shutil.copytree(self.store, store)
        shutil.copytree(self.run_folder, run, symlinks=True)
        results = {
            "prepare": PROGRAMS.run(*edges_of, "--labels", labels, "--out", odd / "new"),
            "columns": PROGRAMS.run(*edges_of[:4], "--name", "odd", "--features", features, "--out", odd / "columns"),
            "option": PROGRAMS.run("salient-prepare", "verify", store, f"--{ODD}"),
            "command": PROGRAMS.run("salient-prepare", ODD), "no store": PROGRAMS.verify(odd / "none"),
            "verify": PROGRAMS.verify(store), "describe": PROGRAMS.run("salient-prepare", "describe", store),
            "partition": PROGRAMS.run("salient-prepare", "partition", store, "--parts", 2),
            "again": PROGRAMS.run("salient-prepare", "partition", store, "--parts", 2),
            "train": PROGRAMS.train(store, odd / "trained", 1), "no run": PROGRAMS.resume(odd / "none", 3),
            "resume": PROGRAMS.run("salient-train", "--resume", run, "--epochs", 3),
            "infer": PROGRAMS.infer(run, out, "--dataset", store), "infer again": PROGRAMS.infer(run, out),
            "report": PROGRAMS.report(run), "comparison": PROGRAMS.run("salient-report", run, run, "--out", odd / "c"),
            "doctor": PROGRAMS.run("salient-doctor", "--dataset", odd / "none"),
            "doctor here": PROGRAMS.run("salient-doctor", "--measure", "false", cwd=odd),
            "serve": PROGRAMS.run("salient-serve", "--run", odd / "none", "--port", 0)}
        for what, result in results.items():
            self.assert_is_printable(result, what)
        for what in ("verify", "describe", "partition", "train", "resume", "infer", "report"):
            self.assertEqual(results[what].returncode, 0, f"{what}: {results[what].stderr}")
        for log in odd.rglob("log.txt"):
            self.assertIsNone(RAW.search(log.read_text()), log)
        (store / "parts.json").write_text(json.dumps({"format": ODD}))
        self.assert_is_printable(PROGRAMS.verify(store), "a word of a file")

    def test_two_partitions_at_a_time(self):
        for attempt in range(6):
            store = self.copy(self.store, "store")
            force = attempt % 2 == 1
            if force:
                self.assert_ends(PROGRAMS.run("salient-prepare", "partition", store, "--parts", 3, "--write-rows"), 0)
            both = [subprocess.Popen(PROGRAMS.command("salient-prepare", "partition", store, "--parts", parts,
                                                      "--write-rows", *(["--force"] if force else [])),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for parts in (2, 4)]
            said = [process.communicate(timeout=300)[1] for process in both]
            codes = [process.returncode for process in both]
            self.assertIn(0, codes, said)
            self.assertTrue(set(codes) <= {0, 2, 74}, said)
            for text, code in zip(said, codes):
                self.assertEqual(len(text.splitlines()), 0 if code == 0 else 1, text)
            self.assertEqual(PROGRAMS.verify(store).returncode, 0)
            self.assertEqual(sorted(p.name for p in store.iterdir() if re.search(r"\.(tmp|npy\.)", p.name)), [])

    def test_a_killed_partition_leaves_the_old_parts_or_the_new_ones(self):
        store = self.copy(self.store, "store")
        partition = ["partition", store, "--write-rows", "--force", "--method", "ranges", "--parts"]
        self.assert_ends(PROGRAMS.run("salient-prepare", *partition, 2), 0)
        for attempt in range(20):
            process = subprocess.Popen(PROGRAMS.command("salient-prepare", *partition, 2 + attempt % 5),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=0.004 * attempt)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self.assert_ends(PROGRAMS.verify(store), 0)
            self.assertTrue((store / "parts.json").exists())
        self.assert_ends(PROGRAMS.run("salient-prepare", *partition, 3), 0)
        self.assertEqual(sorted(p.name for p in store.iterdir() if re.search(r"\.(tmp|npy\.)", p.name)), [])

    def test_small_stacks(self):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))}
        self.assert_ends(PROGRAMS.train(self.store, self.new("run"), 1, **limit), 0)
        self.assert_ends(PROGRAMS.infer(self.run_folder, self.new("out"), **limit), 0)
        if not (PROGRAMS.folder / "salient-serve").exists():
            return
        server = subprocess.Popen(PROGRAMS.command("salient-serve", "--run", self.run_folder, "--port", 0, "--device",
                                                   "cpu"),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **limit)
        self.assertIn("listening on", server.stdout.readline())  # after its first prediction
        server.terminate()
        server.communicate(timeout=300)
        self.assertIn(server.returncode, (0, 143))

    def test_little_memory_ends_a_doctor_with_a_line(self):
        for kib in (150_000, 200_000, 300_000, 400_000):
            size = kib << 10
            limit = {"preexec_fn": lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size))}
            result = PROGRAMS.run("salient-doctor", **limit)
            if result.returncode != 127:  # its libraries need more to be loaded
                self.assert_ends(result, 0, 71)

    def test_more_threads_than_cores_are_said(self):
        many, cores = 8 * os.cpu_count(), len(os.sched_getaffinity(0))
        for result in (PROGRAMS.prepare(self.new("store"), "--threads", many),
                       PROGRAMS.train(self.store, self.new("run"), 1, "--threads", many),
                       PROGRAMS.infer(self.run_folder, self.new("out"), "--workers", many)):
            self.assert_ends(result, 0)
            lines = [line for line in result.stderr.splitlines() if line.startswith("warning: --")]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertRegex(lines[0], rf" {many}: this process may use {cores} cores?")

    def test_a_working_directory_that_is_read_only(self):
        user = Programs(PROGRAMS.folder, launch=["setpriv", "--bounding-set", "-dac_override,-dac_read_search"])
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, and setpriv to give up writing everywhere")
        here = self.new("here")
        here.mkdir(mode=0o555)
        result = user.run("salient-train", "--dataset", self.store, "--epochs", 1, *small_runs.TRAIN, cwd=here)
        self.assert_ends(result, 74)
        self.assertRegex(result.stderr, r"error: runs: cannot write in .*here: Permission denied; .*--out")
        store = self.copy(self.store, "store")
        store.chmod(0o555)
        result = user.run("salient-prepare", "partition", store, "--parts", 2, "--force")
        self.assert_ends(result, 74)
        self.assertRegex(result.stderr, r"error: .*store: cannot write in this folder: Permission denied")


if __name__ == "__main__":
    unittest.main()
