# python/salient_gnn/by_weight.py - PyG's layers with neighbours that count by the weights of edges.
"""What `salient-train --aggregate weighted` computes (docs/EDGE_WEIGHTS_AND_TIMES.md), with the parameters of PyG's
layers, which take no weights themselves but for GCNConv."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def mean(
    conv: Any, x: Tensor, num_dst: int, edges: Tensor, weight: Tensor, edge_attr: Tensor | None = None
) -> Tensor:
    """[num_dst, F] of a SAGEConv: sum(w x) / sum(w) over a row, 0 where the weights sum to 0, and the node itself; of
    an EdgeSAGEConv that of edge_attr, too."""
    source, row = edges
    scale = _in_rows(weight, row, num_dst)
    shares = (weight * torch.where(scale > 0, scale.reciprocal(), 0)[row]).unsqueeze(1)
    out = conv.lin_l(_in_rows(shares * x[source], row, num_dst)) + conv.lin_r(x[:num_dst])
    return out if edge_attr is None else out + conv.lin_edge(_in_rows(shares * edge_attr, row, num_dst))


def mean_of_entries(values: Tensor, row: Tensor, num_rows: int) -> Tensor:
    """[num_rows, F] of values [E, F]: the mean over each row's entries, 0 of a row without."""
    count = torch.bincount(row, minlength=num_rows).clamp(min=1)
    return _in_rows(values, row, num_rows) / count.unsqueeze(1)


def row_mean(conv: Any, x: Tensor, num_dst: int, edges: Tensor, weight: Tensor) -> Tensor:
    """[num_dst, F] of a GCNConv that normalises nothing: (sum(w x) + x_i) / (sum(w) + 1)."""
    scale = 1 / (_in_rows(weight, edges[1], num_dst) + 1)
    edges, weight = _with_loops(edges, num_dst), torch.cat([weight * scale[edges[1]], scale])
    return conv(x, edges, weight)[:num_dst]


def symmetric_sum(conv: Any, x: Tensor, edges: Tensor, weight: Tensor) -> Tensor:
    """[V, F] of a GCNConv on the whole graph; several self loops of a node count as their sum."""
    is_loop = edges[0] == edges[1]
    loops = _in_rows(weight[is_loop], edges[1, is_loop], len(x))
    has_loop = torch.bincount(edges[1, is_loop], minlength=len(x)) > 0
    others = edges[:, ~is_loop]
    return conv(x, _with_loops(others, len(x)), torch.cat([weight[~is_loop], torch.where(has_loop, loops, 1)]))


def attention(
    kind: str, conv: Any, x: Tensor, num_dst: int, edges: Tensor, weight: Tensor, edge_attr: Tensor | None
) -> Tensor:
    """[num_dst, F] of a GATConv ("gat"), GATv2Conv ("gatv2") or TransformerConv ("transformer"): attention in
    proportion to w exp(score). The first two leave out a row's own edges and have one of the mean weight of its others,
    1 where that is 0."""
    from torch_geometric.utils import softmax

    if kind != "transformer":
        edges, weight, edge_attr = _with_mean_loops(edges, weight, edge_attr, num_dst)
    kept = weight > 0  # others are never attended to
    (source, row), weight = edges[:, kept], weight[kept]
    extra = None if edge_attr is None else conv.lin_edge(edge_attr[kept]).view(-1, conv.heads, conv.out_channels)
    scores, values = _SCORES[kind](conv, x, num_dst, source, row, extra)
    shares = softmax(scores + weight.log().unsqueeze(1), row, num_nodes=num_dst)
    out = _in_rows(shares.unsqueeze(-1) * values, row, num_dst).flatten(1)
    if kind == "transformer":
        return out + conv.lin_skip(x[:num_dst])
    return out if conv.bias is None else out + conv.bias


def _gat(
    conv: Any, x: Tensor, num_dst: int, source: Tensor, row: Tensor, extra: Tensor | None
) -> tuple[Tensor, Tensor]:
    rows = conv.lin(x).view(-1, conv.heads, conv.out_channels)
    scores = (rows * conv.att_src).sum(-1)[source] + (rows[:num_dst] * conv.att_dst).sum(-1)[row]
    if extra is not None:
        scores = scores + (extra * conv.att_edge).sum(-1)
    return torch.nn.functional.leaky_relu(scores, conv.negative_slope), rows[source]


def _gatv2(
    conv: Any, x: Tensor, num_dst: int, source: Tensor, row: Tensor, extra: Tensor | None
) -> tuple[Tensor, Tensor]:
    values = conv.lin_l(x).view(-1, conv.heads, conv.out_channels)[source]
    joined = values + conv.lin_r(x[:num_dst]).view(-1, conv.heads, conv.out_channels)[row]
    joined = joined if extra is None else joined + extra
    return (torch.nn.functional.leaky_relu(joined, conv.negative_slope) * conv.att).sum(-1), values


def _transformer(
    conv: Any, x: Tensor, num_dst: int, source: Tensor, row: Tensor, extra: Tensor | None
) -> tuple[Tensor, Tensor]:
    def heads_of(rows: Tensor) -> Tensor:
        return rows.view(-1, conv.heads, conv.out_channels)

    query, key, value = (heads_of(conv.lin_query(x[:num_dst])), heads_of(conv.lin_key(x)), heads_of(conv.lin_value(x)))
    keys, values = key[source], value[source]
    if extra is not None:
        keys, values = keys + extra, values + extra
    return (query[row] * keys).sum(-1) / math.sqrt(conv.out_channels), values


_SCORES = {"gat": _gat, "gatv2": _gatv2, "transformer": _transformer}


def _in_rows(values: Tensor, row: Tensor, num_rows: int) -> Tensor:
    """Sums of the values, [E, ...], of each row."""
    return values.new_zeros(num_rows, *values.shape[1:]).index_add(0, row, values)


def _with_loops(edges: Tensor, num_dst: int) -> Tensor:
    own = torch.arange(num_dst, device=edges.device)
    return torch.cat([edges, torch.stack([own, own])], 1)


def _with_mean_loops(
    edges: Tensor, weight: Tensor, edge_attr: Tensor | None, num_dst: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    is_other = edges[0] != edges[1]
    edges, weight = edges[:, is_other], weight[is_other]
    count = torch.bincount(edges[1], minlength=num_dst).clamp(min=1)
    own = _in_rows(weight, edges[1], num_dst) / count
    if edge_attr is not None:
        edge_attr = edge_attr[is_other]
        edge_attr = torch.cat([edge_attr, _in_rows(edge_attr, edges[1], num_dst) / count.unsqueeze(1)])
    return _with_loops(edges, num_dst), torch.cat([weight, torch.where(own > 0, own, 1)]), edge_attr
