#!/usr/bin/env python3
"""scripts/reproduce_accuracy.py says what it does while it trains; the program that trains is one of this test.

    trainings_test.py SOURCE_DIRECTORY
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
TRAIN = """#!/usr/bin/env python3
import json, pathlib, sys, time
words = dict(zip(sys.argv[1:], sys.argv[2:]))
out = pathlib.Path(words["--out"])
for trial in (1, 2):
    print(f"trial {trial} of 2, seed {trial}", file=sys.stderr)
    for epoch in range(1, int(words["--epochs"]) + 1):
        time.sleep(0.02)
        print(f"epoch {epoch}: loss 0.5, valid accuracy 0.9, 0.02 s", file=sys.stderr, flush=True)
    (out / f"trial-{trial}").mkdir(parents=True)
    result = {"status": "finished", "result": {"test_accuracy": 0.9 + trial / 100}}
    (out / f"trial-{trial}" / "run.json").write_text(json.dumps(result))
sys.exit(int((out.parent / "code").read_text()))
"""


class Trainings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="salient-trainings-")
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)
        (self.work / "data" / "wordnet").mkdir(parents=True)
        (self.work / "data" / "wordnet" / "dataset.json").write_text("{}")
        (self.work / "salient-train").write_text(TRAIN)
        (self.work / "salient-train").chmod(0o755)

    def reproduce(self, code):
        (self.work / "code").write_text(str(code))
        command = [SOURCE / "scripts/reproduce_accuracy.py", "wordnet gcn", "--trials", "2", "--bin", self.work,
                   "--work", self.work]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    def test_a_row_says_how_far_it_is_and_what_it_reached(self):
        done = self.reproduce(0)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second, *rest = done.stderr.splitlines()
        self.assertEqual(first, "row 1 of 1: wordnet gcn plain")
        shown = re.fullmatch(r"wordnet-gcn-plain: epoch 1: loss 0.5, valid accuracy 0.9, 0.02 s; "
                             r"1 of 40 epochs, ([0-9.]+) min left", second)
        self.assertIsNotNone(shown, done.stderr)
        self.assertLess(float(shown[1]), 5)
        self.assertEqual(rest, [], "at most one line in ten seconds")
        self.assertIn("0.9150 +- 0.0071", done.stdout)

    def test_an_error_comes_with_the_command_and_what_it_said(self):
        done = self.reproduce(3)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"salient-train .*--dataset .*wordnet .*\n(trial|epoch)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
