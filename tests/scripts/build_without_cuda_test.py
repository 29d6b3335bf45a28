#!/usr/bin/env python3
# tests/scripts/build_without_cuda_test.py - every function that a build without CUDA calls is defined there.
"""    build_without_cuda_test.py SOURCE_FOLDER BUILD_FOLDER TORCH_FOLDER

Configures a build without CUDA and compiles the sources that it alone has (*_absent.cpp, and unity sources with one of
them), and those that ask whether there is CUDA. All other objects are those of BUILD_FOLDER, a build with CUDA.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

source, build, torch = map(pathlib.Path, sys.argv[1:])


def run(command, **how):
    done = subprocess.run(command, capture_output=True, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def units_of(folder):
    """For each source, with its text if the build made it: the file, how it is compiled, and where its object lies."""
    units = {}
    for unit in json.loads((folder / "compile_commands.json").read_text()):
        file, command = pathlib.Path(unit["file"]), unit["command"]
        is_made = file.is_relative_to(folder)
        name = (str(file.relative_to(folder)), file.read_text()) if is_made and file.exists() else str(file)
        units[name] = (file, command, folder / re.search(r" -o (\S+)", command)[1])
    return units


def symbols_of(thing):
    """Functions and variables of namespace salient: those that an object defines, those that it needs."""
    defined, needed = set(), set()
    for line in run(["nm", "-P", thing]).splitlines():
        name, kind = line.split()[:2]
        if "7salient" in name:
            (needed if kind == "U" else defined).add(name)
    return defined, needed


def missing(objects):
    """What is needed and not defined, with an object that needs it."""
    needs = {name: thing for thing, (_, needed) in objects.items() for name in needed}
    for defined, _ in objects.values():
        for name in defined:
            needs.pop(name, None)
    return needs


with tempfile.TemporaryDirectory() as folder:
    other = pathlib.Path(folder)
    run(["cmake", "-S", source, "-B", other, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSALIENT_CUDA=OFF",
         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DSALIENT_TORCH_DIR={torch}"])
    with_cuda, without = units_of(build), units_of(other)
    own = {name for name, (file, *_) in without.items()
           if file.exists() and (name not in with_cuda or "SALIENT_HAS_CUDA" in file.read_text())}

    def compile_own(name):
        _, command, thing = without[name]
        thing.parent.mkdir(parents=True, exist_ok=True)
        run(command.replace(" -O3 ", " -O0 "), shell=True, cwd=other)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_own, own))
    objects = {}
    for name, unit in without.items():
        file, _, thing = unit if name in own else with_cuda.get(name, unit)
        if thing.exists():  # fuzz targets are not built by default
            objects[file] = symbols_of(thing)

absent = {file for file in objects if file.name.endswith("_absent.cpp")}
assert len(absent) > 10 and len(objects) > 300, f"{len(absent)} of {len(objects)}"
assert missing({file: found for file, found in objects.items() if file not in absent}), "they define nothing"
lost = missing(objects)
for name, file in lost.items():
    print(f"{run(['c++filt', name]).strip()} has no definition in a build without CUDA; {file} needs it")
print(f"{len(objects)} objects, {len(own)} of them of their own; {len(lost)} functions missing")
sys.exit(1 if lost else 0)
