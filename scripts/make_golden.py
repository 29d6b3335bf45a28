#!/usr/bin/env python3
"""Writes tests/golden/*.safetensors: what PyTorch Geometric's layers compute on small sampled batches.

    PYTHONPATH=FOLDER_WITH_TORCH_AND_PYG scripts/make_golden.py

needs torch and torch_geometric 2.8; no GPU. The same versions write the same bytes. Each file holds a message-flow graph (hop.I.indptr,
hop.I.indices, outermost first), x, y, the model's state (PyG's names), the logits, the mean negative log-likelihood and
every gradient. Metadata: magic, version, model, tolerance. Only tests read these files, so they change with this script.
"""
import json
import pathlib
import struct
import sys

import torch
import torch.nn.functional as F
from torch.nn import BatchNorm1d, LeakyReLU, Linear, ReLU, Sequential
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"


def sample_hops(generator, num_seeds, fanouts):
    """Hops as the sampler lays them out: destinations are the first sources; rows may be empty or repeat an entry."""
    hops, num_nodes = [], num_seeds
    for fanout in fanouts:  # the seeds' own hop first
        num_dst, num_src = num_nodes, num_nodes * 2 + 3
        degrees = torch.randint(0, fanout + 1, (num_dst,), generator=generator)
        indptr = torch.cat([torch.zeros(1, dtype=torch.long), degrees.cumsum(0)])
        indices = torch.randint(0, num_src, (int(indptr[-1]),), generator=generator)
        hops.insert(0, (num_dst, num_src, indptr, indices))
        num_nodes = num_src
    return hops, num_nodes


def edge_index(hop):
    num_dst, _, indptr, indices = hop
    return torch.stack([indices, torch.repeat_interleave(torch.arange(num_dst), indptr.diff())])


class Sage(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b, aggr="mean", bias=False) for a, b in zip(dims, dims[1:]))

    def forward(self, x, hops):
        for i, (conv, hop) in enumerate(zip(self.convs, hops)):
            x = conv((x, x[: hop[0]]), edge_index(hop))
            if i + 1 < len(self.convs):
                x = x.relu()
        return x


