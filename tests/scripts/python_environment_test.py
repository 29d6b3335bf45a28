#!/usr/bin/env python3
# tests/scripts/python_environment_test.py - where the Python package's tests take their Python from.
"""    python_environment_test.py SOURCE_FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()


class PythonEnvironment(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.TemporaryDirectory(prefix="salient-python-test-")
        self.addCleanup(self.cache.cleanup)

    def output(self, *command, expect=0, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "SALIENT_TEST_PYTHON"}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env={**environment, "XDG_CACHE_HOME": self.cache.name, **variables})
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout

    def folder(self, script=SOURCE / "scripts/lib/python.sh"):
        return pathlib.Path(self.output(script))

    def test_clones_that_want_other_packages_have_other_folders(self):
        other = pathlib.Path(self.cache.name, "clone/scripts/lib")
        other.mkdir(parents=True)
        for name in ("common.sh", "python.sh"):
            text = (SOURCE / "scripts/lib" / name).read_text()
            (other / name).write_text(text.replace("numpy==2", "numpy==1"))
            (other / name).chmod(0o755)
        self.assertEqual(self.folder().parent, pathlib.Path(self.cache.name, "salient"))
        self.assertNotEqual(self.folder(), self.folder(other / "python.sh"))

    def run_tests(self, expect, **variables):
        return self.output(sys.executable, SOURCE / "tests/python/run_tests.py", SOURCE, self.cache.name, "nowhere",
                           expect=expect, **variables)

    def test_an_environment_that_is_half_made_or_broken_is_an_error_and_none_at_all_is_not(self):
        (self.folder() / "bin").mkdir(parents=True)
        (self.folder() / "bin/python3").symlink_to("/usr/bin/python3")
        self.assertIn("error: ", self.run_tests(1))
        self.assertIn("half made", self.run_tests(1))
        (self.folder() / "bin/python3").unlink()
        (self.folder() / "bin/python3").write_text("#!/bin/sh\nexit 1\n")
        (self.folder() / "bin/python3").chmod(0o755)
        (self.folder() / ".complete").touch()
        self.assertIn("has no numpy", self.run_tests(1))
        self.assertIn("error: ", self.run_tests(1, SALIENT_TEST_PYTHON="/bin/false"))
        self.assertIn("cannot be started", self.run_tests(1, SALIENT_TEST_PYTHON="/nowhere/python3"))
        (self.folder() / "bin/python3").unlink()
        (self.folder() / "bin/python3").symlink_to("/nowhere/python3")
        self.assertIn("cannot be started", self.run_tests(1))
        bare = pathlib.Path(self.cache.name, "bare")
        bare.mkdir()
        (bare / "python3").write_text("#!/bin/sh\nexit 1\n")
        (bare / "python3").chmod(0o755)
        self.assertIn("skipped: ", self.run_tests(77, XDG_CACHE_HOME=str(bare), PATH=f"{bare}:{os.environ['PATH']}"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
