# python/salient_gnn/edge_attr.py - features of edges in batches, under PyG's name.
"""What NeighborLoader(..., edge_attr=True) means."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from salient_gnn import _core

NAME = "edge_attr"


def asked_for(value: Any, core: _core.Dataset, names: Collection[str]) -> bool:
    """Whether batches are to carry the store's features of edges; raises ValueError for what cannot be. PyG's Data has
    its own among `names`, which every batch of it has."""
    if value is None or value is False:
        return False
    if value is not True and value != NAME:
        raise ValueError(f"edge_attr: {value!r}; True, or {NAME!r}, are the store's features of edges")
    if NAME in names:
        return False
    if core.num_edge_features == 0:
        raise ValueError(f"edge_attr: the edges of {core.name} have no features")
    return True