class Gat(torch.nn.Module):
    def __init__(self, dims, heads=1):
        super().__init__()
        ends = [(dims[i], dims[i + 1], heads if i + 2 < len(dims) else 1) for i in range(len(dims) - 1)]
        self.convs = torch.nn.ModuleList(GATConv(a, b // h, heads=h, bias=False) for a, b, h in ends)

    forward = Sage.forward


class Gcn(torch.nn.Module):
    """The mean over a node's entries and itself: see models/gcn.h."""

    def __init__(self, dims):
        super().__init__()
        self.convs = torch.nn.ModuleList(GCNConv(a, b, normalize=False) for a, b in zip(dims, dims[1:]))

    def forward(self, x, hops):
        for i, (conv, hop) in enumerate(zip(self.convs, hops)):
            own = torch.arange(hop[0])
            edges = torch.cat([edge_index(hop), torch.stack([own, own])], 1)
            x = conv(x, edges, 1 / (hop[2].diff() + 1).float()[edges[1]])[: hop[0]]
            if i + 1 < len(self.convs):
                x = x.relu()
        return x


class Gin(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        hidden = dims[1]
        self.convs = torch.nn.ModuleList(
            GINConv(Sequential(Linear(a, hidden), BatchNorm1d(hidden), ReLU(), Linear(hidden, hidden), ReLU()))
            for a in dims[:-1])
        self.lin1, self.lin2 = Linear(hidden, hidden), Linear(hidden, dims[-1])

    def forward(self, x, hops):
        for conv, hop in zip(self.convs, hops):
            x = conv((x, x[: hop[0]]), edge_index(hop))
        return self.lin2(self.lin1(x).relu())


class SageRi(torch.nn.Module):
    """As SALIENT's artifact, but for the MLP: see models/sage_ri.h."""

    def __init__(self, dims):
        super().__init__()
        hidden, num_classes = dims[1], dims[-1]
        self.convs = torch.nn.ModuleList(SAGEConv(a, hidden, bias=False) for a in dims[:-1])
        self.bns = torch.nn.ModuleList(BatchNorm1d(hidden) for _ in self.convs)
        self.res_linears = torch.nn.ModuleList([Linear(dims[0], hidden)] + [torch.nn.Identity() for _ in self.convs[1:]])
        self.mlp = torch.nn.Module()
        self.mlp.module_list = Sequential(Linear(dims[0] + hidden * len(self.convs), 2 * num_classes),
                                          BatchNorm1d(2 * num_classes), LeakyReLU(), Linear(2 * num_classes, num_classes))

    def forward(self, x, hops):
        num_seeds = hops[-1][0]
        collected = [x[:num_seeds]]
        for conv, bn, residual, hop in zip(self.convs, self.bns, self.res_linears, hops):
            target = x[: hop[0]]
            x = F.leaky_relu(bn(conv((x, target), edge_index(hop)))) + residual(target)
            collected.append(x[:num_seeds])
        return self.mlp.module_list(torch.cat(collected, -1))


MODELS = {"sage": Sage, "gat": Gat, "gin": Gin, "gcn": Gcn, "sage-ri": SageRi}


def save(tensors, path, metadata):
    """A safetensors file; Python's own writer puts the metadata in another order on every run."""
    names = {torch.float32: "F32", torch.float16: "F16", torch.int32: "I32", torch.int64: "I64"}
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write(name, model_name, dims, fanouts, num_seeds, dtype, seed, **options):
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    hops, num_nodes = sample_hops(generator, num_seeds, fanouts)
    x = torch.randn(num_nodes, dims[0], generator=generator).to(dtype)
    y = torch.randint(0, dims[-1], (num_seeds,), generator=generator)
    model = MODELS[model_name](dims, **options)
    model.train()  # dropout is 0 here; batch norm uses and updates its statistics
    state = {f"state.{key}": value.detach().clone() for key, value in model.state_dict().items()}
    logits = model(x.float(), hops)
    loss = F.nll_loss(F.log_softmax(logits, -1), y)
    loss.backward()
    tensors = {"x": x, "y": y.int(), "logits": logits.detach(), "loss": loss.detach(), **state}
    tensors.update({f"grad.{key}": value.grad for key, value in model.named_parameters()})
    tensors.update({f"updated.{key}": value.detach().clone() for key, value in model.named_buffers()})
    for i, (num_dst, num_src, indptr, indices) in enumerate(hops):
        tensors[f"hop.{i}.indptr"], tensors[f"hop.{i}.indices"] = indptr.int(), indices.int()
        tensors[f"hop.{i}.num_src"] = torch.tensor(num_src, dtype=torch.int32)
    metadata = {"magic": "salient golden", "version": "1", "model": model_name, "hidden_dim": str(dims[1]),
                "num_layers": str(len(hops)), "num_classes": str(dims[-1]), "tolerance": "1e-5",
                **{key: str(value) for key, value in options.items()}}
    path = OUT / f"{name}.safetensors"
    save(tensors, path, metadata)
    print(f"{path.name}: {path.stat().st_size} bytes, loss {loss.item():.6f}")


def main():
    OUT.mkdir(exist_ok=True)
    write("sage_f32", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 1)
    write("sage_f16", "sage", [16, 24, 7], [5, 10], 9, torch.float16, 2)
    write("gat", "gat", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 3)
    write("gat_heads", "gat", [10, 12, 5], [6, 8], 6, torch.float16, 4, heads=3)
    write("gin", "gin", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 5)
    write("gcn", "gcn", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 7)
    write("sage_ri", "sage-ri", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 6)


if __name__ == "__main__":
    sys.exit(main())
