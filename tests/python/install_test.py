# tests/python/install_test.py - the README's first block installs the package, and its first example runs with it.
import os
import pathlib
import re
import shutil
import site
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_COPIED = ("build", "data", "runs", "dist", ".git", ".cache", "__pycache__")


def test_a_clone_is_installed_in_a_virtual_environment(tmp_path):
    for package in ("scikit_build_core", "torch_geometric"):
        pytest.importorskip(package)
    text = (ROOT / "python/README.md").read_text()
    commands = re.search(r"```\n(scripts/setup.sh .*?)```", text, re.DOTALL)[1]
    assert "\npip install ." in commands
    # This machine's packages stay as they are, and what pip would fetch is taken from this environment.
    commands = re.sub(r"^(scripts/setup.sh [^#\n]*)", r"\1 --no-packages ", commands, flags=re.M)
    outer = 'echo "import site; site.addsitedir(\'$PACKAGES\')" >$(echo venv/lib/python3.*/site-packages)/outer.pth'
    commands = re.sub(r"^(.*activate)$", rf"\1\n{outer}", commands, flags=re.M)
    clone = tmp_path / "clone"
    shutil.copytree(ROOT, clone, ignore=lambda folder, names: NOT_COPIED if pathlib.Path(folder) == ROOT else ())
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "PIP_NO_INDEX": "1",
                    "PACKAGES": site.getsitepackages()[0], "CMAKE_ARGS": "-DSALIENT_CUDA=OFF",
                    "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0",
                    "SKBUILD_BUILD_DIR": "build/release/python"}  # fmt: skip
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=clone, env=environment, capture_output=True, text=True,
                          timeout=1500)  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    program = f"DATASET = 'synthetic:arxiv:0.02'\n{example}\nprint(salient_gnn.__file__, len(loader))"
    done = subprocess.run([clone / "venv/bin/python3", "-c", program], cwd=tmp_path, env=environment,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(clone / "venv")), done.stdout
