#!/usr/bin/env python3
# tests/scripts/workbench_gpu_test.py - the commands of docs/KERNELS.md for a machine with a GPU, run in a bundle.
"""    workbench_gpu_test.py SOURCE_FOLDER BUILD_FOLDER       needs nvcc

Without a GPU the runs are of the host's back end, and what needs the device alone says so and is left out.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
path = f"{os.environ['PATH']}:{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin"
if shutil.which("nvcc", path=path) is None:
    print("skipped: no nvcc, which scripts/workbench_gpu.sh needs")
    sys.exit(77)
[block] = re.findall(r"^```\n(scripts/workbench_gpu.sh test .*?)^```", (SOURCE / "docs/KERNELS.md").read_text(),
                     re.MULTILINE | re.DOTALL)

with tempfile.TemporaryDirectory(prefix="salient-workbench-") as folder:
    bundle = pathlib.Path(folder) / "bundle"
    subprocess.run([SOURCE / "scripts/bundle.sh", "--workbench", "--build", BUILD, "--out", bundle], check=True)
    has_gpu = True
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words[1] == "baselines" and not has_gpu:
            print(f"left out, it times the GPU: {shlex.join(words)}")
            continue
        options = "--rounds 1" if has_gpu else "--rounds 1 --backend host"
        done = subprocess.run(words, cwd=bundle, env={**os.environ, "PATH": path, "OPTIONS": options}, text=True,
                              capture_output=True)
        print(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
        if words[1] == "test" and done.returncode == 77:
            has_gpu = False
            continue
        assert done.returncode == 0, words
        if words[1] == "baselines":
            assert (bundle / words[2]).exists()
        elif words[1] == "start":
            for run in words[3:]:
                assert list((bundle / words[2] / run / "answers").glob("001-*.request.md")), run
        else:
            lines = done.stdout.splitlines() if words[1] in ("advance", "status") else []
            assert all("001-" in told for told in lines) and (lines or words[1] == "test"), lines
