#!/usr/bin/env python3
# benchmarks/pyg_loader.py - PyG's GraphSAGE on PyG's NeighborLoader, GraphBolt and salient_gnn's loader, in turns.
"""Prints batches per second of each loader for each use, and the ratios; --out also writes them as JSON. The uses:

    alone     x, edge_index and y are tensors on the device
    trimmed   training with the model's own forward(), trimmed by trim_to_layer(): it computes the sources of each layer
    layers    training with the same convolutions layer by layer, conv((x, x_target), edge_index): destinations alone
    csr       the same with each layer as torch.sparse_csr
    reduce    the same convolutions after salient_gnn.take_layers(): conv((x, x_target), layer)

All loaders read the same graph, features (f16, converted to float32 on the device) and seeds. PyG's loader samples with
pyg-lib where that is installed, else with torch-sparse, and the output names which: torch-sparse allocates a tensor per
draw, so a ratio to it says little. A loader that is not installed is left out; ratios are to the first. GraphBolt (dgl
2.1.0) works with torch up to 2.2.1, so it has an environment of its own; its batches have no form for `trimmed`.
"""
import argparse
import collections
import copy
import importlib.util
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

FromGraphBolt = collections.namedtuple("FromGraphBolt", "x y layers batch_size")


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
    parser.add_argument("--uses", default="alone,trimmed,layers,csr,reduce")
    parser.add_argument("--out")
    return parser.parse_args()


def version_of(*modules):
    """Of the first that can be imported; empty where none can."""
    for module in modules:
        try:
            return f"{module} {importlib.import_module(module).__version__}"
        except ImportError:
            pass
    return ""


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


def graphbolt_batches(dataset, options):
    """Endless. Its fanouts begin with the outermost layer."""
    import dgl.graphbolt as gb
    graph = gb.fused_csc_sampling_graph(dataset.indptr, dataset.indices)
    rows = gb.BasicFeatureStore({("node", None, "x"): gb.TorchBasedFeature(dataset.x)})
    seeds = dataset.train.clone()
    items = gb.ItemSet((seeds, dataset.y.long()[seeds.long()]), names=("seed_nodes", "labels"))
    pipe = gb.ItemSampler(items, batch_size=options.batch_size, shuffle=True)
    pipe = pipe.sample_neighbor(graph, [int(f) for f in reversed(options.fanout.split(","))])
    pipe = pipe.fetch_feature(rows, node_feature_keys=["x"]).copy_to(torch.device(options.device))
    loader = gb.DataLoader(pipe, num_workers=options.workers)
    while True:
        for batch in loader:
            parts = [(part.sampled_csc, len(part.original_row_node_ids)) for part in batch.sampled_subgraphs]
            layers = [salient_gnn.Layer(csc.indptr.int(), csc.indices.int(), num_src, len(csc.indptr) - 1)
                      for csc, num_src in parts]
            yield FromGraphBolt(batch.node_features["x"], batch.labels, layers, len(batch.labels))


def salient_loader(dataset, options, **places):
    return salient_gnn.NeighborLoader(
        dataset, "train", [int(f) for f in options.fanout.split(",")], options.batch_size, shuffle=True,
        device=options.device, workers=options.workers, dtype=None, **places)


def layers_of(batch):
    """The bipartite layers of a batch, outermost first. PyG's has its edges sorted by hop and destination."""
    if not isinstance(batch, Data):
        return batch.layers
    layers, nodes, edges = [], batch.num_nodes, batch.edge_index.shape[1]
    for new_nodes, new_edges in zip(reversed(batch.num_sampled_nodes), reversed(batch.num_sampled_edges)):
        sources, destinations = batch.edge_index[:, :edges]
        num_dst = nodes - new_nodes
        indptr = torch._convert_indices_from_coo_to_csr(destinations, num_dst, out_int32=True)
        layers.append(salient_gnn.Layer(indptr, sources.int(), nodes, num_dst))
        layers[-1].edge_index = batch.edge_index[:, :edges]  # what it is made of
        nodes, edges = num_dst, edges - new_edges
    return layers


