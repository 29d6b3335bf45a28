# python/salient_gnn/edge_attr.py - features of edges in batches, under PyG's name.
"""What NeighborLoader(..., edge_attr=True) means, and the rows of a batch's edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn._arrays import narrowed, tensor_of

if TYPE_CHECKING:
    from salient_gnn import _core
    from salient_gnn.batch import Batch
    from salient_gnn.columns import Columns

NAME = "edge_attr"


def asked_for(value: Any, core: _core.Dataset, columns: Columns) -> bool:
    """Whether batches are to carry the store's features of edges; raises ValueError for what cannot be. PyG's Data has
    its own, which every batch of it has."""
    if value is None or value is False:
        return False
    if value is not True and value != NAME:
        raise ValueError(f"edge_attr: {value!r}; True, or {NAME!r}, are the store's features of edges")
    if NAME in columns.names:
        return False
    if core.num_edge_features == 0:
        raise ValueError(f"edge_attr: the edges of {core.name} have no features")
    return True


def rows_of(batch: Batch, hop: int) -> Tensor:
    """[edges, D] of a hop, outermost first, in the loader's dtype."""
    width, stored, wanted = batch._facts["edge_attr"]
    _, edge_x = batch._core.entry_parts[hop]
    num_edges = batch._hops[hop][2]
    rows = batch._part(edge_x, stored, num_edges * width).view(num_edges, width)
    return rows if wanted is None else rows.to(wanted)


def rows_of_edge_index(batch: Batch) -> Tensor:
    """[E, D] in the order of batch.edge_index."""
    return torch.cat([rows_of(batch, hop)[batch._hops[hop][5] :] for hop in reversed(range(len(batch._hops)))])


def places_of_edge_index(batch: Batch) -> Tensor:
    """int64 [E]: the places in the store's `indices` of the edges of batch.edge_index."""
    parts = []
    for (places, _), (_, _, num_edges, _, _, first) in zip(batch._core.entry_parts, batch._hops):
        parts.append(batch._part(places, torch.int64, num_edges)[first:])
    return torch.cat(parts[::-1])


def set_edge_attr(store: _core.StoreFromArrays, edge_attr: Any, num_edges: int) -> None:
    """Features of the edges of an edge_index, [M, D] or [M]."""
    rows = tensor_of(edge_attr, NAME)
    rows = rows.unsqueeze(1) if rows.dim() == 1 else rows
    if rows.dim() != 2 or rows.shape[0] != num_edges or rows.shape[1] == 0 or rows.layout != torch.strided:
        raise ValueError(f"edge_attr: has shape {list(rows.shape)}, not [{num_edges}, D] with D above 0")
    store.set_edge_features(narrowed(rows, NAME).contiguous().numpy())
