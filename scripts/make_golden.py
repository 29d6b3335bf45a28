#!/usr/bin/env python3
"""Writes tests/models/golden/*.safetensors: what PyTorch Geometric's layers compute on small sampled batches.

    PYTHONPATH=FOLDER_WITH_TORCH_AND_PYG scripts/make_golden.py

needs torch and torch_geometric 2.8; no GPU. The same versions write the same bytes. Each file holds a message-flow
graph (hop.I.indptr, hop.I.indices, outermost first), where the model reads them the degrees of its nodes in a graph
that it was sampled from ([N, 2]: entries, self loops) and what their rows weigh there (row_weights, [N]), the features
(hop.I.edge_x) or weights (hop.I.edge_weight) of its edges, x, y, the model's
state (PyG's names), the logits, the mean negative log-likelihood and every gradient. Metadata: magic, version, model,
tolerance. Only tests read these files, so they change with this script.
"""
import json
import pathlib
import struct
import sys

import torch
import torch.nn.functional as F
from torch.nn import BatchNorm1d, LayerNorm, LeakyReLU, Linear, ModuleList, ReLU, Sequential
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINConv, GINEConv, GraphConv, SAGEConv, TransformerConv
import typed_golden

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "models" / "golden"


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


def made_up_degrees(num_nodes):
    """Of a graph that hops might have been sampled from: every other node has a self loop."""
    nodes = torch.arange(num_nodes)
    return torch.stack([6 + nodes * 7 % 11, nodes % 2], 1)


def edge_index(hop):
    num_dst, _, indptr, indices = hop[:4]
    return torch.stack([indices, torch.repeat_interleave(torch.arange(num_dst), indptr.diff())])


class Stack(torch.nn.Module):
    """What surrounds the convolutions: see models/conv_stack.h."""

    ends_in_logits = True
    drops_between_layers = True

    def __init__(self, dims, norm="none", residual=False, jk="none", dropout=0.0, **options):
        super().__init__()
        self.dropout = torch.nn.Dropout(dropout)
        hidden, num_layers, self.jk = dims[1], len(dims) - 1, jk
        num_hidden = num_layers - (jk == "none" and self.ends_in_logits)
        widths = [dims[0]] + [hidden] * num_hidden + dims[-1:]
        pairs = list(zip(widths, widths[1:]))[:num_layers]
        self.convs = ModuleList(self.conv(a, b, i < num_hidden, **options) for i, (a, b) in enumerate(pairs))
        norms = {"none": torch.nn.Identity, "batch": BatchNorm1d, "layer": LayerNorm}
        self.norms = ModuleList(norms[norm](hidden) for _ in range(num_hidden))
        self.res_linears = ModuleList(
            torch.nn.Identity() if a == b else Linear(a, b) for a, b in pairs[:num_hidden] if residual)
        self.read_out_dim = hidden * num_layers if jk == "cat" else hidden
        if jk != "none" and self.ends_in_logits:
            self.lin = Linear(self.read_out_dim, dims[-1])

    def apply_conv(self, conv, x, hop):
        return conv((x, x[: hop[0]]), edge_index(hop))

    def apply_by_weight(self, conv, x, hop, weight):
        raise NotImplementedError

    def read_out(self, x):
        return self.lin(x) if hasattr(self, "lin") else x

    def forward(self, x, hops, edges=None, weights=None):
        """edges: the features of each hop's edges, if the convolutions have edge_dim; weights: of those."""
        num_seeds, collected = hops[-1][0], []
        for i, (conv, hop) in enumerate(zip(self.convs, hops)):
            if weights is not None and edges is not None:
                h = conv((x, x[: hop[0]]), edge_index(hop), edge_attr=edges[i], weight=weights[i])
            elif weights is not None:
                h = self.apply_by_weight(conv, x, hop, weights[i])
            elif edges is None:
                h = self.apply_conv(conv, x, hop)
            else:
                h = conv((x, x[: hop[0]]), edge_index(hop), edge_attr=edges[i])
            if i < len(self.norms):
                if self.res_linears:
                    h = h + self.res_linears[i](x[: hop[0]])
                h = self.norms[i](h).relu()
                h = self.dropout(h) if self.drops_between_layers else h
            x = h
            collected.append(x[:num_seeds])
        jumped = {"none": lambda xs: xs[-1], "cat": lambda xs: torch.cat(xs, -1),
                  "max": lambda xs: torch.stack(xs, -1).max(-1).values}[self.jk](collected)
        return self.read_out(jumped)


