#!/usr/bin/env python3
# benchmarks/pyg_loader.py - PyG's GraphSAGE on PyG's own NeighborLoader and on salient_gnn's, in turns, on one device.
"""Prints batches per second of each loader, alone and with training, and the ratios; --out also writes them as JSON.

Both loaders read the same graph, features (f16, converted to float32 on the device) and seeds, and the model is trimmed
by trim_to_layer() on both. PyG's loader samples with pyg-lib where that is installed, else with torch-sparse, and the
output names which: torch-sparse allocates a tensor per draw, so a ratio to it says little.
"""
import argparse
import json
import os
import shutil
import statistics
import time

import salient_gnn
import torch
import torch_geometric
from torch_geometric.data import Data
from torch_geometric.nn import GraphSAGE
from torch_geometric.typing import WITH_PYG_LIB


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="synthetic:products")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fanout", default="15,10,5")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=3, help="turns of every loader")
    parser.add_argument("--seconds", type=float, default=5, help="of one turn, at least 5 batches")
    parser.add_argument("--out")
    return parser.parse_args()


def version_of_sampler():
    if WITH_PYG_LIB:
        import pyg_lib
        return f"pyg-lib {pyg_lib.__version__}"
    import torch_sparse
    return f"torch-sparse {torch_sparse.__version__}"


def pyg_loader(dataset, options):
    """Its workers gather features where shared memory has room for their batches, else the main process does."""
    rows = torch.repeat_interleave(torch.arange(dataset.num_nodes), dataset.indptr.diff())
    data = Data(x=dataset.x, y=dataset.y.long(), edge_index=torch.stack([dataset.indices.long(), rows]))
    gathers_in_workers = shutil.disk_usage("/dev/shm").free > 2 * options.workers * 400e6
    loader = torch_geometric.loader.NeighborLoader(
        data, [int(f) for f in options.fanout.split(",")], dataset.train.long(), is_sorted=True, shuffle=True,
        batch_size=options.batch_size, num_workers=options.workers, persistent_workers=options.workers > 0,
        filter_per_worker=gathers_in_workers, pin_memory=options.device != "cpu")
    return loader, "workers" if gathers_in_workers else "the main process"


def salient_loader(dataset, options, **places):
    return salient_gnn.NeighborLoader(
        dataset, "train", [int(f) for f in options.fanout.split(",")], options.batch_size, shuffle=True,
        device=options.device, workers=options.workers, dtype=None, **places)


class Trainer:
    def __init__(self, dataset, options):
        torch.manual_seed(0)
        self.device = torch.device(options.device)
        layers = len(options.fanout.split(","))
        self.model = GraphSAGE(dataset.num_features, options.hidden, layers, dataset.num_classes).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.003)

    def step(self, batch):
        self.optimizer.zero_grad()
        logits = self.model(batch.x.float(), batch.edge_index, num_sampled_nodes_per_hop=list(batch.num_sampled_nodes),
                            num_sampled_edges_per_hop=list(batch.num_sampled_edges))[:batch.batch_size]
        torch.nn.functional.cross_entropy(logits, batch.y[:batch.batch_size]).backward()
        self.optimizer.step()

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def endless(loader, device):
    while True:
        for batch in loader:
            yield batch.to(device, non_blocking=True) if isinstance(batch, Data) else batch


def rate(batches, trainer, trains, seconds):
    """Batches per second, after five that warm up."""
    work = trainer.step if trains else lambda batch: (batch.x, batch.edge_index, batch.y)
    for _ in range(5):
        work(next(batches))
    trainer.synchronize()
    count, begin = 0, time.perf_counter()
    while count < 5 or time.perf_counter() - begin < seconds:
        work(next(batches))
        count += 1
    trainer.synchronize()
    return count / (time.perf_counter() - begin)


def main():
    options = arguments()
    dataset = salient_gnn.Dataset.open(options.dataset)
    trainer = Trainer(dataset, options)
    theirs, who_gathers = pyg_loader(dataset, options)
    loaders = {"PyG": theirs, "salient, host": salient_loader(dataset, options, features="host", sampler="host")}
    if trainer.device.type == "cuda":
        loaders["salient, features on the GPU"] = salient_loader(dataset, options, features="device", sampler="host")
        if salient_gnn._core.has_cuda:
            loaders["salient, all on the GPU"] = salient_loader(dataset, options, features="device", sampler="device")
    facts = {**vars(options), "device_name": torch.cuda.get_device_name() if trainer.device.type == "cuda" else "CPU",
             "cores": len(os.sched_getaffinity(0)), "torch": torch.__version__,
             "torch_geometric": torch_geometric.__version__, "sampler_of_pyg": version_of_sampler(),
             "features_of_pyg_gathered_by": who_gathers}
    print(dataset, *(f"{fact}={value}" for fact, value in facts.items()), sep="\n", flush=True)
    rates = {(name, trains): [] for name in loaders for trains in (False, True)}
    for _ in range(options.rounds):
        for name, loader in loaders.items():
            batches = endless(loader, trainer.device)
            for trains in (False, True):
                rates[name, trains].append(rate(batches, trainer, trains, options.seconds))
            del batches
    rows = []
    for (name, trains), values in rates.items():
        median, base = statistics.median(values), statistics.median(rates["PyG", trains])
        rows.append({"loader": name, "trains": trains, "batches_per_second": values, "times_pyg": median / base})
        print(f"{name:30} {'training' if trains else 'alone':9} {median:8.1f} batches/s ({min(values):.1f} to "
              f"{max(values):.1f}) {median / base:6.2f} x PyG")
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"facts": facts, "rows": rows}, file, indent=2)


if __name__ == "__main__":
    main()
