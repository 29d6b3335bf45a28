#!/usr/bin/env python3
"""Times torch's operators, cuBLASLt and cuSPARSE on the public shapes of the workbench's cases, on the first GPU.

    workbench_baselines.py CASES FILE      CASES: folder of .case files; FILE: JSON for `salient-kernels report`

As the referee measures: several input sets that exceed the cache together, the cache emptied before every sample, GPU
time by events around a CUDA graph of one call per set, so that no launch from Python is counted; median of 20.
"torch" is the eager formula, one operator after the other; a case without a fitting library operator has no entry.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

SAMPLES, MAX_SETS = 20, 12
DEVICE = torch.device("cuda", 0)
CACHE_BYTES = torch.cuda.get_device_properties(0).L2_cache_size


def public_shapes(case):
    """The shapes that a GPU is timed on, as dicts in the order of the file."""
    for line in case.read_text().splitlines():
        words = line.split()
        if words[:1] == ["public"] and words[1] != "host":
            yield {k: int(v) for k, v in (word.split("=") for word in words[1:] if "=" in word)}


def f32(*size):
    return torch.rand(size, device=DEVICE) * 2 - 1


def f16(*size):
    return f32(*size).half()


def hop(rows, sources, edges):
    """indptr and indices with uniformly drawn degrees and sources; also each entry's row."""
    row_of = torch.randint(rows, (edges,), device=DEVICE).sort().values
    indptr = torch.zeros(rows + 1, dtype=torch.int32, device=DEVICE)
    indptr[1:] = torch.bincount(row_of, minlength=rows).cumsum(0)
    return indptr, torch.randint(sources, (edges,), device=DEVICE, dtype=torch.int32), row_of


def mean_weights(indptr, row_of):
    return 1.0 / (indptr[1:] - indptr[:-1]).clamp(min=1).float()[row_of]


# Each case: dims -> {name of baseline: function without arguments}, on fresh inputs.

def activation(f):
    def make(d):
        x = f32(d["n"])
        return {"torch": lambda: f(x)}
    return make


def matmul(dtype):
    def make(d):
        batch = (d["batch"],) if "batch" in d else ()
        a, b = f32(*batch, d["m"], d["k"]).to(dtype), f32(*batch, d["k"], d["n"]).to(dtype)
        return {"cuBLASLt": lambda: torch.matmul(a, b)}
    return make


def matmul_diagonal(d):
    diagonal, b = f32(d["m"]), f32(d["m"], d["n"])
    return {"torch": lambda: diagonal.unsqueeze(1) * b}


def matmul_triangular(d):
    a, b = f32(d["n"], d["n"]).triu_(), f32(d["n"], d["n"]).triu_()
    return {"cuBLASLt, whole squares": lambda: torch.triu(a @ b)}


def silu_and_mul(d):
    x = f16(d["n"], 2 * d["d"])
    return {"torch": lambda: F.silu(x[:, :d["d"]]) * x[:, d["d"]:]}


def fused_add_rmsnorm(d):
    x, residual, weight = f16(d["n"], d["d"]), f16(d["n"], d["d"]), f16(d["d"])

    def run():
        residual.add_(x)
        x.copy_(F.rms_norm(residual, (d["d"],), weight, 1e-6))
    return {"torch": run}


def merge_attn_states(d):
    v_a, v_b = f32(d["n"], d["h"], d["d"]), f32(d["n"], d["h"], d["d"])
    s_a, s_b = f32(d["n"], d["h"]), f32(d["n"], d["h"])

    def run():
        s = torch.logaddexp(s_a, s_b)
        return (s_a - s).exp().unsqueeze(-1) * v_a + (s_b - s).exp().unsqueeze(-1) * v_b, s
    return {"torch": run}


def gather_rows(d):
    table, index = f16(d["table_rows"], d["width"]), torch.randint(d["table_rows"], (d["n"],), device=DEVICE)
    return {"torch": lambda: table.index_select(0, index)}


def gather_mean(d):
    x, (indptr, indices, row_of) = f32(d["sources"], d["width"]), hop(d["rows"], d["sources"], d["edges"])
    weights = mean_weights(indptr, row_of)
    adjacency = torch.sparse_csr_tensor(indptr, indices, weights, (d["rows"], d["sources"]))
    out = torch.zeros(d["rows"], d["width"], device=DEVICE)

    def eager():
        return out.zero_().index_add_(0, row_of, x.index_select(0, indices) * weights.unsqueeze(1))
    return {"torch": eager, "cuSPARSE": lambda: adjacency @ x}


