#!/usr/bin/env python3
"""salient-report as a user runs it. What a browser makes of the page is in tests/engine/report/report_browser_test.py.

    salient_report_test.py PROGRAM
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
EVIL = "</script><b id=evil>&"


def metrics_row(epoch):
    return {"epoch": epoch, "step": 10 * epoch, "loss": 1 / epoch, "train_accuracy": 0.9, "valid_accuracy": 0.8,
            "lr": 0.1, "epoch_seconds": 2.0, "train_seconds": 1.5, "blocked_seconds": 0.3, "sample_seconds": 1.0,
            "eval_seconds": 0.5,
            "batches": 4, "seeds": 40, "nodes": 400, "edges": 800, "hop_nodes": [160, 400], "hop_edges": [200, 600]}


class SalientReport(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-report-test-"))
        self.addCleanup(shutil.rmtree, self.work)

    def make_run(self, name, num_epochs, num_classes):
        directory = self.work / name
        directory.mkdir()
        (directory / "run.json").write_text(json.dumps({
            "program": "salient-train 0.1.0", "status": "finished", "dataset": {"name": EVIL, "source": "synthetic"},
            "placement": [{"rank": "0", "host": "here"}], "result": {"test_accuracy": "0.8123"}}))
        (directory / "config.toml").write_text('model = "sage"\nfanout = [4, 3]\n')
        rows = [json.dumps(metrics_row(e + 1)) + "\n" for e in range(num_epochs)]
        (directory / "metrics.jsonl").write_text("".join(rows))
        cells = [[c, (c + d) % num_classes, 9 - 8 * d] for c in range(num_classes) for d in (0, 1)]
        (directory / "confusion.json").write_text(json.dumps(
            {"set": "test", "epoch": 1, "num_classes": num_classes, "class_names": [], "cells": cells}))
        return directory

    def report(self, *args, expect=0):
        result = subprocess.run([PROGRAM, *args], text=True, capture_output=True, timeout=300)
        self.assertEqual(result.returncode, expect, result.stderr)
        return result

    def test_it_writes_the_page_of_a_run_and_names_it(self):
        run = self.make_run("a", 3, 4)
        self.assertEqual(self.report(run).stdout, f"{run / 'report.html'}\n")
        page = (run / "report.html").read_text()
        self.assertIn("<b>0.8123</b><span>test accuracy</span>", page)
        self.assertNotIn(EVIL, page)

    def test_it_writes_one_page_of_several_runs(self):
        runs = [self.make_run("a", 3, 4), self.make_run("b", 1, 4)]
        page = self.work / "both.html"
        for out in (["--out", page], [f"--out={page}"]):
            self.assertEqual(self.report(*runs, *out).stdout, f"{page}\n")
            self.assertIn("2 runs compared", page.read_text())
            self.assertNotIn(EVIL, page.read_text())
            page.unlink()
        default = subprocess.run([PROGRAM, *runs], text=True, capture_output=True, timeout=300, cwd=self.work)
        self.assertEqual((default.returncode, default.stdout), (0, "comparison.html\n"), default.stderr)
        self.assertTrue((self.work / "comparison.html").exists())
        self.assertFalse((runs[0] / "report.html").exists())

    def test_bad_calls_end_with_one_line_and_their_exit_code(self):
        run = self.make_run("a", 1, 2)
        for args, code, word in (([], 2, "run directory"), ([run, "--out"], 2, "--out"),
                                 ([run, run, "--out", self.work], 2, "folder"),
                                 ([run, self.work / "absent"], 66, "absent"),
                                 ([run, run, "--out", self.work / "no" / "page.html"], 74, "no"),
                                 (["--what"], 2, "--what"), ([self.work], 66, "run.json"),
                                 ([self.work / "absent"], 66, "absent")):
            with self.subTest(args=args):
                lines = self.report(*args, expect=code).stderr.splitlines()
                self.assertEqual(len(lines), 1)
                self.assertIn(word, lines[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
