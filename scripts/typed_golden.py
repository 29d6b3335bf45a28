#!/usr/bin/env python3
"""Models of typed graphs in PyTorch Geometric, and generated batches: what make_golden.py and the tests import.

A batch is as models/batch_view.h has it: nodes of all types in one numbering, node i of type node_type[i] with the id
nodes[i]; rows of a hop are slots, one for each relation that leads to the destination's type, in the relations' order.
"""
import dataclasses
import warnings

import torch
from torch.nn import BatchNorm1d, Embedding, LayerNorm, Linear, ModuleDict, ModuleList
from torch_geometric.nn import GATConv, HeteroConv, HGTConv, RGCNConv, SAGEConv

warnings.filterwarnings("ignore", message="There exist node types")  # of HeteroConv: see of_others()


@dataclasses.dataclass
class Types:
    nodes: list  # (name, count, width), width 0 = no features
    relations: list  # (source type, destination type, name)

    def triples(self):
        return [(self.nodes[src][0], name, self.nodes[dst][0]) for src, dst, name in self.relations]

    def text(self):
        """As the metadata of golden files have it."""
        return {"node_types": ",".join(f"{n}:{c}:{w}" for n, c, w in self.nodes),
                "relations": ",".join(f"{s}:{d}:{n}" for s, d, n in self.relations)}

    @staticmethod
    def of_text(metadata):
        fields = [word.split(":") for word in metadata["node_types"].split(",")]
        relations = [word.split(":") for word in metadata["relations"].split(",")]
        return Types([(n, int(c), int(w)) for n, c, w in fields], [(int(s), int(d), n) for s, d, n in relations])


def key_of(name):
    """A name as a part of parameters' names."""
    return name.replace(".", "#")


@dataclasses.dataclass
class Batch:
    types: Types
    nodes: torch.Tensor
    node_type: torch.Tensor
    x: dict  # by number of the type
    hops: list  # (num_dst, num_src, indptr of slots, indices)

    def rows(self, node_type, count):
        return (self.node_type[:count] == node_type).nonzero()[:, 0]

    def edges(self, hop):
        """Of each relation its entries: source and destination in the batch's numbering."""
        num_dst, _, indptr, indices = hop
        slots = [(i, r) for i in range(num_dst) for r, relation in enumerate(self.types.relations)
                 if relation[1] == self.node_type[i]]
        dst = torch.tensor([i for i, _ in slots], dtype=torch.long)
        relation = torch.tensor([r for _, r in slots], dtype=torch.long)
        degrees = indptr.diff()
        entries = torch.stack([indices.long(), torch.repeat_interleave(dst, degrees)])
        of_entry = torch.repeat_interleave(relation, degrees)
        return [entries[:, of_entry == r] for r in range(len(self.types.relations))]


def sample_batch(types, generator, num_seeds, fanouts, without_entries):
    """Slots have up to `fanout` entries, those of relation `without_entries` none; seeds are of type 0."""
    def below(limit):
        return int(torch.randint(0, limit, (1,), generator=generator))

    sizes = [num_seeds]
    for _ in fanouts:
        sizes.append(2 * sizes[-1] + 3)
    node_type = [0] * num_seeds + [below(len(types.nodes)) for _ in range(sizes[-1] - num_seeds)]
    begins = [sum(count for _, count, _ in types.nodes[:t]) for t in range(len(types.nodes))]
    free = [torch.randperm(count, generator=generator).tolist() for _, count, _ in types.nodes]
    nodes = [begins[t] + free[t].pop() for t in node_type]
    batch = Batch(types, torch.tensor(nodes), torch.tensor(node_type), {}, [])
    for fanout, num_dst, num_src in zip(fanouts, sizes, sizes[1:]):
        degrees, indices = [], []
        for i in range(num_dst):
            for r, (src, dst, _) in enumerate(types.relations):
                if dst != node_type[i]:
                    continue
                of_type = batch.rows(src, num_src).tolist()
                degrees.append(0 if r == without_entries or not of_type else below(fanout + 1))
                indices += [of_type[below(len(of_type))] for _ in range(degrees[-1])]
        indptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.tensor(degrees).cumsum(0)])
        batch.hops.insert(0, (num_dst, num_src, indptr, torch.tensor(indices, dtype=torch.long)))
    for t, (_, _, width) in enumerate(types.nodes):
        if width > 0:
            batch.x[t] = torch.randn(int((batch.node_type == t).sum()), width, generator=generator)
    return batch


