#!/usr/bin/env python3
"""How a job ends when one rank fails: all processes gone in seconds, the reason printed once, the right exit code.

usage: rank_failures.py cpu|gpu FAILING_RANK_PROGRAM MPIEXEC [FLAGS...]      gpu: two ranks over NCCL, on a GPU each

From a bundle made with scripts/bundle.sh --tests gpu --with-mpi, on a machine with two GPUs:
    bin/salient-env python3 tests/rank_failures.py gpu tests/failing_rank bin/mpirun --allow-run-as-root --bind-to none
"""
import pathlib
import re
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from job import Job

WHERE, PROGRAM, LAUNCH = sys.argv[1], sys.argv[2], sys.argv[3:]
NUM_RANKS = 3 if WHERE == "cpu" else 2
LIMIT_S = 90  # for the end of each: a time-out of 8 s or two, and MPI's start and end on a machine ten times slower
AT_ONCE = 4 if WHERE == "cpu" else 1  # cases; most wait for a time-out
CASES = [  # how it fails, which rank, exit code, what the terminal shows once
    ("nothing", 1, 0, ""),
    ("throw", 1, 65, "failing_rank: error: rank 1 on "),
    ("throw", 0, 65, "failing_rank: error: rank 0 on "),
    ("memory", 1, 71, "out of host memory"),
    ("together", 1, 74, "checkpoints/epoch-0001: disk full"),
    ("differ", 1, 2, "the configuration differs from rank 0's: 'b', not 'a'"),
    ("exit", 1, None, ""),  # OpenMPI tells and picks the code
    ("kill", 1, 128 + signal.SIGKILL, "signal 9 (Killed)"),  # OpenMPI 5 breaks the line after "exited on"
    ("crash", 1, 128 + signal.SIGSEGV, "signal 11 (Segmentation fault)"),
    ("stop", 1, 75, "no answer from rank 1 on "),
    ("stop", 0, 75, "no answer from rank 0 on "),
    ("stop-before-mpi", 1, 75, "error: rank 0 on "),
    ("stop-before-mpi", 0, 75, "the start of MPI takes more than 8 s: another rank is stopped, hanging, or cut off"),
    ("stop-at-start", 1, 75, "connecting the ranks takes more than "),
    ("stop-at-end", 1, 75, "the end of MPI takes more than "),
    ("mismatch", 2, 75, "all ranks are alive, but wait in different places"),
]


def code_of(done):
    """mpiexec's exit code. OpenMPI 4.1 at times crashes in PMIx's last function, after it has named the code."""
    named = re.search(r"Exit code: +(\d+)", done.stdout + done.stderr)
    if done.returncode == -signal.SIGSEGV and named and "PMIx_server_finalize" in done.stdout + done.stderr:
        return int(named[1])
    return done.returncode


def problems_of(job, how, rank, code, reason):
    try:
        done = job.end(LIMIT_S)
        job.wait_for_last()
    except AssertionError as error:
        yield str(error)
        return
    finally:
        job.kill()
    output = done.stdout + done.stderr
    if code is not None and code_of(done) != code:
        yield f"exit code {done.returncode}, not {code}\n{output}"
    if code is None and done.returncode == 0:
        yield f"exit code 0\n{output}"
    prints = sum(reason in line for line in output.splitlines()) if reason else 1
    if prints != 1:
        yield f"the reason '{reason}' is printed {prints} times\n{output}"
    print(f"{how:15} on rank {rank}: exit code {done.returncode}", flush=True)


if WHERE == "gpu":
    trial = subprocess.run([*LAUNCH, "-np", "2", PROGRAM, "nothing", "1", "gpu"], capture_output=True, check=False)
    if trial.returncode == 77:
        print("skipped: fewer than two GPUs")
        sys.exit(77)
    CASES = [case for case in CASES if case[0] != "mismatch"]  # two different calls on a stream are not NCCL's to tell
    CASES.append(("flood", 1, 75, "no answer from rank 1 on "))  # stopped, and the others' launches block
failed = False
for first in range(0, len(CASES), AT_ONCE):
    cases = CASES[first:first + AT_ONCE]
    jobs = [Job([*LAUNCH, "-np", NUM_RANKS, PROGRAM, how, rank, WHERE]) for how, rank, _, _ in cases]
    for job, case in zip(jobs, cases):
        for problem in problems_of(job, *case):
            failed = True
            print(f"FAILED: {case[0]} on rank {case[1]}: {problem}")
sys.exit(failed)
