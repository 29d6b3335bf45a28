# tests/python/install_test.py - the README's first block installs the package, and its first example runs with it; so
# does a wheel with the programs. What run_tests.py has compiled is not compiled again.
import os
import pathlib
import re
import shutil
import site
import subprocess
import sys

import pytest
import salient_programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
EXTENSION = pathlib.Path(os.environ.get("SALIENT_EXTENSION", ""))  # its build folder
PLAIN = {name: value for name, value in os.environ.items()
         if name not in ("PYTHONPATH", "VIRTUAL_ENV", "SALIENT_BIN", "LD_LIBRARY_PATH")}  # fmt: skip
SEES_THIS_PYTHON = f"import site; site.addsitedir({site.getsitepackages()[0]!r})\n"  # a .pth file
# Goes on without the distribution's libraries and OpenMPI. Needs root and overlay mounts.
WITHOUT_PACKAGES = """folder=$1; shift
mount -t tmpfs none $folder
mkdir $folder/upper $folder/work
libraries=/usr/lib/x86_64-linux-gnu
mount -t overlay overlay -o lowerdir=$libraries,upperdir=$folder/upper,workdir=$folder/work $libraries
for name in mpi open-pal open-rte pmix tbb spdlog fmt hwloc xxhash; do rm -f $libraries/lib$name.*; done
if command -v mpirun >/dev/null; then mount --bind /dev/null $(readlink -f $(command -v mpirun)); fi
exec "$@" """


def run(*command, expect=0, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **{"timeout": 800, **options})
    assert done.returncode == expect, done.stdout[-2000:] + done.stderr[-2000:]
    return done


def test_a_clone_is_installed_in_a_virtual_environment(tmp_path):
    for package in ("scikit_build_core", "torch_geometric"):
        pytest.importorskip(package)
    text = (ROOT / "python/README.md").read_text()
    commands = re.search(r"```\n(scripts/setup.sh .*?)```", text, re.DOTALL)[1]
    # This machine's packages stay as they are, and what pip would fetch is taken from this environment.
    commands = re.sub(r"^(scripts/setup.sh [^#\n]*)", r"\1 --no-packages ", commands, flags=re.M)
    outer = 'echo "$SEES" >$(echo venv/lib/python3.*/site-packages)/outer.pth'
    commands = re.sub(r"^(.*activate)$", rf"\1\n{outer}", commands, flags=re.M)
    assert "\npip install ." in commands
    commands = commands.replace("pip install .", f"pip install {ROOT}")  # the environment is not made in the clone
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    environment = {**PLAIN, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "PIP_NO_INDEX": "1",
                   "SEES": SEES_THIS_PYTHON, "CMAKE_ARGS": "-DSALIENT_CUDA=OFF", "PIP_NO_DEPS": "1",
                   "PIP_NO_BUILD_ISOLATION": "0", "SKBUILD_BUILD_DIR": str(EXTENSION)}  # fmt: skip
    run("bash", "-e", "-c", commands, cwd=tmp_path, env=environment, timeout=1500)
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    program = f"DATASET = 'synthetic:arxiv:0.02'\n{example}\nprint(salient_gnn.__file__, len(loader))"
    python = tmp_path / "venv/bin/python3"
    assert run(python, "-c", program, cwd=tmp_path, env=environment).stdout.startswith(str(tmp_path / "venv"))
    told = run(tmp_path / "venv/bin/salient-train", env={**environment, "PATH": "/usr/bin:/bin"}, expect=66).stderr
    assert "which was made without the programs" in told and told.count("\n") == 1