def sage_layer_forward(d):
    sources = d["rows"] + d["others"]
    x, (indptr, indices, row_of) = f32(sources, d["in"]), hop(d["rows"], sources, d["edges"])
    weights = mean_weights(indptr, row_of).unsqueeze(1)
    wl, wr, bias = f32(d["out"], d["in"]), f32(d["out"], d["in"]), f32(d["out"])
    mean = torch.zeros(d["rows"], d["in"], device=DEVICE)

    def run():
        mean.zero_().index_add_(0, row_of, x.index_select(0, indices) * weights)
        return F.linear(mean, wl) + F.linear(x[:d["rows"]], wr, bias)
    return {"torch": run}


def segment_mean_backward(d):
    grad, (indptr, indices, row_of) = f32(d["rows"], d["width"]), hop(d["rows"], d["sources"], d["edges"])
    weights = mean_weights(indptr, row_of)
    order = indices.long().argsort()
    by_source = torch.zeros(d["sources"] + 1, dtype=torch.int32, device=DEVICE)
    by_source[1:] = torch.bincount(indices.long(), minlength=d["sources"]).cumsum(0)
    transposed = torch.sparse_csr_tensor(by_source, row_of[order].int(), weights[order], (d["sources"], d["rows"]))
    out = torch.zeros(d["sources"], d["width"], device=DEVICE)

    def eager():
        return out.zero_().index_add_(0, indices, grad.index_select(0, row_of) * weights.unsqueeze(1))
    return {"torch": eager, "cuSPARSE, transposed before": lambda: transposed @ grad}


def out_degrees(d):
    indices = torch.randint(d["sources"], (d["edges"],), device=DEVICE)
    ones, out = torch.ones_like(indices), torch.zeros(d["sources"], dtype=torch.long, device=DEVICE)
    return {"torch": lambda: out.zero_().scatter_add_(0, indices, ones)}


def dropout_relu(d):
    x, p = f32(d["rows"], d["columns"]), d["threshold"] / 65536
    return {"torch": lambda: F.dropout(F.relu(x), p)}


def softmax_cross_entropy(d):
    z, labels = f32(d["n"], d["c"]), torch.randint(d["c"], (d["n"],), device=DEVICE)
    scale = torch.full((d["n"], 1), -1.0 / d["n"], device=DEVICE)

    def run():
        log_p = F.log_softmax(z, 1)
        loss = F.nll_loss(log_p, labels, reduction="none")
        grad = log_p.exp().div_(d["n"]).scatter_add_(1, labels.unsqueeze(1), scale)
        return loss, grad
    return {"torch": run}


def attention_edges(d):
    """Source and destination of every attention edge: entries and self loops."""
    indptr, indices, row_of = hop(d["rows"], d["rows"] + d["others"], d["edges"])
    own = torch.arange(d["rows"], device=DEVICE)
    return torch.cat([indices.long(), own]), torch.cat([row_of, own])


def attention_backward(d):
    source, to = attention_edges(d)
    h, grad = f32(d["rows"] + d["others"], d["heads"], d["channels"]), f32(d["rows"], d["heads"], d["channels"])
    weights, grad_h = f32(len(source), d["heads"], 1), torch.zeros_like(h)

    def run():
        rows = grad.index_select(0, to)
        return (rows * h.index_select(0, source)).sum(2), grad_h.zero_().index_add_(0, source, rows * weights)
    return {"torch": run}


def gat_aggregate(d):
    source, to = attention_edges(d)
    h, weights = f32(d["rows"] + d["others"], d["heads"], d["channels"]), f32(len(source), d["heads"], 1)
    out = torch.zeros(d["rows"], d["heads"], d["channels"], device=DEVICE)
    return {"torch": lambda: out.zero_().index_add_(0, to, h.index_select(0, source) * weights)}