class Trainer:
    def __init__(self, dataset, options):
        torch.manual_seed(0)
        self.device = torch.device(options.device)
        layers = len(options.fanout.split(","))
        self.model = GraphSAGE(dataset.num_features, options.hidden, layers, dataset.num_classes).to(self.device)
        self.on_layers = salient_gnn.take_layers(copy.deepcopy(self.model))
        self.optimizer = {model: torch.optim.Adam(model.parameters(), lr=0.003, fused=self.device.type == "cuda")
                          for model in (self.model, self.on_layers)}

    def forward(self, batch, use):
        x = batch.x.float()
        if use == "trimmed":
            return self.model(x, batch.edge_index, num_sampled_nodes_per_hop=list(batch.num_sampled_nodes),
                              num_sampled_edges_per_hop=list(batch.num_sampled_edges))[:batch.batch_size]
        convs = self.model_of(use).convs
        for conv, layer in zip(convs, layers_of(batch)):
            graph = {"csr": "adj", "layers": "edge_index"}.get(use)
            x = conv((x, x[:layer.num_dst]), getattr(layer, graph) if graph else layer, size=layer.size)
            if conv is not convs[-1]:
                x = x.relu()
        return x

    def model_of(self, use):
        return self.on_layers if use == "reduce" else self.model

    def step(self, batch, use):
        optimizer = self.optimizer[self.model_of(use)]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.forward(batch, use), batch.y[:batch.batch_size]).backward()
        optimizer.step()

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def endless(loader, device):
    while True:
        for batch in loader:
            yield batch.to(device, non_blocking=True) if isinstance(batch, Data) else batch


def rate(batches, trainer, use, seconds):
    """Batches per second, after five that warm up."""
    def work(batch):
        if use == "alone":
            return batch.x, batch.layers if isinstance(batch, FromGraphBolt) else batch.edge_index, batch.y
        return trainer.step(batch, use)

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
    loaders, who_gathers, sampler_of_pyg = {}, "", version_of("pyg_lib", "torch_sparse")
    if sampler_of_pyg:
        loaders["PyG"], who_gathers = pyg_loader(dataset, options)
    graphbolt = version_of("dgl")  # of 2.0 and later
    if graphbolt and importlib.util.find_spec("dgl.graphbolt"):
        loaders["GraphBolt"] = None
    loaders["salient, host"] = salient_loader(dataset, options, features="host", sampler="host")
    if trainer.device.type == "cuda":
        loaders["salient, features on the GPU"] = salient_loader(dataset, options, features="device", sampler="host")
        if salient_gnn._core.has_cuda:
            loaders["salient, all on the GPU"] = salient_loader(dataset, options, features="device", sampler="device")
    facts = {**vars(options), "device_name": torch.cuda.get_device_name() if trainer.device.type == "cuda" else "CPU",
             "cores": len(os.sched_getaffinity(0)), "torch": torch.__version__,
             "torch_geometric": torch_geometric.__version__, "sampler_of_pyg": sampler_of_pyg, "graphbolt": graphbolt,
             "features_of_pyg_gathered_by": who_gathers}
    print(dataset, *(f"{fact}={value}" for fact, value in facts.items()), sep="\n", flush=True)
    uses = options.uses.split(",")
    first = next(iter(loaders))
    rates = {(name, use): [] for name in loaders for use in uses if (name, use) != ("GraphBolt", "trimmed")}
    for _ in range(options.rounds):
        for name, loader in loaders.items():
            batches = endless(loader, trainer.device) if loader else graphbolt_batches(dataset, options)
            for use in (use for use in uses if (name, use) in rates):
                rates[name, use].append(rate(batches, trainer, use, options.seconds))
            del batches
    rows = []
    for (name, use), values in rates.items():
        median = statistics.median(values)
        times = median / statistics.median(rates[first, use]) if (first, use) in rates else float("nan")
        rows.append({"loader": name, "use": use, "batches_per_second": values, "times_first": times})
        print(f"{name:30} {use:9} {median:8.1f} batches/s ({min(values):.1f} to "
              f"{max(values):.1f}) {times:6.2f} x {first}")
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"facts": facts, "rows": rows}, file, indent=2)


if __name__ == "__main__":
    main()
