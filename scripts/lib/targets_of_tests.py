#!/usr/bin/env python3
# scripts/lib/targets_of_tests.py - what some tests need of a build, one target a line; nothing where they need none.
"""ctest --show-only=json-v1 ... | targets_of_tests.py BUILD_FOLDER

A test whose program is not built yet has the program's name. One that is given a file of the build needs this file; one
that is given bin/, every program; one that is given another place there may need all.
"""
import json
import pathlib
import subprocess
import sys


def targets_of(test, folder, known):
    """@param test  an entry of ctest's list  @param known  the files that the build makes"""
    if "command" not in test:
        yield test["name"]
    for path in map(pathlib.Path, test.get("command", [])):
        if path == folder / "bin":
            yield "programs"
        elif path == folder or folder in path.parents:
            name = str(path.relative_to(folder))
            yield name if name in known else "all"


build = pathlib.Path(sys.argv[1]).resolve()
listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True)
known = {line.split(":")[0] for line in listed.stdout.splitlines()}
targets = {target for test in json.load(sys.stdin)["tests"] for target in targets_of(test, build, known)}
print("\n".join(["all"] if "all" in targets else sorted(targets)))
