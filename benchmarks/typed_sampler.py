#!/usr/bin/env python3
"""The typed sampler beside pyg-lib's on the same store, in turns, one thread each.

    typed_sampler.py --dataset STORE [--fanout 15,10,5] [--batch-size 1024] [--batches 5] [--rounds 5]
                     [--without-edge-ids] [--out FILE]

STORE is a typed one, such as `salient-prepare synthetic --like mag --out STORE` makes. pyg-lib samples its relations
as PyG's loaders have it do: without replacement, int64, with edge ids, or without them, which no loader asks for. Both
sides get the same seeds and the same fanout for every relation and hop. They do not mean the same by it: pyg-lib
expands a node once, at the first hop in which it is met; salient-bench expands it at each hop, as DGL does. So edges
per second are compared, not batches. Times are of one thread: CPU seconds of the sampling calls.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]


def relations_of(store):
    """(src, name, dst), its [V_dst + 1] begins and its sources counted in their type, of each relation."""
    facts = json.loads((store / "dataset.json").read_text())
    types, relations = facts["node_types"], facts["relations"]
    names = [t["name"] for t in types]
    counts = {t["name"]: t["count"] for t in types}
    node_begin = dict(zip(names, np.cumsum([0] + [t["count"] for t in types])))
    slots = {name: sum(r["dst"] == name for r in relations) for name in names}
    slot_begin = dict(zip(names, np.cumsum([0] + [counts[name] * slots[name] for name in names])))
    indptr = np.load(store / "indptr.npy", mmap_mode="r")
    indices = np.load(store / "indices.npy", mmap_mode="r")
    for r in relations:
        dst = r["dst"]
        rows = np.arange(counts[dst], dtype=np.int64) * slots[dst] + slot_begin[dst] + r["slot"]
        begin, end = indptr[rows], indptr[rows + 1]
        out = np.zeros(counts[dst] + 1, dtype=np.int64)
        np.cumsum(end - begin, out=out[1:])
        places = np.repeat(begin - out[:-1], end - begin) + np.arange(out[-1])
        yield (r["src"], r["name"], dst), out, indices[places].astype(np.int64) - node_begin[r["src"]]


class PygSampler:
    def __init__(self, store, fanout, with_edge_ids):
        import torch
        import pyg_lib  # noqa: F401, registers torch.ops.pyg
        torch.set_num_threads(1)
        self.torch, self.fanout, self.with_edge_ids = torch, fanout, with_edge_ids
        self.colptr, self.row, self.edge_types = {}, {}, []
        for edge_type, begin, sources in relations_of(store):
            key = "__".join(edge_type)
            self.edge_types.append(edge_type)
            self.colptr[key], self.row[key] = torch.from_numpy(begin), torch.from_numpy(sources)
        facts = json.loads((store / "dataset.json").read_text())
        self.node_types, self.target = [t["name"] for t in facts["node_types"]], facts["target_type"]
        first = sum(t["count"] for t in facts["node_types"][:self.node_types.index(self.target)])
        self.train = torch.from_numpy(np.load(store / "train.npy").astype(np.int64) - first)

    def round(self, number, batch_size, batches):
        edges, seconds = 0, 0.0
        for b in range(batches):
            start = (number * batches + b) * batch_size % (len(self.train) - batch_size + 1)
            seeds = {self.target: self.train[start:start + batch_size]}
            begin = time.process_time()
            row, *_ = self.torch.ops.pyg.hetero_neighbor_sample(
                self.node_types, self.edge_types, self.colptr, self.row, seeds,
                {key: self.fanout for key in self.colptr}, None, None, None, None, True, False, True, False, "uniform",
                self.with_edge_ids)
            seconds += time.process_time() - begin
            edges += sum(part.numel() for part in row.values())
        return edges / seconds


def our_round(program, store, options, number):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        subprocess.run([program, "typed", "--dataset", store, "--threads", "1", "--rounds", "1", "--fanout",
                        options.fanout, "--batch-size", str(options.batch_size), "--batches", str(options.batches),
                        "--json", out], check=True, capture_output=True)
        return json.loads(out.read_text())["rows"][0]["edges_per_core_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=pathlib.Path, required=True)
    parser.add_argument("--program", default=ROOT / "build/release/bin/salient-bench")
    parser.add_argument("--fanout", default="15,10,5")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-edge-ids", action="store_true", help="of pyg-lib; ours has none")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    theirs = PygSampler(options.dataset, [int(k) for k in options.fanout.split(",")], not options.without_edge_ids)
    theirs.round(0, options.batch_size, 1)
    rates = {"pyg-lib": [], "salient": []}
    for number in range(options.rounds):
        rates["pyg-lib"].append(theirs.round(number, options.batch_size, options.batches))
        rates["salient"].append(our_round(options.program, options.dataset, options, number))
    ratios = [a / b for a, b in zip(rates["salient"], rates["pyg-lib"])]
    processor = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    report = {"benchmark": "typed_sampler", "dataset": options.dataset.name, "fanout": options.fanout,
              "batch_size": options.batch_size, "edge_ids": not options.without_edge_ids,
              "processor": processor and processor[1],
              "edges_per_core_second": {name: {"median": statistics.median(values), "of_rounds": values}
                                        for name, values in rates.items()},
              "times": {"median": statistics.median(ratios), "range": [min(ratios), max(ratios)]}}
    for name, values in rates.items():
        print(f"{name:8} {statistics.median(values) * 1e-6:6.1f} M edges per core-second "
              f"({min(values) * 1e-6:.1f}-{max(values) * 1e-6:.1f})")
    print(f"times    {statistics.median(ratios):.1f} ({min(ratios):.1f}-{max(ratios):.1f})")
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
