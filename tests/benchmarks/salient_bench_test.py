#!/usr/bin/env python3
"""salient-bench as a user starts it: each verb on a small case, its JSON, and its refusals.

    salient_bench_test.py PATH/TO/salient-bench
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
SMALL = {
    "sampler": ["--nodes", "20000", "--mean-degree", "10", "--batch-size", "64", "--threads", "2", "--rounds", "2", "--batches", "2"],
    "gather": ["--nodes", "20000", "--rows", "1000", "--threads", "2", "--rounds", "2", "--row-bytes", "200"],
    "pipeline": ["--nodes", "20000", "--mean-degree", "10", "--batch-size", "64", "--workers", "2", "--rounds", "1",
                 "--batches", "10", "--feature-dim", "20", "--device", "cpu"],
}


def run(*arguments, exit_code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == exit_code, (arguments, done.returncode, done.stderr)
    return done


with tempfile.TemporaryDirectory() as folder:
    for verb, options in SMALL.items():
        result_file, trace_file = pathlib.Path(folder, f"{verb}.json"), pathlib.Path(folder, "trace.json")
        if verb == "pipeline":
            options = [*options, "--trace", str(trace_file)]
        table = run(verb, *options, "--json", str(result_file)).stdout
        result = json.loads(result_file.read_text())
        assert result["benchmark"] == verb and result["hardware"]["cores"] >= 1, result
        assert len(result["rows"]) >= 2, result["rows"]  # one and two threads
        for row in result["rows"]:
            assert row["name"] in table
            assert all(math.isfinite(v) and v > 0 for k, v in row.items() if k != "name"), row
    events = json.loads(trace_file.read_text())["traceEvents"]
    for name in ("sample", "gather"):  # warm-up and one epoch, with one and with two workers
        assert sum(e["name"] == name for e in events) == 40, name

    # The paper's tables: the same training with batches that take different ways.
    result_file = pathlib.Path(folder, "ablation.json")
    small = ["--graphs", "arxiv", "--scale", "0.05", "--device", "cpu", "--hidden", "8", "--epochs", "2"]
    done = subprocess.run([PROGRAM, "ablation", *small, "--json", str(result_file)], capture_output=True, text=True, timeout=120)
    if "has no LibTorch" not in done.stderr:
        assert done.returncode == 0, done.stderr
        rows = {row["name"]: row for row in json.loads(result_file.read_text())["rows"]}
        assert list(rows) == ["arxiv: plain loop", "arxiv: + fast sampler", "arxiv: + pipelined transfer"], rows
        for row in rows.values():
            assert row["epoch_seconds_median"] > 0 and row["speedup_over_plain"] > 0 and row["edges_per_second"] > 0, row
        assert "--graphs" in run("table1", "--help").stdout
        assert "arxiv, products or papers100M" in run("table1", "--graphs", "foo", "--device", "cpu", exit_code=2).stderr

programs = pathlib.Path(PROGRAM).parent
if (programs / "salient-infer").exists():  # a build with LibTorch
    with tempfile.TemporaryDirectory() as folder:
        graph, trained, result_file = (str(pathlib.Path(folder, name)) for name in ("graph", "run", "result.json"))
        subprocess.run([programs / "salient-prepare", "synthetic", "--nodes", "1000", "--mean-degree", "8", "--features", "10",
                        "--classes", "4", "--out", graph], check=True, capture_output=True)
        subprocess.run([programs / "salient-train", "--dataset", graph, "--out", trained, "--fanout", "4,4", "--hidden", "8",
                        "--epochs", "2", "--device", "cpu"], check=True, capture_output=True)
        run("inference", "--run", trained, "--fanouts", "2,1000", "--rounds", "2", "--device", "cpu", "--json", result_file)
        few, many, exact = json.loads(pathlib.Path(result_file).read_text())["rows"]
        assert many["accuracy"] == exact["accuracy"] and few["entries_read"] < many["entries_read"], (few, many, exact)
        assert exact["seconds_best"] > 0, exact
        assert "no such run directory" in run("inference", "--run", folder + "/absent", exit_code=66).stderr

assert "scaling" in run("--help").stdout and "--rounds" in run("gather", "--help").stdout
assert "no benchmark is called 'sample'" in run("sample", exit_code=2).stderr
assert "did you mean --threads" in run("gather", "--thread", "1", exit_code=2).stderr
assert "raise --nodes" in run("pipeline", "--nodes", "2000", "--device", "cpu", exit_code=2).stderr
for arguments, word in (("sampler --nodes 0", "--nodes"), ("sampler --nodes 20000 --mean-degree 0", "--mean-degree"), ("gather --rounds 0", "--rounds"),
                        ("gather --nodes 0", "--nodes"), ("sampler --fanout 0", "--fanout"), ("pipeline --slots 1", "--slots"),
                        ("sampler --threads 5000", "--threads"), ("table1 --plain-epochs 1", "--plain-epochs"),
                        ("table1 --dataset wordnet", "--graphs"), ("ablation --dry-run", "--dry-run")):
    assert word in run(*arguments.split(), exit_code=2).stderr, arguments
assert "cannot be written" in run("gather", "--json", "/nonexistent/result.json", exit_code=74).stderr
print("salient-bench: all verbs ran")
