#!/usr/bin/env python3
"""The back end `cuda` on a GPU: start kernels and the example of the prompts are correct, attacks of cuda_fixtures/ are
rejected with their verdicts, and somebody's sources of strangers/ become cases whose kernels are correct.

    cuda_backend_gpu_test.py PROGRAM CASES FIXTURES [start|attacks|own]    exit 77: no GPU, no driver, or no nvcc
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, CASES, FIXTURES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PARTS = sys.argv[4:] or ["start", "attacks", "own"]
STRANGERS = FIXTURES.parent / "strangers"
JOBS = max(1, min(6, (os.cpu_count() or 1) // 2))
LANGUAGES = {".cu", ".ptx", ".py"}
WITHOUT = "--python names a Python that has"  # of a language whose compiler is not here
HANGS = {"endless_loop"}  # alone: they keep the GPU busy until they are killed


def check(case, file, *more, verb="check"):
    result = subprocess.run([PROGRAM, verb, case, file, "--backend", "cuda", *more], text=True, capture_output=True)
    return result.returncode, result.stdout + result.stderr


def check_start_kernel(file):
    code, text = check(file.name.split(".")[0], file)
    is_missing = code == 66 and WITHOUT in text
    answer = text if code not in (0, 1) else text.splitlines()[0]
    print(("ok   " if code == 0 or is_missing else "WRONG"), f"start kernel {file.name}:", answer, flush=True)
    return code == 0 or is_missing


def check_example(file):
    code, text = check("relu", file)
    is_without_cute = "cute/" in text and "No such file" in text
    print(("ok   " if code == 0 or is_without_cute else "WRONG"), "example in CuTe:", text.splitlines()[0], flush=True)
    return code == 0 or is_without_cute


def check_attack(fixture):
    expected, case, is_timed = re.search(r"^(?://|#) expect (\S+) case (\S+)( timed)?$", fixture.read_text(),
                                         re.M).groups()
    code, text = check(case, fixture, "--run-s", "5", verb="bench" if is_timed else "check")
    if code == 66 and WITHOUT in text:
        print("ok   ", f"{fixture.name}: its compiler is not here", flush=True)
        return True
    fits = code == 1 and any(f": {word}," in text for word in expected.split("|"))
    answer = text.splitlines()[0] if code == 1 else f"exit {code}: {text}"
    print(("ok   " if fits else "WRONG"), f"{fixture.name}: expected {expected}:", answer, flush=True)
    return fits


OWN = [("softsign", "softsign", ["--formula", "y[i] = x[i] / (1 + abs(x[i]))", "--shapes", "n=16777216"]),
       ("matmul_tiles", "matmul_tiles",
        ["--formula", "C[i < M, j < N] = sum(t, 0, K, A[i*K+t] * B[t*N+j])", "--template", "16",
         "--buffers", "A=M*K; B=K*N; C=M*N", "--shapes", "M=1024 N=1024 K=512"])]


def check_own(name, kernel, options):
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([PROGRAM, "new", name, "--from", STRANGERS / f"{name}.cu", "--kernel", kernel, *options,
                                 "--backend", "cuda", "--out", folder], text=True, capture_output=True)
        fits = result.returncode == 0 and "ACCEPTED" in result.stdout
        times = check(f"{folder}/{name}.case", f"{folder}/kernels/{name}.cu", verb="bench")[1] if fits else ""
    print(("ok   " if fits else "WRONG"), f"somebody's {name}:", result.stdout[-400:], result.stderr[-400:], times,
          flush=True)
    return fits


first = check("softsign", CASES / "kernels/softsign.cu")
if first[0] in (66, 69):
    print("skipped:", first[1])
    sys.exit(77)
attacks = sorted(one for one in FIXTURES.iterdir() if one.suffix in LANGUAGES)
assert len(attacks) >= 60, f"{len(attacks)} attacks in {FIXTURES}"
results = []
with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    if "start" in PARTS:
        results += pool.map(check_start_kernel, sorted(one for case in CASES.glob("*.case")
                                                       for one in CASES.glob(f"kernels/{case.stem}.*")
                                                       if one.suffix in LANGUAGES))
        results += pool.map(check_example, [CASES.parent / "prompts/example_cute.txt"])
    if "own" in PARTS:
        results += [check_own(*one) for one in OWN]
    if "attacks" in PARTS:
        results += pool.map(check_attack, [one for one in attacks if one.stem not in HANGS])
        results += [check_attack(one) for one in attacks if one.stem in HANGS]
print(f"{len(results)} checked, {results.count(False)} wrong")
sys.exit(not all(results))
