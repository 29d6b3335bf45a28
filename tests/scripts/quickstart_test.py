#!/usr/bin/env python3
# tests/scripts/quickstart_test.py - the README's first commands as they stand, in a new clone: set-up, build, training;
# then a wheel is made of the clone, and installed.
"""    quickstart_test.py SOURCE_FOLDER BUILD_FOLDER

Two minutes with the compiler's cache of a build like BUILD_FOLDER's, and three for the wheel, whose extension may not
be in the cache; it needs the Python of tests. scripts/test.sh runs the tests SELECTED alone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from python_of_tests import python_of_tests

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SELECTED = "^(core_unit|layers|sizes)$"
LEFT_OUT = (".git", "build", "data", "runs", "dist", ".cache")
CACHE = (BUILD / "CMakeCache.txt").read_text()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def packages_that_lack():
    """Those of scripts/setup.sh: this machine is left as it is."""
    script = "program=test; . scripts/lib/common.sh; . scripts/lib/packages.sh; " \
             'missing_packages "${packages[@]}" "${optional_packages[@]}"'
    return subprocess.run(["bash", "-c", script], cwd=SOURCE, text=True, capture_output=True).stdout.split()


def git(*words, where):
    identity = ["-c", "user.name=test", "-c", "user.email=test@salient.invalid"]
    subprocess.run(["git", *identity, *words], cwd=where, check=True, capture_output=True)


def make_repository(folder):
    """With one commit: the files as they are here, whether they are committed or not."""
    shutil.copytree(SOURCE, folder, symlinks=True,
                    ignore=lambda at, names: [*filter(LEFT_OUT.__contains__, names), "__pycache__"]
                    if pathlib.Path(at) == SOURCE else ["__pycache__"])
    git("init", "--quiet", where=folder)
    git("add", "--all", where=folder)
    git("commit", "--quiet", "--message", "all", where=folder)


def commands_of_readme():
    [block] = re.findall(r"^```\n(git clone.*?)^```", (SOURCE / "README.md").read_text(), re.M | re.S)
    assert re.findall(r"^\S+", block, re.M) == ["git", "scripts/quickstart.sh", "scripts/test.sh"], block
    return block


def is_cached():
    """Whether BUILD_FOLDER has what the commands build, so that the compiler's cache has it: without it the build takes
    half an hour."""
    choice = subprocess.run(["bash", "-c", "program=test; . scripts/lib/common.sh; choose_variant auto; echo $variant"],
                            cwd=SOURCE, text=True, capture_output=True, check=True).stdout.strip()
    has_cuda = re.search(r"^SALIENT_CUDA:\w+=ON$", CACHE, re.M) is not None
    return re.search(r"^CMAKE_BUILD_TYPE:\w+=Release$", CACHE, re.M) is not None and has_cuda == (choice != "cpu")


def architectures():
    """Of the GPU code in BUILD_FOLDER, which the compiler's cache has."""
    found = re.search(r"^CMAKE_CUDA_ARCHITECTURES:\w+=(.+)$", CACHE, re.M)
    return {"CUDAARCHS": found[1]} if found else {}


def test_the_first_commands_end_with_a_trained_model_and_tests_that_passed(work):
    make_repository(work / "repository")
    commands = commands_of_readme().replace("<this repository>", str(work / "repository"))
    environment = {name: value for name, value in os.environ.items() if not re.match(r"SALIENT_|CI$", name)}
    environment |= {"SALIENT_TESTS": SELECTED, **architectures()}
    environment |= {"SALIENT_DATA": str(work / "elsewhere"), "SALIENT_OUT": str(work / "out")}  # the user's, for others
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=work, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-4000:]
    accuracy = float(re.search(r"^test accuracy (0\.\d+)$", done.stdout, re.M)[1])
    assert accuracy > 0.92, accuracy
    [run] = (work / "salient/runs").iterdir()
    assert f"run directory runs/{run.name}" in done.stdout
    assert f"{run}/report.html" in done.stdout and (run / "report.html").stat().st_size > 10000
    assert re.search(r"^tests: 3 passed, 0 failed, 0 skipped", done.stdout, re.M), done.stdout[-500:]
    named = set(re.findall(r"^(salient-[a-z]+)", (SOURCE / "README.md").read_text(), re.M))
    built = {path.name for path in (work / "salient/build/release/bin").iterdir()}
    assert "salient-serve" in named and named <= built, named - built
    print(re.sub(r"(?m)^(?!quickstart:|test:|setup:|valid|test ).*\n", "", done.stdout))


def run(*words, where, **variables):
    done = subprocess.run([str(word) for word in words], cwd=where, text=True, capture_output=True,
                          env={**os.environ, **variables})
    assert done.returncode == 0, (words, done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def test_a_wheel_of_the_clone_has_package_and_programs(work, python):
    """tests/python/install_test.py has what is in a wheel; here its sources are those that a clone has."""
    clone = work / "salient"
    run("scripts/build_wheel.sh", "--cpu", "--build", "build/release", "--python", python, "--out", work / "dist",
        where=clone)
    assert run("git", "status", "--porcelain", where=clone) == ""
    [wheel] = (work / "dist").iterdir()
    run(python, "-m", "venv", "--without-pip", "venv", where=work)
    inside, [packages] = work / "venv/bin/python3", (work / "venv").glob("lib/python3.*/site-packages")
    outer = run(python, "-c", "import site; print(site.getsitepackages())", where=work).strip()
    (packages / "outer.pth").write_text(f"import site; site.addsitedir({outer}[0])\n")  # has torch
    run(python, "-m", "pip", "--python", inside, "install", "--no-deps", "--no-index", wheel, where=work)
    shutil.rmtree(clone)
    version = re.search(r"project\(salient VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    nowhere = {"SALIENT_BIN": "", "PATH": "/usr/bin:/bin", "PYTHONPATH": ""}
    told = run(work / "venv/bin/salient-train", "--version", where=work, **nowhere)
    assert told.startswith(f"salient-train {version}\n"), told
    told = run(inside, "-c", "import salient_gnn; print(salient_gnn.__file__, salient_gnn.__version__)", where=work,
               **nowhere)
    assert told.startswith(f"{work}/venv/") and told.endswith(f" {version}\n"), told
    print(f"quickstart: a wheel of the clone, {wheel.name}")


if not is_cached():
    skip(f"{BUILD} is not the build that the commands make")
for tool in ("git", "ccache"):
    if shutil.which(tool) is None:
        skip(f"no {tool}")
lacking = packages_that_lack()
if lacking:
    skip("scripts/setup.sh would install " + " ".join(lacking))
with tempfile.TemporaryDirectory(prefix="salient-quickstart-") as work:
    test_the_first_commands_end_with_a_trained_model_and_tests_that_passed(pathlib.Path(work))
    if python_of_tests():
        test_a_wheel_of_the_clone_has_package_and_programs(pathlib.Path(work), python_of_tests())
