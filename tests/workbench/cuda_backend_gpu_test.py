#!/usr/bin/env python3
"""The back end `cuda` on a GPU: start kernels are correct, attacks of cuda_fixtures/ are rejected with their verdicts.

    cuda_backend_gpu_test.py PROGRAM SOURCE_DIR        exit 77: no GPU, no driver, or no nvcc
"""
import pathlib
import re
import subprocess
import sys

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()


def check(case, file, *more):
    result = subprocess.run([PROGRAM, "check", case, file, "--backend", "cuda", *more], text=True, capture_output=True)
    return result.returncode, result.stdout + result.stderr


first = check("softsign", SOURCE / "workbench/cases/kernels/softsign.cu")
if first[0] in (66, 69):
    print("skipped:", first[1])
    sys.exit(77)
wrong = 0
for case in sorted((SOURCE / "workbench/cases").glob("*.case")):
    code, text = check(case.stem, case.parent / "kernels" / f"{case.stem}.cu")
    print(("ok   " if code == 0 else "WRONG"), "start kernel", text.splitlines()[0] if text else code, flush=True)
    wrong += code != 0
for fixture in sorted((SOURCE / "tests/workbench/cuda_fixtures").glob("*.cu")):
    expected, case = re.search(r"^// expect (\S+) case (\S+)$", fixture.read_text(), re.M).groups()
    code, text = check(case, fixture, "--run-s", "5")
    fits = code == 1 and any(f": {word}," in text for word in expected.split("|"))
    answer = text.splitlines()[0] if text else code
    print(("ok   " if fits else "WRONG"), f"{fixture.stem}: expected {expected}:", answer, flush=True)
    wrong += not fits
print(wrong, "wrong")
sys.exit(wrong > 0)
