#!/usr/bin/env python3
"""KernelBench's evaluator as a harness: its own function judges, with its defaults but for the number of trials.

    salient-kernels attack --harness 'python3 workbench/adapters/kernelbench_harness.py [--correct N] [--timed N]'

Needs the package kernelbench (https://github.com/ScalingIntelligence/KernelBench) and a GPU.
"""
import argparse
import inspect
import sys

from harness import main

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--correct", type=int, default=5, help="trials of correctness")
options.add_argument("--timed", type=int, default=20, help="timed trials")
given = options.parse_args()
try:
    from kernelbench import eval as evaluator
except ImportError:
    try:
        from src import eval as evaluator  # as it was called before it was a package
    except ImportError:
        sys.exit("kernelbench_harness.py: the package kernelbench is not installed")


def judge(question):
    wanted = {"num_correct_trials": given.correct, "num_perf_trials": given.timed, "measure_performance": True}
    known = inspect.signature(evaluator.eval_kernel_against_ref).parameters
    result = evaluator.eval_kernel_against_ref(question["problem_source"], question["source"],
                                               **{name: value for name, value in wanted.items() if name in known})
    if result is None or not result.compiled or not result.correctness:
        facts = {} if result is None else result.metadata
        return "rejected", "; ".join(f"{name}: {facts[name]}" for name in list(facts)[-2:]), None
    if result.metadata.get("excessive_speedup"):
        return "rejected", "its speedup is excessive", None
    of_reference, own = getattr(result, "ref_runtime", -1), getattr(result, "runtime", -1)
    has_times = own is not None and of_reference is not None and own > 0 and of_reference > 0
    return "accepted", "", of_reference / own if has_times else None


main("KernelBench", ["python"], judge)