class EdgeSage(torch.nn.Module):
    """SAGEConv(bias=False) of messages (x_j | e_ij), by a matrix of E-GraphSAGE's over both, in two parts; entry by
    entry. weight: of the edges, of which the mean is then."""

    def __init__(self, in_dim, out_dim, edge_dim, aggr):
        super().__init__()
        self.aggr = aggr
        self.lin_l, self.lin_r, self.lin_edge = (Linear(d, out_dim, bias=False) for d in (in_dim, in_dim, edge_dim))

    def forward(self, x, edges, edge_attr, weight=None):
        messages = torch.cat([x[0][edges[0]], edge_attr], 1)
        weight = torch.ones(len(messages)) if weight is None else weight
        rows = []
        for i in range(len(x[1])):
            of_row, w = messages[edges[1] == i], weight[edges[1] == i]
            if len(of_row) == 0 or w.sum() == 0:
                rows.append(messages.new_zeros(messages.shape[1]))
            elif self.aggr == "max":
                rows.append(of_row.max(0).values)
            else:
                rows.append((w[:, None] * of_row).sum(0) / w.sum())
        joined = torch.cat([self.lin_l.weight, self.lin_edge.weight], 1)
        return torch.stack(rows) @ joined.t() + self.lin_r(x[1])


class Sage(Stack):
    def conv(self, in_dim, out_dim, is_hidden, aggr="mean", edge_dim=None):
        if edge_dim is not None:
            return EdgeSage(in_dim, out_dim, edge_dim, aggr)
        return SAGEConv(in_dim, out_dim, aggr=aggr, bias=False)

    def apply_by_weight(self, conv, x, hop, weight):
        """SAGEConv takes no edge_weight; GraphConv does: its sum with the weights of a row scaled to 1."""
        edges, num_dst = edge_index(hop), hop[0]
        sums = torch.zeros(num_dst).index_add(0, edges[1], weight)
        graph_conv = GraphConv(conv.lin_l.in_channels, conv.out_channels, bias=False)
        graph_conv.lin_rel, graph_conv.lin_root = conv.lin_l, conv.lin_r
        return graph_conv((x, x[:num_dst]), edges, weight / sums.clamp(min=1e-30)[edges[1]])


class Attention(Stack):
    """Of weights: their logarithms are added to what PyG's layers take the softmax of. Those with self loops leave out
    a row's own entries and have one edge to itself behind the others, of the mean of these."""

    def apply_by_weight(self, conv, x, hop, weight):
        edges, num_dst = edge_index(hop), hop[0]
        if not isinstance(conv, TransformerConv):
            others = edges[0] != edges[1]
            row, weight = edges[1][others], weight[others]
            counts = torch.bincount(row, minlength=num_dst).clamp(min=1)
            mean = torch.zeros(num_dst).index_add(0, row, weight) / counts
            weight = torch.cat([weight, torch.where(mean > 0, mean, torch.ones(num_dst))])
        module = sys.modules[type(conv).__module__]
        plain = module.softmax
        module.softmax = lambda src, *args: plain(src + weight.log().unsqueeze(1), *args)
        try:
            return conv((x, x[:num_dst]), edges)
        finally:
            module.softmax = plain


