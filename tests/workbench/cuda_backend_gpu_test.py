#!/usr/bin/env python3
"""The back end `cuda` on a GPU: start kernels and the example of the prompts are correct, attacks of cuda_fixtures/ are
rejected with their verdicts, and somebody's sources of strangers/ become cases whose kernels are correct.

What needs a compiler in Python or a disassembler that is not here is skipped, and counted apart; in a bundle with
share/lowered, which has what such compilers made, nothing is but attacks that those refuse themselves.

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
# Of a language whose compiler, or whose disassembler, is not here.
WITHOUT = re.compile(r"--python names a Python that has|starts a program that is missing|"
                     r"cannot start \S*(python|nvdisasm)")
LOWERED = (PROGRAM.parent.parent / "share/lowered").is_dir()
REFUSED_BY_COMPILERS = {"STATIC_REJECT", "COMPILE_ERROR"}
OK, SKIPPED, WRONG = "ok", "skipped", "WRONG"
HANGS = {"endless_loop"}  # alone: they keep the GPU busy until they are killed


def check(case, file, *more, verb="check"):
    result = subprocess.run([PROGRAM, verb, case, file, "--backend", "cuda", *more], text=True, capture_output=True)
    return result.returncode, result.stdout + result.stderr


def result_of(fits, code, text, *, may_skip):
    if code == 66 and WITHOUT.search(text) and may_skip:
        return SKIPPED
    return OK if fits else WRONG


def said(result, what, answer):
    print(f"{result:8}{what}: {answer}", flush=True)
    return result


def check_start_kernel(file):
    code, text = check(file.name.split(".")[0], file)
    return said(result_of(code == 0, code, text, may_skip=not LOWERED), f"start kernel {file.name}",
                text if code not in (0, 1) else text.splitlines()[0])


def check_example(file):
    code, text = check("relu", file)
    is_without_cute = "cute/" in text and "No such file" in text
    return said(OK if code == 0 else SKIPPED if is_without_cute else WRONG, "example in CuTe", text.splitlines()[0])


def check_attack(fixture):
    expected, case, is_timed = re.search(r"^(?://|#) expect (\S+) case (\S+)( timed)?$", fixture.read_text(),
                                         re.M).groups()
    code, text = check(case, fixture, "--run-s", "5", verb="bench" if is_timed else "check")
    fits = code == 1 and any(f": {word}," in text for word in expected.split("|"))
    return said(result_of(fits, code, text, may_skip=not LOWERED or expected in REFUSED_BY_COMPILERS),
                f"{fixture.name}: expected {expected}", text.splitlines()[0] if code == 1 else f"exit {code}: {text}")


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
    return said(OK if fits else WRONG, f"somebody's {name}", result.stdout[-400:] + result.stderr[-400:] + times)


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
print(f"{len(results)} checked, {results.count(SKIPPED)} skipped, {results.count(WRONG)} wrong")
sys.exit(WRONG in results)
