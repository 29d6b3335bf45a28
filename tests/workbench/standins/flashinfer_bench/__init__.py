"""Stands in for FlashInfer-Bench on a machine without a GPU: it reads a trace set's files and runs its solutions."""
import json
import pathlib
import time
import types

import torch


class TraceSet:
    def __init__(self, root):
        self.root, self.traces = pathlib.Path(root), {}

    @classmethod
    def from_path(cls, path):
        return cls(path)

    def read(self, kind, end):
        return [json.loads(line) for file in sorted((self.root / kind).rglob("*" + end))
                for line in (file.read_text().splitlines() if end == ".jsonl" else [file.read_text()])]


class BenchmarkConfig:
    pass


class Benchmark:
    def __init__(self, trace_set, config):
        self.trace_set = trace_set

    def run_all(self, dump_traces=True):
        made = TraceSet(self.trace_set.root)
        [definition] = self.trace_set.read("definitions", ".json")
        [solution] = self.trace_set.read("solutions", ".json")
        for trace in self.trace_set.read("workloads", ".jsonl"):
            evaluation = evaluate(definition, solution, trace["workload"])
            made.traces.setdefault(definition["name"], []).append(types.SimpleNamespace(evaluation=evaluation))
        return made

    def close(self):
        pass


def evaluate(definition, solution, workload):
    status, speedup = "PASSED", None
    reference, candidate = {}, {}
    exec(definition["reference"], reference)
    file, entry = solution["spec"]["entry_point"].split("::")
    [source] = [one["content"] for one in solution["sources"] if one["path"] == file]
    exec(source, candidate)
    inputs = [torch.randn([workload["axes"][axis] for axis in spec["shape"]], dtype=getattr(torch, spec["dtype"]))
              for spec in definition["inputs"].values()]
    right = reference["run"](*inputs)
    found = candidate[entry](*[one.clone() for one in inputs])
    if found.shape != right.shape or found.dtype != right.dtype:
        status = "INCORRECT_SHAPE"
    elif not ((found - right).abs() <= 1e-2 + 1e-2 * right.abs()).all():
        status = "INCORRECT_NUMERICAL"
    else:
        begin = time.perf_counter()
        reference["run"](*inputs)
        middle = time.perf_counter()
        candidate[entry](*inputs)
        speedup = (middle - begin) / (time.perf_counter() - middle)
    return types.SimpleNamespace(status=types.SimpleNamespace(value=status),
                                 performance=types.SimpleNamespace(speedup_factor=speedup))
