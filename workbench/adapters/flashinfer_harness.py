#!/usr/bin/env python3
"""FlashInfer-Bench's evaluator as a harness: a trace set with one definition, one workload and one solution, run by its
own Benchmark.

    salient-kernels attack --harness 'python3 workbench/adapters/flashinfer_harness.py'

Needs the package flashinfer-bench and a GPU. Workloads have random inputs, as its own data set's synthetic ones have.
"""
import json
import pathlib
import sys
import tempfile

from harness import main, module_of

try:
    from flashinfer_bench import Benchmark, BenchmarkConfig, TraceSet
except ImportError:
    sys.exit("flashinfer_harness.py: the package flashinfer-bench is not installed")

RUN = """

_model = None


def run({names}):
    global _model
    if _model is None:
        _model = {model}().to({first}.device)
    return _model({names})
"""


def tensors(specs):
    return {name: {"shape": shape, "dtype": dtype} for name, (shape, dtype) in specs.items()}


def write_trace_set(folder, question):
    spec, name = module_of(question["problem_source"], "problem")["SPEC"], question["problem"]
    names = list(spec["inputs"])
    run = {model: RUN.format(names=", ".join(names), first=names[0], model=model) for model in ("Model", "ModelNew")}
    definition = {"name": name, "op_type": "salient", "axes": {axis: {"type": "var"} for axis in spec["axes"]},
                  "inputs": tensors(spec["inputs"]), "outputs": tensors(spec["outputs"]),
                  "reference": question["problem_source"] + run["Model"]}
    solution = {"name": question["name"], "definition": name, "author": "salient",
                "spec": {"language": "python", "target_hardware": ["cuda"], "entry_point": "main.py::run",
                         "destination_passing_style": False},
                "sources": [{"path": "main.py", "content": question["source"] + run["ModelNew"]}]}
    workload = {"definition": name, "solution": None, "evaluation": None,
                "workload": {"uuid": "salient-1", "axes": spec["axes"],
                             "inputs": {one: {"type": "random"} for one in names}}}
    for path, text in ((f"definitions/salient/{name}.json", json.dumps(definition)),
                       (f"solutions/salient/{question['name']}.json", json.dumps(solution)),
                       (f"workloads/salient/{name}.jsonl", json.dumps(workload) + "\n")):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def judge(question):
    with tempfile.TemporaryDirectory(prefix="salient-flashinfer-") as folder:
        write_trace_set(pathlib.Path(folder), question)
        benchmark = Benchmark(TraceSet.from_path(folder), BenchmarkConfig())
        try:
            traces = benchmark.run_all(dump_traces=False).traces.get(question["problem"], [])
        finally:
            getattr(benchmark, "close", lambda: None)()
    if not traces:
        return "rejected", "no trace", None
    evaluation = traces[0].evaluation
    status = getattr(evaluation.status, "value", evaluation.status)
    if status != "PASSED":
        return "rejected", status, None
    return "accepted", "", getattr(evaluation.performance, "speedup_factor", None)


main("FlashInfer-Bench", ["python"], judge)
