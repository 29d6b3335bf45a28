#!/usr/bin/env python3
"""The graph suite: its files are what the cases say, and its references in PyTorch agree with the start kernels, which
the cases' own references judge elsewhere.

    suite_test.py PROGRAM SOURCE_FOLDER"""
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.python_of_tests import python_of_tests  # noqa: E402

PROGRAM, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SUITE, CASES = ROOT / "workbench/suites/graph", ROOT / "workbench/cases"
WRITE = ROOT / "workbench/python/write_suite.py"


class GraphSuite(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-suite-"))
        self.addCleanup(shutil.rmtree, self.work)

    def test_its_files_are_what_the_cases_say(self):
        subprocess.run([sys.executable, WRITE, CASES, SUITE, "cuda", self.work], check=True)
        ours = {file.relative_to(SUITE): file.read_text() for file in SUITE.rglob("*.json*")}
        made = {file.relative_to(self.work): file.read_text() for file in self.work.rglob("*.json*")}
        self.assertEqual(len(made), 2 * 16)
        self.assertEqual(ours, made, "run workbench/python/write_suite.py workbench/cases workbench/suites/graph")

    def test_a_definition_says_what_its_case_says(self):
        definition = json.loads((SUITE / "definitions/gat_aggregate.json").read_text())
        self.assertEqual(definition["inputs"]["weights"], {"shape": ["edges_plus_rows", "heads"], "dtype": "float32"})
        self.assertIn("0 <= indices < rows+others", definition["constraints"])
        self.assertIn("edges_plus_rows == edges+rows", definition["constraints"])
        workload = json.loads((SUITE / "workloads/gat_aggregate.jsonl").read_text().splitlines()[0])["workload"]
        self.assertEqual(workload["axes"]["edges_plus_rows"], 165000)
        self.assertIn("def run(scores, k):", json.loads((SUITE / "definitions/top_k.json").read_text())["reference"])

    def test_references_agree_with_the_start_kernels(self):
        python = python_of_tests()
        subprocess.run([sys.executable, WRITE, CASES, SUITE, "host", self.work / "trace"], check=True)
        imported = subprocess.run([PROGRAM, "import", "flashinfer", "trace", "--out", "cases", "--python", python],
                                  cwd=self.work, text=True, capture_output=True)
        self.assertIn("imported 16 of 16", imported.stdout, imported.stderr)

        def check(name):
            source = (CASES / f"kernels/{name}.cpp").read_text()
            source = re.sub(r"\bunsigned\b(?=\*)", "int", source).replace(" u32 ", " i32 ")  # the form has no u32
            (self.work / f"{name}.cpp").write_text(source)
            return name, subprocess.run([PROGRAM, "check", f"cases/{name}.case", f"{name}.cpp", "--backend", "host",
                                         "--python", python, "--run-s", "120"],
                                        cwd=self.work, text=True, capture_output=True)

        names = sorted(file.stem for file in (self.work / "cases").glob("*.case"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, checked in pool.map(check, names):
                with self.subTest(name=name):
                    self.assertEqual(checked.returncode, 0, checked.stdout[-800:] + checked.stderr[-800:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
