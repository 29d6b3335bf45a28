#!/usr/bin/env python3
# tests/scripts/installed_library_test.py - examples/ are built on the installed library, run, and give what they say.
"""    installed_library_test.py SOURCE_FOLDER BUILD_FOLDER

Installs the build's libraries into a folder of its own, builds every project of examples/ by find_package(salient), and
runs them: the model of one's own learns, and the predictor's logits are those of salient-infer. find_package(salient)
leaves a project's variables alone, and headers of a project that have the names of ours do not disturb them.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

source, build = map(pathlib.Path, sys.argv[1:])
programs = build / "bin"


def run(*command):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_example(folder, name, prefix):
    there = folder / name
    run("cmake", "-G", "Ninja", "-S", source / "examples" / name, "-B", there, "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS=-I{make_same_names(folder)}")
    run("cmake", "--build", there)
    return there


def make_same_names(folder):
    """A folder with other headers of the names that ours have in the sources."""
    mine = folder / "mine"
    for name in ("core/error.h", "store/dataset.h", "sampler/mfg.h"):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text("#error taken for a header of salient\n")
    return mine


def check_variables(folder, prefix):
    """find_package(salient) sets none that the project may have, though files that it includes do."""
    files = (prefix / "lib/cmake/salient").glob("*.cmake")
    text = "".join(file.read_text() for file in files)
    names = sorted(set(re.findall(r"\b(?:set\(|file\(STRINGS \S+ )([a-z]\w*)", text)))
    assert len(names) > 5, names
    project = folder / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(f"""
        cmake_minimum_required(VERSION 3.25)
        project(variables LANGUAGES C CXX)
        set(names {" ".join(names)})
        foreach(name IN LISTS names)
          set(${{name}} mine)
        endforeach()
        find_package(salient REQUIRED)
        foreach(name {" ".join(names)})
          if(NOT ${{name}} STREQUAL mine)
            message(FATAL_ERROR "${{name}} is ${{${{name}}}}")
          endif()
        endforeach()""")
    run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}")


def read_npy(path, code):
    """Values and shape of a .npy file."""
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    count = (len(data) - begin) // struct.calcsize(code)
    return struct.unpack(f"<{count}{code}", data[begin:]), eval(data[10:begin])["shape"]


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    prefix = folder / "installed"
    run("cmake", "--install", build, "--prefix", prefix, "--component", "library")

    check_variables(folder, prefix)
    own = build_example(folder, "own_model", prefix)
    accuracy = float(run(own / "own_model").split()[-1])
    print(f"own_model: test accuracy {accuracy}")
    assert accuracy > 0.4  # one of 40 classes

    predictor = build_example(folder, "predictor", prefix)
    trained = folder / "run"
    run(programs / "salient-train", "--dataset", "synthetic:arxiv:0.01", "--device", "cpu", "--hidden", 16,
        "--epochs", 1, "--layers", 2, "--fanout", "5,5", "--eval-fanout", "5,5", "--out", trained)
    out = folder / "predictions"
    run(programs / "salient-infer", "--run", trained, "--device", "cpu", "--out", out)
    ids, _ = read_npy(out / "ids.npy", "q")
    logits, (_, width) = read_npy(out / "logits.npy", "f")
    printed = run(predictor / "predict_nodes", trained, *ids[:3]).splitlines()
    assert len(printed) == 3
    for i, (line, node) in enumerate(zip(printed, ids)):
        print(line)
        (named, best, logit), row = line.split(), logits[i * width : (i + 1) * width]
        assert int(named) == node and int(best) == row.index(max(row)) and abs(float(logit) - max(row)) < 1e-4
    for words, code, reason in (([folder / "nothing", "1"], 66, "nothing"), ([trained, "1", "1"], 2, "twice"),
                                ([trained, "1000000000"], 2, "has nodes 0 to"), ([trained, "one"], 2, "no node id")):
        wrong = subprocess.run([predictor / "predict_nodes", *words], capture_output=True, text=True)
        assert wrong.returncode == code and reason in wrong.stderr, wrong
