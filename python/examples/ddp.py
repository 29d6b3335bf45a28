# python/examples/ddp.py - a PyG model on several GPUs: DistributedDataParallel on salient_gnn's batches.
"""    torchrun --nproc-per-node 2 python/examples/ddp.py data/wordnet

One process per GPU; without GPUs they meet through gloo. Ends with the accuracy on the test nodes.
"""
import argparse
import gc
import os
import time

import salient_gnn
import torch
from torch import distributed
from torch.nn.functional import cross_entropy, dropout
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GraphSAGE


class LayeredSage(torch.nn.Module):
    """GraphSAGE whose layers compute their destinations alone."""

    def __init__(self, in_dim, hidden, num_layers, num_classes):
        super().__init__()
        self.sage = salient_gnn.take_layers(GraphSAGE(in_dim, hidden, num_layers, num_classes))

    def forward(self, x, layers):
        for i, (conv, layer) in enumerate(zip(self.sage.convs, layers)):
            x = conv((x, x[: layer.num_dst]), layer)
            if i + 1 < len(layers):
                x = dropout(x.relu(), 0.5, self.training)
        return x


def accuracy(model, loader):
    """Of all ranks' nodes together; `model` is no DDP module, since ranks may have no nodes of the last batch."""
    model.eval()
    counts = torch.zeros(2, device=loader.device)
    with torch.no_grad():
        for batch in loader:
            if batch.batch_size > 0:
                right = model(batch.x, batch.layers).argmax(1) == batch.y
                counts += torch.stack([right.sum(), torch.tensor(len(right), device=loader.device)])
    distributed.all_reduce(counts)
    return float(counts[0] / counts[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=512, help="of each process")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    device = torch.device(options.device)
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")

    dataset = salient_gnn.Dataset.open(options.dataset)
    torch.manual_seed(0)  # the same weights everywhere
    model = LayeredSage(dataset.num_features, 256, 3, dataset.num_classes).to(device)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(parallel.parameters(), lr=0.003)
    train = salient_gnn.NeighborLoader(  # a global batch has batch_size seeds of every rank
        dataset, "train", [15, 10, 5], options.batch_size, shuffle=True, drop_last=True, device=device)
    if len(train) == 0:
        raise SystemExit(f"ddp.py: error: too few training nodes for a batch of {options.batch_size} on each rank")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        parallel.train()
        for batch in train:
            optimizer.zero_grad()
            loss = cross_entropy(parallel(batch.x, batch.layers), batch.y)
            loss.backward()
            optimizer.step()
        if distributed.get_rank() == 0:
            print(f"epoch {epoch}: loss {loss.item():.4f}, {time.perf_counter() - begin:.2f} s", flush=True)
    test = salient_gnn.NeighborLoader(dataset, "test", [20, 20, 20], 1024, device=device)
    score = accuracy(model, test)
    if distributed.get_rank() == 0:
        print(f"test accuracy {score:.4f} on {distributed.get_world_size()} processes", flush=True)
    del parallel  # it must not outlive the group: torch's gradient reducer may hang where it ends Gloo's threads
    gc.collect()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
