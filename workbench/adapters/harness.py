# workbench/adapters/harness.py - the protocol of `salient-kernels attack`, for adapters of referees.
"""A harness is a program that judges candidates: it says who it is, then answers one question a line.

    from harness import serve
    serve("my referee", ["python"], judge)

judge(question) returns (verdict, reason, speedup): "accepted", "rejected" or "unable"; speedup in times of the
reference, or None where nothing is measured. question has name, language, source (a module with ModelNew), problem
(its name), problem_source (a module with Model, get_inputs() and get_init_inputs(), and SPEC, which names axes, inputs
and outputs). Whatever judge() raises is "rejected": a referee that fails has not accepted.

Standard output is the protocol's: what candidates print goes to standard error.
"""
import json
import os
import sys


def serve(name, languages, judge):
    words, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    print(json.dumps({"harness": name, "languages": languages}), file=answers, flush=True)
    for line in words:
        question = json.loads(line)
        word = question.pop("word")
        try:
            verdict, reason, speedup = judge(question)
        except Exception as error:
            verdict, reason, speedup = "rejected", f"{type(error).__name__}: {error}", None
        print(json.dumps({"word": word, "verdict": verdict, "reason": str(reason)[:300], "speedup": speedup}),
              file=answers, flush=True)


def module_of(source, name):
    """The names that a module defines."""
    names = {"__name__": name}
    exec(compile(source, name + ".py", "exec"), names)
    return names


def main(name, languages, judge):
    """serve(), or what is missing in one line."""
    try:
        serve(name, languages, judge)
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