def gatv2_backward(d):
    source, to = attention_edges(d)
    z_src, z_dst = f32(d["rows"] + d["others"], d["heads"], d["channels"]), f32(d["rows"], d["heads"], d["channels"])
    att, grad = f32(d["heads"], d["channels"]), f32(len(source), d["heads"], 1)
    grad_src, grad_dst = torch.zeros_like(z_src), torch.zeros_like(z_dst)

    def run():
        raw = z_src.index_select(0, source) + z_dst.index_select(0, to)
        term = torch.where(raw > 0, 1.0, 0.2) * (grad * att)
        return (grad_src.zero_().index_add_(0, source, term), grad_dst.zero_().index_add_(0, to, term),
                (F.leaky_relu(raw, 0.2) * grad).sum(0))
    return {"torch": run}


MAKERS = {
    "softsign": activation(F.softsign), "swish": activation(F.silu), "gelu": activation(F.gelu),
    "relu": activation(F.relu), "sigmoid": activation(torch.sigmoid), "tanh": activation(torch.tanh),
    "matmul_f32": matmul(torch.float32), "matmul_bf16": matmul(torch.bfloat16),
    "silu_and_mul": silu_and_mul, "fused_add_rmsnorm": fused_add_rmsnorm,
    "merge_attn_states_lse": merge_attn_states, "gather_rows": gather_rows, "gather_mean": gather_mean,
    "segment_mean_backward": segment_mean_backward, "out_degrees": out_degrees, "dropout_relu": dropout_relu,
    "softmax_cross_entropy": softmax_cross_entropy, "attention_backward": attention_backward,
    "gatv2_backward": gatv2_backward, "gat_aggregate": gat_aggregate, "sage_layer_forward": sage_layer_forward,
    "matmul_batched": matmul(torch.float32), "matmul_diagonal": matmul_diagonal,
    "matmul_triangular": matmul_triangular,
}


def graph_of(calls):
    """Replays all calls at once; None where one of them cannot be captured."""
    torch.cuda.synchronize()  # the inputs are made on another stream
    try:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for call in calls:
                call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        return graph
    except RuntimeError:
        torch.cuda.synchronize()
        return None


def seconds_of(calls, flush):
    graph = graph_of(calls)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(SAMPLES + 2):
        flush.sum()
        torch.cuda.synchronize()
        begin.record()
        if graph is None:
            for call in calls:
                call()
        else:
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / len(calls))
    return statistics.median(times[2:])


def bytes_in_use(make, dims):
    before = torch.cuda.memory_allocated()
    made = make(dims)
    return max(1, torch.cuda.memory_allocated() - before), made


def time_case(case):
    """{shape: {baseline: seconds}} of one case."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.preferred_blas_library("cublaslt")
    torch.manual_seed(1)
    flush, found = torch.zeros(CACHE_BYTES, device=DEVICE), {}  # four bytes each
    for dims in public_shapes(case):
        used, first = bytes_in_use(MAKERS[case.stem], dims)
        sets = [first] + [MAKERS[case.stem](dims) for _ in range(min(MAX_SETS, 4 * CACHE_BYTES // used + 2) - 1)]
        shape = " ".join(f"{name}={dims[name]}" for name in sorted(dims))
        found[shape] = {name: seconds_of([one[name] for one in sets], flush) for name in first}
        sets = first = None
        torch.cuda.empty_cache()
    return found


def main():
    cases, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if len(sys.argv) > 3:  # one case, in a process of its own: an error on the GPU ends no other case
        out.write_text(json.dumps(time_case(cases / sys.argv[3])))
        return
    facts = {"device": torch.cuda.get_device_name(0), "torch": torch.__version__, "cases": {}}
    part = out.with_name(out.name + ".part")
    for case in sorted(cases.glob("*.case")):
        if case.stem not in MAKERS:
            continue
        child = subprocess.run([sys.executable, __file__, cases, part, case.name], text=True, capture_output=True)
        if child.returncode != 0:
            print(case.stem, "failed:", (child.stderr.strip().splitlines() or ["no reason"])[-1][:200], flush=True)
            continue
        facts["cases"][case.stem] = json.loads(part.read_text())
        part.unlink()
        out.write_text(json.dumps(facts, indent=1) + "\n")
        for shape, row in facts["cases"][case.stem].items():
            print(case.stem, shape, {name: f"{s * 1e6:.2f} us" for name, s in row.items()}, flush=True)


if __name__ == "__main__":
    main()
