#!/usr/bin/env python3
"""The referee of salient-kernels as a harness, for cheats in C++ on its own cases.

    salient-kernels attack --kit tests/workbench/fixtures \\
      --harness 'python3 workbench/adapters/salient_harness.py salient-kernels [OPTION...]'
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import main

command = sys.argv[1:]
if not command:
    sys.exit("salient_harness.py: name the program salient-kernels")


def judge(question):
    if question["promotion"]:
        return "unable", "seen by promote", None
    with tempfile.TemporaryDirectory(prefix="salient-harness-") as folder:
        file = pathlib.Path(folder) / "candidate.cpp"
        file.write_text(question["source"])
        verb = "bench" if question["timed"] else "check"
        words = [command[0], verb, question["problem"], file, "--backend", "host", *command[1:]]
        done = subprocess.run(words, text=True, capture_output=True)
    found = re.search(r"candidate\.cpp: ([A-Z_]+), (.*)", done.stdout)
    if found is None:
        raise RuntimeError(done.stderr.strip()[-200:])
    is_taken = done.returncode == 0 and found[1] == "ACCEPTED"
    return "accepted" if is_taken else "rejected", f"{found[1]}: {found[2]}", None


main("salient-kernels", ["cpp"], judge)