class TypedStack(torch.nn.Module):
    """See models/typed_stack.h and conv_stack.h."""

    reads_out = False
    keeps_others = True

    def __init__(self, types, hidden, num_layers, num_classes, norm="none", residual=False, jk="none",
                 activate_input=False, **options):
        super().__init__()
        self.types, self.residual, self.jk, self.activate_input = types, residual, jk, activate_input
        self.begins = [sum(count for _, count, _ in types.nodes[:t]) for t in range(len(types.nodes))]
        self.lin_in = ModuleDict({key_of(n): Linear(w, hidden) for n, _, w in types.nodes if w > 0})
        self.emb = ModuleDict({key_of(n): Embedding(c, hidden) for n, c, w in types.nodes if w == 0})
        has_lin = jk != "none" or self.reads_out
        num_hidden = num_layers - (not has_lin)
        self.convs = ModuleList(
            self.conv(hidden, hidden if i < num_hidden else num_classes, i < num_hidden, **options)
            for i in range(num_layers))
        norms = {"none": torch.nn.Identity, "batch": BatchNorm1d, "layer": LayerNorm}
        self.norms = ModuleList(norms[norm](hidden) for _ in range(num_hidden))
        if activate_input and norm != "none":
            self.norm_in = norms[norm](hidden)
        if has_lin:
            self.lin = Linear(hidden * num_layers if jk == "cat" else hidden, num_classes)

    def input(self, batch):
        rows = [None] * len(batch.nodes)
        for t, (name, _, width) in enumerate(self.types.nodes):
            of_type = batch.rows(t, len(batch.nodes))
            values = (self.lin_in[key_of(name)](batch.x[t].float()) if width > 0
                      else self.emb[key_of(name)](batch.nodes[of_type] - self.begins[t]))
            for place, value in zip(of_type.tolist(), values):
                rows[place] = value
        rows = torch.stack(rows)
        if not self.activate_input:
            return rows
        return (self.norm_in(rows) if hasattr(self, "norm_in") else rows).relu()

    def apply_conv(self, conv, x, batch, hop):
        """By dictionaries. Of a self relation HeteroConv computes all sources: destinations are the first of them."""
        num_dst, num_src = hop[:2]
        x_dict, edge_dict, local = {}, {}, torch.zeros(num_src, dtype=torch.long)
        for t, (name, _, _) in enumerate(self.types.nodes):
            of_type = batch.rows(t, num_src)
            x_dict[name] = x[of_type]
            local[of_type] = torch.arange(len(of_type))
        for triple, edges in zip(self.types.triples(), batch.edges(hop)):
            edge_dict[triple] = local[edges]
        out = conv(x_dict, edge_dict)
        width = next(iter(out.values())).shape[1]
        result = torch.zeros(num_dst, width)
        for t, (name, _, _) in enumerate(self.types.nodes):
            rows = batch.rows(t, num_dst)
            of_type = out.get(name)
            if of_type is None:
                of_type = self.of_others(conv, name, x_dict[name], width)
            result = result.index_copy(0, rows, of_type[: len(rows)])
        return result

    def of_others(self, conv, name, x, width):
        """Rows of a type that no relation leads to, which PyG drops."""
        return x if x.shape[1] == width else torch.zeros(len(x), width)

    def forward(self, batch):
        num_seeds, collected, x = batch.hops[-1][0], [], self.input(batch)
        for i, (conv, hop) in enumerate(zip(self.convs, batch.hops)):
            h = self.apply_conv(conv, x, batch, hop)
            if i < len(self.norms):
                h = h + x[: hop[0]] if self.residual else h
                h = self.norms[i](h).relu()
            x = h
            collected.append(x[:num_seeds])
        jumped = {"none": lambda xs: xs[-1], "cat": lambda xs: torch.cat(xs, -1),
                  "max": lambda xs: torch.stack(xs, -1).max(-1).values}[self.jk](collected)
        return self.lin(jumped) if hasattr(self, "lin") else jumped


class Rgcn(TypedStack):
    def conv(self, in_dim, out_dim, is_hidden, bases=0, blocks=0):
        return RGCNConv(in_dim, out_dim, len(self.types.relations), num_bases=bases or None,
                        num_blocks=blocks if blocks and is_hidden else None)

    def apply_conv(self, conv, x, batch, hop):
        edges = batch.edges(hop)
        of_entry = torch.cat([torch.full((e.shape[1],), r) for r, e in enumerate(edges)])
        return conv((x[: hop[1]], x[: hop[0]]), torch.cat(edges, 1), of_entry)


class Rsage(TypedStack):
    def conv(self, in_dim, out_dim, is_hidden):
        return HeteroConv({triple: SAGEConv(in_dim, out_dim) for triple in self.types.triples()}, aggr="sum")


class Rgat(TypedStack):
    reads_out = True

    def conv(self, in_dim, out_dim, is_hidden, heads=1):
        return HeteroConv({triple: GATConv(in_dim, out_dim // heads, heads=heads, add_self_loops=False)
                           for triple in self.types.triples()}, aggr="sum")


class Hgt(TypedStack):
    reads_out = True

    def conv(self, in_dim, out_dim, is_hidden, heads=1):
        return HGTConv(in_dim, out_dim, ([name for name, _, _ in self.types.nodes], self.types.triples()), heads)

    def of_others(self, conv, name, x, width):
        share = conv.skip[name].sigmoid()  # the equation with a sum over nothing
        return share * conv.out_lin.lins[name].bias + (1 - share) * x


MODELS = {"rgcn": Rgcn, "rsage": Rsage, "rgat": Rgat, "hgt": Hgt}
