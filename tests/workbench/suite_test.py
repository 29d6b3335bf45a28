#!/usr/bin/env python3
"""The graph suite: its files are what the cases say.

    suite_test.py PROGRAM SOURCE_FOLDER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


ROOT = pathlib.Path(sys.argv[2]).resolve()
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
