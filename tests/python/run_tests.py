#!/usr/bin/env python3
# tests/python/run_tests.py - builds the Python package's extension and runs its pytest suite. Run by ctest.
"""    run_tests.py SOURCE_FOLDER BUILD_FOLDER PROGRAMS_FOLDER

Python is that of SALIENT_TEST_PYTHON, of `scripts/setup.sh --python`, or python3. Exit code 77 (skipped), with the
reason, where python3 lacks a package or its headers; the other two must have them. The extension is a build of its own,
in BUILD_FOLDER: torch-free, and on the CPU alone. Tests that install the package find it compiled there.
"""
import os
import pathlib
import shutil
import subprocess
import sys

source, build, programs = (pathlib.Path(word).resolve() for word in sys.argv[1:])
sys.path.append(str(source / "tests" / "support"))
from job import Job
from python_of_tests import python_of_tests

SUITE_LIMIT_S = 1800  # of three minutes on an idle machine

meant = python_of_tests()
python = meant or shutil.which("python3")


def stop(reason):
    """Skips, unless this Python was meant: then something broke it."""
    print(f"{'error' if meant else 'skipped'}: {python} {reason}; scripts/setup.sh --python makes an environment")
    sys.exit(1 if meant else 77)


if not shutil.which(str(python)):
    stop("cannot be started")
for module in ("numpy", "nanobind", "pytest", "torch"):
    tried = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
    if tried.returncode != 0:
        stop(f"has no {module} ({(tried.stderr.strip().splitlines() or ['it ended'])[-1]})")
headers = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
                         capture_output=True, text=True, check=True).stdout.strip()
if not pathlib.Path(headers, "Python.h").exists():
    stop(f"has no headers in {headers}")

subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSALIENT_PYTHON=ON",
                "-DSALIENT_CUDA=OFF", f"-DPython_EXECUTABLE={python}"], check=True)
for extension in (build / "python").glob("_core.*"):
    extension.unlink()  # of another Python, which this one might prefer
subprocess.run(["cmake", "--build", build, "--parallel", str(os.cpu_count()), "--target", "salient_python"], check=True)
packages = build / "package"
shutil.rmtree(packages, ignore_errors=True)
for name in ("salient_gnn", "salient_programs"):
    shutil.copytree(source / "python" / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
for extension in (build / "python").glob("_core.*"):
    shutil.copy(extension, packages / "salient_gnn")
environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1", "SALIENT_BIN": str(programs),
               "SALIENT_EXTENSION": str(build)}
# A test that hangs is named, with what each thread does; what it has started ends, too.
suite = Job([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-o", "python_files=*_test.py",
             "-o", "faulthandler_timeout=900", "-o", "faulthandler_exit_on_timeout=true",
             source / "tests" / "python"], environment, cwd=build)
done = suite.end(SUITE_LIMIT_S)
suite.kill()
print(done.stdout, done.stderr, sep="\n")
sys.exit(done.returncode)