class Gat(Attention):
    def conv(self, in_dim, out_dim, is_hidden, heads=1, edge_dim=None):
        heads = heads if is_hidden else 1
        return GATConv(in_dim, out_dim // heads, heads=heads, bias=False, edge_dim=edge_dim)


class Gatv2(Attention):
    def conv(self, in_dim, out_dim, is_hidden, heads=1, edge_dim=None):
        heads = heads if is_hidden else 1
        return GATv2Conv(in_dim, out_dim // heads, heads=heads, edge_dim=edge_dim)


class Transformer(Attention):
    def conv(self, in_dim, out_dim, is_hidden, heads=1, edge_dim=None):
        heads = heads if is_hidden else 1
        return TransformerConv(in_dim, out_dim // heads, heads=heads, edge_dim=edge_dim)


class Gcn(Stack):
    """A hop without degrees is the whole graph, which PyG normalises itself. Of a sampled one the weights are given, as
    models/gcn.h says them; with gcn_norm="row" those of the mean over a node's entries and itself."""

    def __init__(self, dims, gcn_norm="symmetric", **options):
        super().__init__(dims, **options)
        self.gcn_norm = gcn_norm

    def conv(self, in_dim, out_dim, is_hidden):
        return GCNConv(in_dim, out_dim)

    def apply_conv(self, conv, x, hop):
        edges, num_dst, kept = edge_index(hop), hop[0], hop[2].diff()
        conv.normalize = self.gcn_norm == "symmetric" and len(hop) == 4
        if conv.normalize:
            return conv(x, edges)
        own = torch.arange(num_dst)
        if self.gcn_norm == "row":
            weights = torch.ones(edges.shape[1] + num_dst) / (kept + 1)[torch.cat([edges[1], own])]
        else:
            entries, loops = hop[4].unbind(1)
            root = (entries - loops + 1.0).pow(-0.5)
            weights = root[edges[0]] * root[edges[1]] * (entries[:num_dst] / kept)[edges[1]]
            weights = torch.cat([weights, root[:num_dst].square() * (1 - loops[:num_dst])])
        return conv(x, torch.cat([edges, torch.stack([own, own])], 1), weights)[:num_dst]


    def apply_by_weight(self, conv, x, hop, weight):
        """The whole graph of a batch: gcn_norm with edge_weight itself. Of a sampled hop as models/edge_weights.h says,
        by the weights of whole rows, hop[5]."""
        edges, num_dst, kept = edge_index(hop), hop[0], hop[2].diff()
        own = torch.arange(num_dst)
        with_loops = torch.cat([edges, torch.stack([own, own])], 1)
        conv.normalize = self.gcn_norm == "symmetric" and len(hop) == 4
        if conv.normalize:
            return conv(x, edges, weight)
        if self.gcn_norm == "row":
            scale = 1 / (torch.zeros(num_dst).index_add(0, edges[1], weight) + 1)
            return conv(x, with_loops, torch.cat([weight * scale[edges[1]], scale]))[:num_dst]
        entries, loops = hop[4].unbind(1)
        root = (hop[5] + (loops == 0)).pow(-0.5)
        weight = weight * root[edges[0]] * root[edges[1]] * (entries[:num_dst] / kept)[edges[1]]
        return conv(x, with_loops, torch.cat([weight, root[:num_dst].square() * (loops[:num_dst] == 0)]))[:num_dst]


class Gin(Stack):
    """The last ReLU of GINConv's network is that of the stack; gin_sum="scaled" counts entries all / kept times."""

    ends_in_logits = False
    drops_between_layers = False

    def __init__(self, dims, gin_sum="plain", **options):
        super().__init__(dims, **options)
        self.gin_sum = gin_sum
        self.lin1, self.lin2 = Linear(self.read_out_dim, dims[1]), Linear(dims[1], dims[-1])

    def conv(self, in_dim, out_dim, is_hidden):
        return GINConv(Sequential(Linear(in_dim, out_dim), BatchNorm1d(out_dim), ReLU(), Linear(out_dim, out_dim)))

    def apply_conv(self, conv, x, hop):
        if self.gin_sum == "plain" or len(hop) == 4:  # the whole graph
            return super().apply_conv(conv, x, hop)
        edges, num_dst = edge_index(hop), hop[0]
        weights = (hop[4][:num_dst, 0] / hop[2].diff())[edges[1]]
        return conv.nn(x[:num_dst].index_add(0, edges[1], weights[:, None] * x[edges[0]]))

    def read_out(self, x):
        return self.lin2(self.dropout(self.lin1(x).relu()))


class Gine(Gin):
    def conv(self, in_dim, out_dim, is_hidden, edge_dim=None):
        return GINEConv(Sequential(Linear(in_dim, out_dim), BatchNorm1d(out_dim), ReLU(), Linear(out_dim, out_dim)),
                        edge_dim=edge_dim)


class SageRi(torch.nn.Module):
    """As SALIENT's artifact, but for the MLP: see models/sage_ri.h."""

    def __init__(self, dims, dropout=0.0):
        super().__init__()
        self.dropout = torch.nn.Dropout(dropout)
        hidden, num_classes = dims[1], dims[-1]
        self.convs = ModuleList(SAGEConv(a, hidden, bias=False) for a in dims[:-1])
        self.bns = ModuleList(BatchNorm1d(hidden) for _ in self.convs)
        self.res_linears = ModuleList([Linear(dims[0], hidden)] + [torch.nn.Identity() for _ in self.convs[1:]])
        self.mlp = torch.nn.Module()
        wide = 2 * num_classes
        self.mlp.module_list = Sequential(Linear(dims[0] + hidden * len(self.convs), wide), BatchNorm1d(wide),
                                          LeakyReLU(), Linear(wide, num_classes))

    def forward(self, x, hops, edges=None, weights=None):
        num_seeds, x = hops[-1][0], self.dropout(x)
        collected = [x[:num_seeds]]
        for i, (conv, bn, residual, hop) in enumerate(zip(self.convs, self.bns, self.res_linears, hops)):
            target = x[: hop[0]]
            if weights is None:
                h = conv((self.dropout(x), self.dropout(target)), edge_index(hop))
            else:
                h = Sage.apply_by_weight(self, conv, x, hop, weights[i])  # without dropout
            x = self.dropout(F.leaky_relu(bn(h))) + residual(target)
            collected.append(x[:num_seeds])
        return self.mlp.module_list(torch.cat(collected, -1))


MODELS = {"sage": Sage, "gat": Gat, "gin": Gin, "gcn": Gcn, "gatv2": Gatv2, "sage-ri": SageRi,
          "transformer": Transformer, "gine": Gine}


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


def save_hops(tensors, hops):
    for i, (_, num_src, indptr, indices, *_) in enumerate(hops):
        tensors[f"hop.{i}.indptr"], tensors[f"hop.{i}.indices"] = indptr.int(), indices.int()
        tensors[f"hop.{i}.num_src"] = torch.tensor(num_src, dtype=torch.int32)


def write_whole_graph_weights(name, gcn_norm="symmetric"):
    """What PyG's GCNConv makes of a weighted graph, self loops among its edges: every layer is the whole graph."""
    generator = torch.Generator().manual_seed(46)
    torch.manual_seed(46)
    num_nodes, dims = 14, [10, 12, 5]
    degrees = torch.randint(0, 6, (num_nodes,), generator=generator)
    indptr = torch.cat([torch.zeros(1, dtype=torch.long), degrees.cumsum(0)])
    indices = torch.cat([torch.randperm(num_nodes, generator=generator)[:d].sort().values for d in degrees.tolist()])
    hop = (num_nodes, num_nodes, indptr, indices)
    weight = made_up_weights(len(indices), generator)
    x = torch.randn(num_nodes, dims[0], generator=generator)
    y = torch.randint(0, dims[-1], (num_nodes,), generator=generator)
    model = Gcn(dims, gcn_norm=gcn_norm)
    edges = edge_index(hop)
    loops = torch.zeros(num_nodes, dtype=torch.long).index_add(0, edges[1], (edges[0] == edges[1]).long())
    rows = torch.zeros(num_nodes).index_add(0, edges[1], weight)
    save_golden(name, "gcn", dims, model, [hop] * 2, x, y, {"gcn_norm": gcn_norm, "aggregate": "weighted"},
                {"degrees": torch.stack([degrees, loops], 1), "row_weights": rows}, weights=[weight] * 2)


def made_up_weights(count, generator):
    """From 0 to some hundred, an eighth of them 0."""
    weight = torch.randn(count, generator=generator).mul(2).exp()
    return weight * (torch.rand(count, generator=generator) > 0.125)


def write(name, model_name, dims, fanouts, num_seeds, dtype, seed, has_degrees=False, by_weight=False, **options):
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    hops, num_nodes = sample_hops(generator, num_seeds, fanouts)
    x = torch.randn(num_nodes, dims[0], generator=generator).to(dtype)
    y = torch.randint(0, dims[-1], (num_seeds,), generator=generator)
    if has_degrees:
        degrees = made_up_degrees(num_nodes)
        hops = [(*hop, degrees[: hop[1]]) for hop in hops]
    more = {"degrees": degrees} if has_degrees else {}
    weights = None
    if by_weight:
        weights = [made_up_weights(len(hop[3]), generator) for hop in hops]
        if model_name == "transformer":  # a row of weights of 0 alone has no softmax in PyG
            weights = [weight + 0.01 for weight in weights]
        if has_degrees:
            more["row_weights"] = torch.rand(num_nodes, generator=generator) * 9 + 1
            hops = [(*hop, more["row_weights"][: hop[1]]) for hop in hops]
    edges = None
    if "edge_dim" in options:
        edges = [torch.randn(len(hop[3]), options["edge_dim"], generator=generator).to(dtype) for hop in hops]
    model = MODELS[model_name](dims, **options)
    if by_weight:
        options["aggregate"] = "weighted"
    save_golden(name, model_name, dims, model, hops, x, y, options, more, edges, weights)


def save_golden(name, model_name, dims, model, hops, x, y, options, more, edges=None, weights=None):
    """The state of a model, what it makes of a batch, and all gradients. more: further tensors of the nodes."""
    model.train()  # dropout is 0 here; batch norm uses and updates its statistics
    state = {f"state.{key}": value.detach().clone() for key, value in model.state_dict().items()}
    logits = model(x.float(), hops, None if edges is None else [rows.float() for rows in edges], weights)
    loss = F.nll_loss(F.log_softmax(logits, -1), y)
    loss.backward()
    tensors = {"x": x, "y": y.int(), "logits": logits.detach(), "loss": loss.detach(), **state}
    tensors.update({f"grad.{key}": value.grad for key, value in model.named_parameters()})
    tensors.update({f"updated.{key}": value.detach().clone() for key, value in model.named_buffers()})
    for key, values in more.items():
        tensors[key] = values.int() if key == "degrees" else values
    for i, weight in enumerate(weights or []):
        tensors[f"hop.{i}.edge_weight"] = weight
    for i, edge_x in enumerate(edges or []):
        tensors[f"hop.{i}.edge_x"] = edge_x
    save_hops(tensors, hops)
    metadata = {"magic": "salient golden", "version": "1", "model": model_name, "hidden_dim": str(dims[1]),
                "num_layers": str(len(hops)), "num_classes": str(dims[-1]), "tolerance": "1e-5",
                **{key: str(value) for key, value in options.items()}}
    path = OUT / f"{name}.safetensors"
    save(tensors, path, metadata)
    print(f"{path.name}: {path.stat().st_size} bytes, loss {loss.item():.6f}")


def write_typed(name, model_name, fanouts, seed, hidden=12, **options):
    """A batch with an isolated type, one that no relation leads to, one without features, a self relation, two between
    the same types, one without entries, and empty slots."""
    dot = "" if model_name == "hgt" else "."  # HGTConv has no types with a dot
    types = typed_golden.Types([("paper", 60, 7), ("author", 50, 0), (f"sub{dot}ject", 40, 3), ("alone", 45, 2)],
                               [(0, 0, "cites"), (1, 0, "writes"), (0, 1, "rev_writes"), (2, 0, "about"),
                                (1, 1, "knows"), (1, 0, "reviews")])
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    batch = typed_golden.sample_batch(types, generator, 6, fanouts, without_entries=4)
    num_classes = 5
    y = torch.randint(0, num_classes, (6,), generator=generator)
    model = typed_golden.MODELS[model_name](types, hidden, len(fanouts), num_classes, **options)
    with torch.no_grad():  # so that no parameter is 0 or 1 by chance of its initial value
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    state = {f"state.{key}": value.detach().clone() for key, value in model.state_dict().items()}
    logits = model(batch)
    loss = F.nll_loss(F.log_softmax(logits, -1), y)
    loss.backward()
    tensors = {"nodes": batch.nodes.int(), "node_type": batch.node_type.int(), "y": y.int(), "logits": logits.detach(),
               "loss": loss.detach(), **state}
    tensors.update({f"x.{t}": x for t, x in batch.x.items()})
    tensors.update({f"grad.{key}": torch.zeros_like(value) if value.grad is None else value.grad
                    for key, value in model.named_parameters()})
    tensors.update({f"updated.{key}": value.detach().clone() for key, value in model.named_buffers()})
    save_hops(tensors, batch.hops)
    metadata = {"magic": "salient golden", "version": "1", "model": model_name, "hidden_dim": str(hidden),
                "num_layers": str(len(fanouts)), "num_classes": str(num_classes), "tolerance": "1e-5", **types.text(),
                **{key: str(value) for key, value in options.items()}}
    path = OUT / f"{name}.safetensors"
    save(tensors, path, metadata)
    print(f"{path.name}: {path.stat().st_size} bytes, loss {loss.item():.6f}")


def main():
    OUT.mkdir(exist_ok=True)
    write_typed("rgcn", "rgcn", [3, 4], 21)
    write_typed("rgcn_bases", "rgcn", [3, 4], 22, bases=2, norm="layer", residual=True)
    write_typed("rgcn_blocks", "rgcn", [3, 4], 23, blocks=3, jk="cat")
    write_typed("rsage", "rsage", [3, 4], 24)
    write_typed("rsage_batch_norm", "rsage", [3, 4], 25, norm="batch", jk="max")
    write_typed("rgat", "rgat", [3, 4], 26)
    write_typed("rgat_heads", "rgat", [3, 4], 27, heads=4, residual=True)
    write_typed("hgt", "hgt", [3, 4], 28)
    write_typed("hgt_heads", "hgt", [3, 4], 29, heads=3, norm="layer", jk="cat")
    write_typed("rgcn_activated", "rgcn", [3, 4], 37, norm="batch", activate_input=True)
    write_typed("hgt_activated", "hgt", [3, 4], 38, heads=3, activate_input=True)
    write("sage_f32", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 1)
    write("sage_f16", "sage", [16, 24, 7], [5, 10], 9, torch.float16, 2)
    write("gat", "gat", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 3)
    write("gat_heads", "gat", [10, 12, 5], [6, 8], 6, torch.float16, 4, heads=3)
    write("gin", "gin", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 5)
    write("gin_scaled", "gin", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 14, has_degrees=True, gin_sum="scaled")
    write("gcn", "gcn", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 7, has_degrees=True)
    write("gcn_row", "gcn", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 7, gcn_norm="row")
    write("sage_ri", "sage-ri", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 6)
    write("sage_max", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 13, aggr="max")
    write("gatv2", "gatv2", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 11)
    write("gatv2_heads", "gatv2", [10, 12, 5], [6, 8], 6, torch.float16, 12, heads=3)
    write("transformer", "transformer", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 15)
    write("transformer_heads", "transformer", [10, 12, 5], [6, 8], 6, torch.float16, 16, heads=3)
    write("gat_edges", "gat", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 31, heads=3, edge_dim=4)
    write("gatv2_edges", "gatv2", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 32, heads=3, edge_dim=4)
    write("gatv2_edges_f16", "gatv2", [10, 12, 5], [6, 8], 6, torch.float16, 33, edge_dim=1)
    write("transformer_edges", "transformer", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 34, heads=3, edge_dim=4)
    write("gine", "gine", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 35, edge_dim=4)
    write("gine_residual", "gine", [12, 12, 5], [6, 8], 6, torch.float16, 36, norm="layer", residual=True, jk="cat",
          edge_dim=3)
    write("sage_edges", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 50, edge_dim=4)
    write("sage_edges_f16", "sage", [16, 24, 7], [5, 10], 9, torch.float16, 51, norm="layer", residual=True, edge_dim=9)
    write("sage_edges_max", "sage", [10, 12, 5], [6, 8], 6, torch.float32, 52, aggr="max", edge_dim=4)
    write("sage_edges_weights", "sage", [10, 12, 5], [6, 8], 6, torch.float32, 53, by_weight=True, edge_dim=3)
    write("sage_weights", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 41, by_weight=True)
    write("sage_weights_f16", "sage", [16, 24, 7], [5, 10], 9, torch.float16, 42, by_weight=True)
    write("sage_ri_weights", "sage-ri", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 43, by_weight=True)
    write("gcn_weights", "gcn", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 44, has_degrees=True, by_weight=True)
    write("gcn_row_weights", "gcn", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 45, by_weight=True, gcn_norm="row")
    write_whole_graph_weights("gcn_weights_whole")
    write("gat_weights", "gat", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 47, by_weight=True, heads=3)
    write("gatv2_weights", "gatv2", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 48, by_weight=True, heads=3)
    write("transformer_weights", "transformer", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 49, by_weight=True,
          heads=3)
    write("sage_layer_norm", "sage", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 8, norm="layer", residual=True,
          jk="cat")
    write("gat_batch_norm", "gat", [10, 12, 12, 5], [3, 4, 5], 6, torch.float32, 9, norm="batch", jk="max", heads=3)
    write("gin_residual", "gin", [12, 12, 12, 5], [3, 4, 5], 6, torch.float32, 10, norm="layer", residual=True,
          jk="max")


if __name__ == "__main__":
    sys.exit(main())
