#!/usr/bin/env python3
# tests/scripts/python_environment_test.py - where the Python package's tests take their Python from.
"""    python_environment_test.py SOURCE_FOLDER"""
import os
import pathlib
import re
import shutil
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

    def test_a_script_that_fails_is_one_line(self):
        clone = pathlib.Path(self.cache.name, "clone")
        (clone / "scripts/lib").mkdir(parents=True)
        script = clone / "scripts/lib/python.sh"
        script.write_text("#!/bin/sh\necho 'python: error: no home' >&2\nexit 2\n")
        script.chmod(0o755)
        (clone / "tests/support").mkdir(parents=True)
        for name in ("python_of_tests.py", "job.py"):
            shutil.copy(SOURCE / "tests/support" / name, clone / "tests/support")
        done = subprocess.run([sys.executable, SOURCE / "tests/python/run_tests.py", clone, "build", "bin"], text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (1, "error: scripts/lib/python.sh: python: error: no home\n"))

    def commands(self, **scripts):
        """@return a PATH that begins with these programs"""
        folder = pathlib.Path(self.cache.name, "commands")
        folder.mkdir(exist_ok=True)
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}")
            (folder / name).chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def make_environment(self, expect, pip_says):
        """Of a python3 whose pip fails. @return standard error"""
        path = self.commands(python3="""case "$*" in
  *EXT_SUFFIX*) echo .so ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python3" ;;
  *) echo "$PIP_SAYS" >&2 && exit 1 ;;
esac
""")
        script = ("program=setup; lib=$0; for part in common wheels python; do . $lib/$part.sh; done;"
                  "variant=cpu; make_cache; install_python")
        done = subprocess.run(["bash", "-c", script, SOURCE / "scripts/lib"], text=True, capture_output=True,
                              env={**os.environ, "XDG_CACHE_HOME": self.cache.name, "PIP_SAYS": pip_says, "PATH": path})
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertRegex(done.stderr, r"\Asetup: error: [^\n]+\n\Z")
        return done.stderr

    def test_a_failing_pip_ends_with_its_reasons_exit_code(self):
        self.assertIn("is full", self.make_environment(74, "ERROR: [Errno 28] No space left on device"))
        self.assertIn("no network", self.make_environment(75, "WARNING: NewConnectionError: unreachable"))
        told = self.make_environment(66, "ERROR: No matching distribution found for numpy==9")
        self.assertIn("numpy==9", told)
        self.make_environment(75, "ERROR: No version (from versions: none)\\nERROR: No matching distribution found")
        self.make_environment(66, "ERROR: Ignored: they require a different python version (from versions: none)")

    def test_a_command_that_fails_ends_the_set_up(self):
        path = self.commands(cmake="echo cmake version 3.31.6\n", python3="""case "$*" in
  *EXT_SUFFIX*) echo .so ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python3" ;;
  *purelib*) echo /nowhere ;;
esac
""")
        version = re.search(r"torch_version=(\S+)", (SOURCE / "scripts/lib/common.sh").read_text())[1]
        torch = pathlib.Path(self.cache.name, f"salient/libtorch-{version}-cpu")
        torch.mkdir(parents=True)
        (torch / ".complete").touch()
        self.output(SOURCE / "scripts/setup.sh", "--cpu", "--no-packages", "--python", expect=1, PATH=path)
        self.assertTrue((self.folder() / "bin").exists())
        self.assertFalse((self.folder() / ".complete").exists())

    def test_an_environment_without_torch_is_refused(self):
        self.output(SOURCE / "scripts/setup.sh", "--no-packages", "--no-torch", "--python", expect=2)

    def test_environments_of_other_clones_are_named(self):
        script = "program=setup; . $0/common.sh; . $0/python.sh; name_other_environments"
        words = ("bash", "-c", script, SOURCE / "scripts/lib")
        self.folder().mkdir(parents=True)
        self.assertEqual(self.output(*words), "")
        other = self.folder().with_name("python-2.10.0-01234567")
        other.mkdir()
        self.assertIn(f"rm -r {other}\n", self.output(*words))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
