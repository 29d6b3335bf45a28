#!/usr/bin/env python3
"""The back end `cuda` on a GPU: start kernels and the example of the prompts are correct, attacks of cuda_fixtures/ are
rejected with their verdicts.

    cuda_backend_gpu_test.py PROGRAM CASES FIXTURES [start|attacks]    exit 77: no GPU, no driver, or no nvcc
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PROGRAM, CASES, FIXTURES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PARTS = sys.argv[4:] or ["start", "attacks"]
JOBS = max(1, min(6, (os.cpu_count() or 1) // 2))
HANGS = {"endless_loop"}  # alone: they keep the GPU busy until they are killed


def check(case, file, *more, verb="check"):
    result = subprocess.run([PROGRAM, verb, case, file, "--backend", "cuda", *more], text=True, capture_output=True)
    return result.returncode, result.stdout + result.stderr


def check_start_kernel(case):
    code, text = check(case.stem, CASES / "kernels" / f"{case.stem}.cu")
    answer = text if code not in (0, 1) else text.splitlines()[0]
    print(("ok   " if code == 0 else "WRONG"), f"start kernel {case.stem}:", answer, flush=True)
    return code == 0


def check_example(file):
    code, text = check("relu", file)
    is_without_cute = "cute/" in text and "No such file" in text
    print(("ok   " if code == 0 or is_without_cute else "WRONG"), "example in CuTe:", text.splitlines()[0], flush=True)
    return code == 0 or is_without_cute


def check_attack(fixture):
    expected, case, is_timed = re.search(r"^// expect (\S+) case (\S+)( timed)?$", fixture.read_text(), re.M).groups()
    code, text = check(case, fixture, "--run-s", "5", verb="bench" if is_timed else "check")
    fits = code == 1 and any(f": {word}," in text for word in expected.split("|"))
    answer = text.splitlines()[0] if code == 1 else f"exit {code}: {text}"
    print(("ok   " if fits else "WRONG"), f"{fixture.stem}: expected {expected}:", answer, flush=True)
    return fits


first = check("softsign", CASES / "kernels/softsign.cu")
if first[0] in (66, 69):
    print("skipped:", first[1])
    sys.exit(77)
attacks = sorted(FIXTURES.glob("*.cu"))
assert len(attacks) >= 24, f"{len(attacks)} attacks in {FIXTURES}"
results = []
with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    if "start" in PARTS:
        results += pool.map(check_start_kernel, sorted(CASES.glob("*.case")))
        results += pool.map(check_example, [CASES.parent / "prompts/example_cute.txt"])
    if "attacks" in PARTS:
        results += pool.map(check_attack, [one for one in attacks if one.stem not in HANGS])
        results += [check_attack(one) for one in attacks if one.stem in HANGS]
print(f"{len(results)} checked, {results.count(False)} wrong")
sys.exit(not all(results))