def make_environment(folder):
    """A virtual environment that sees this Python's packages; returns its site-packages."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    [packages] = folder.glob("lib/python3.*/site-packages")
    (packages / "outer.pth").write_text(SEES_THIS_PYTHON)
    return packages


@pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="SALIENT_BIN has none")
def test_a_wheel_has_the_programs(tmp_path):
    pytest.importorskip("scikit_build_core")
    assert EXTENSION == BIN.parent / "python_package"
    run(ROOT / "scripts/build_wheel.sh", "--cpu", "--build", BIN.parent, "--python", sys.executable, "--out", tmp_path)
    [wheel] = tmp_path.glob("salient_gnn-*.whl")
    packages = make_environment(tmp_path / "venv")
    run(sys.executable, "-m", "pip", "--python", tmp_path / "venv/bin/python3", "install", "--no-deps", "--no-index",
        wheel)  # fmt: skip
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}

    def start(name, *words, expect=0, **variables):
        return run(tmp_path / "venv/bin" / name, *words, expect=expect, env={**environment, **variables})

    # Nothing in it is where this machine has it.
    home = packages / "salient_programs"
    programs = sorted(path.name for path in (home / "libexec").iterdir())
    assert programs == sorted(f"salient-{name}" for name in ("doctor", "infer", "prepare", "report", "serve", "train"))
    for name in programs:
        assert "PATH)" not in run("readelf", "-d", home / "libexec" / name).stdout
    needed = run("ldd", *(packages / "salient_gnn").glob("_core*.so"), env=environment).stdout
    for name in ("libtbb", "libxxhash"):
        assert re.search(rf"{name}\S* => (\S+)", needed)[1].startswith(str(tmp_path)), needed
    assert "libtbb12" in {path.name for path in (home / "licenses").iterdir()}

    # They run, from the shell and from Python, alone and as ranks by the OpenMPI in it.
    for name in programs:
        assert start(name, "--version").stdout.startswith(f"{name} {wheel.name.split('-')[1]}\n")
    small = ["--dataset", "synthetic:arxiv:0.01", "--device", "cpu", "--hidden", 8, "--epochs", 1, "--layers", 2,
             "--fanout", "3,3", "--eval-fanout", "3,3", "--workers", 1, "--threads", 1]  # fmt: skip
    assert re.search("^test accuracy ", start("salient-train", *small, "--out", tmp_path / "run").stdout, re.M)
    told = run(tmp_path / "venv/bin/python3", "-c", "import salient_gnn, sys; print(salient_gnn.__file__); "
               "print(len(salient_gnn.predict(sys.argv[1], device='cpu').classes))", tmp_path / "run", env=environment)
    assert told.stdout.startswith(str(packages)) and int(told.stdout.split()[1]) > 0
    (tmp_path / "mount").mkdir()
    hidden = ["unshare", "--mount", "sh", "-e", "-c", WITHOUT_PACKAGES, "sh", tmp_path / "mount"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode == 0:
        run(*hidden, tmp_path / "venv/bin/python3", "-c", "import salient_gnn", env=environment)
        if (home / "lib/mpi").exists():
            ranks = run(*hidden, tmp_path / "venv/bin/salient-train", *small, "--ranks", 2, "--out",
                        tmp_path / "ranks", env=environment)  # fmt: skip
            assert "between 2 ranks" in ranks.stderr and "Sorry" not in ranks.stderr, ranks.stderr

    # Without torch, or with another one, they say so in a line.
    (packages / "outer.pth").unlink()
    assert "pip install torch==" in start("salient-train", "--version", expect=66).stderr
    start("salient-prepare", "--version")
    (packages / "torch").mkdir()
    (packages / "torch/__init__.py").touch()
    (packages / "torch/version.py").write_text("__version__ = '2.9.1+cpu'\n")
    told = start("salient-train", "--version", expect=66).stderr
    assert f"which has 2.9.1+cpu in {packages / 'torch'}" in told and told.count("\n") == 1


def test_mpirun_of_a_bundle_keeps_the_agent_that_torchrun_needs(tmp_path):
    for name, text in (("bin/mpirun", (ROOT / "scripts/lib/salient-env.sh").read_text()),
                       ("usr/bin/orterun", '#!/bin/sh\necho "agent $OMPI_MCA_plm_rsh_agent"\n')):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tools").mkdir()
    for tool in ("cut", "dirname", "getent", "grep", "readlink", "sed", "sort", "uname"):  # neither ssh nor rsh
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool))
    (tmp_path / "tools/sh").symlink_to("/bin/sh")
    for given, agent in (({}, "true"), ({"OMPI_MCA_plm_rsh_agent": "/bin/sh /tmp/agent"}, "/bin/sh /tmp/agent")):
        told = run(tmp_path / "bin/mpirun", env={"PATH": str(tmp_path / "tools"), "HOME": "/", **given}).stdout
        assert told == f"agent {agent}\n"


# A Python whose pip makes a wheel that lists the programs it was given.
PYTHON_WITH_PIP = """#!/bin/sh
if [ "$1" = -c ]; then exit {code}; fi
for word; do
  case $word in *SALIENT_PROGRAMS=*) programs=${{word##*=}} ;; esac
  if [ "$before" = --wheel-dir ]; then folder=$word; fi
  before=$word
done
mkdir -p "$folder" && ls "$programs/libexec" >"$folder/salient_gnn-{name}.whl"
"""


@pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="SALIENT_BIN has none")
def test_one_call_makes_a_wheel_for_each_python(tmp_path):
    for name, code in (("cp310", 0), ("cp312", 0), ("none", 1)):
        (tmp_path / name).write_text(PYTHON_WITH_PIP.format(name=name, code=code))
        (tmp_path / name).chmod(0o755)

    def build(*names, **how):
        words = [word for name in names for word in ("--python", tmp_path / name)]
        return run(ROOT / "scripts/build_wheel.sh", "--cpu", "--build", BIN.parent, *words, "--out", tmp_path / "dist",
                   **how)  # fmt: skip

    told = build("cp310", "none", expect=66).stderr
    assert f"{tmp_path / 'none'} has no pip" in told and not (tmp_path / "dist").exists()
    build("cp310", "cp312")
    wheels = sorted((tmp_path / "dist").iterdir())
    assert [wheel.name for wheel in wheels] == ["salient_gnn-cp310.whl", "salient_gnn-cp312.whl"]
    for wheel in wheels:
        assert wheel.read_text().split() == [f"salient-{name}" for name in
                                             ("doctor", "infer", "prepare", "report", "serve", "train")]  # fmt: skip


def test_commands_of_pip_are_not_taken_for_programs(tmp_path, monkeypatch):
    for name, text in (("a", "#!/usr/bin/python3\nfrom salient_programs import main\n"), ("b", "#!/bin/sh\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "salient-train").write_text(text)
        (tmp_path / name / "salient-train").chmod(0o755)
    monkeypatch.delenv("SALIENT_BIN", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b")
    assert salient_programs.find("salient-train") == f"{tmp_path}/b/salient-train"
    monkeypatch.setenv("PATH", f"{tmp_path}/a")
    with pytest.raises(FileNotFoundError, match="without the programs"):
        salient_programs.find("salient-train")
    monkeypatch.setenv("SALIENT_BIN", str(tmp_path / "b"))
    assert salient_programs.find("salient-train") == f"{tmp_path}/b/salient-train"
    with pytest.raises(FileNotFoundError, match="SALIENT_BIN="):
        salient_programs.find("salient-infer")
