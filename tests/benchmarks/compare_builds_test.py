#!/usr/bin/env python3
"""benchmarks/compare_builds.py: its verdicts on builds that say what they are told, and one run of a real build.

    compare_builds_test.py SOURCE_DIRECTORY BIN_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT, BIN = pathlib.Path(sys.argv[1]) / "benchmarks/compare_builds.py", sys.argv[2]
FAKE = """#!/usr/bin/env python3
import json, pathlib, sys
seconds = json.loads(pathlib.Path(sys.argv[0]).with_name("seconds.json").read_text())
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
rows = [{"epoch_seconds_median": seconds[options["--model"]]}]
pathlib.Path(options["--json"]).write_text(json.dumps({"rows": rows}))
"""


class CompareBuilds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def build(self, name, program=FAKE, **seconds):
        """A folder with a salient-bench that measures these seconds."""
        folder = self.work / name
        folder.mkdir()
        (folder / "salient-bench").write_text(program)
        (folder / "salient-bench").chmod(0o755)
        (folder / "seconds.json").write_text(json.dumps(seconds))
        return folder

    def compare(self, *arguments):
        return subprocess.run([SCRIPT, *arguments], text=True, capture_output=True)

    def test_a_slower_model_is_named_and_ends_with_1(self):
        before, after = self.build("before", sage=1.0, gin=0.5), self.build("after", sage=1.02, gin=0.6)
        done = self.compare(before, after, "--models", "sage,gin")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^sage +1\.0000, 1\.0000 +1\.0200, 1\.0200 +\+2\.0 %$")
        self.assertRegex(done.stdout, r"(?m)^gin .* \+20\.0 % <$")
        self.assertIn("slower by more than 3 %: gin\n", done.stdout)
        self.assertEqual(self.compare(before, after, "--models", "gin", "--bound", "25").returncode, 0)
        self.assertEqual(self.compare(after, before, "--models", "sage,gin").returncode, 0, "faster is no fault")

    def test_a_real_build_against_itself(self):
        done = self.compare(BIN, BIN, "--models", "gcn", "--rounds", "1", "--bound", "100000", "--dataset",
                            "synthetic:products:0.001", "--", "--device", "cpu", "--epochs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^gcn +\d+\.\d{4} +\d+\.\d{4} +[+-]\d+\.\d %$")

    def test_a_build_that_does_not_run_ends_with_2_and_its_reason(self):
        broken = self.build("broken", "#!/bin/sh\necho 'salient-bench: error: there is no GPU' >&2\nexit 69\n")
        done = self.compare(broken, broken, "--models", "sage")
        self.assertEqual(done.returncode, 2)
        self.assertIn("ended with 69: salient-bench: error: there is no GPU", done.stderr)
        missing = self.compare(self.work / "none", broken)
        self.assertEqual((missing.returncode, "does not run" in missing.stderr), (2, True))
        self.assertEqual(self.compare(broken, broken, "--rounds", "0").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
