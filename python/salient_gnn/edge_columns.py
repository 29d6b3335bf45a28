# python/salient_gnn/edge_columns.py - features and weights of edges in batches, under PyG's names.
"""What NeighborLoader(..., edge_attr=True, edge_weight=True) means."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from salient_gnn import _core

ATTR, WEIGHT = "edge_attr", "edge_weight"
_WHAT = {ATTR: "features", WEIGHT: "weights"}


@dataclass(frozen=True)
class EdgeColumns:
    """Of a store's edges what batches carry in the order of edge_index."""

    attr: bool
    weight: bool
    places: bool  #: where each edge is in the store's `indices`; with one of the others always

    @property
    def names(self) -> tuple[str, ...]:
        return (ATTR,) * self.attr + (WEIGHT,) * self.weight

    def apply_to(self, options: _core.StreamOptions) -> None:
        if self.places:
            options.carry_edges(self.attr, self.weight)


def edge_columns_of(
    core: _core.Dataset, names: Collection[str], attr: Any, weight: Any, by_weight: bool, places: bool
) -> EdgeColumns:
    """ValueError for what cannot be. PyG's Data has its own among `names`, which every batch of it has.
    @param by_weight  whether PyG's weight_attr was given: then weights are carried without being asked for"""
    weight = True if weight is None and by_weight and core.has_edge_weights else weight
    has = {ATTR: core.num_edge_features > 0, WEIGHT: core.has_edge_weights}
    carried = {name: _is_asked_for(core, name, value, names, has[name])
               for name, value in ((ATTR, attr), (WEIGHT, weight))}  # fmt: skip
    return EdgeColumns(carried[ATTR], carried[WEIGHT], places or any(carried.values()))


def _is_asked_for(core: _core.Dataset, name: str, value: Any, names: Collection[str], is_there: bool) -> bool:
    if value is None or value is False:
        return False
    if value is not True and value != name:
        raise ValueError(f"{name}: {value!r}; True, or {name!r}, are the store's {_WHAT[name]} of edges")
    if name in names:
        return False
    if not is_there:
        raise ValueError(f"{name}: the edges of {core.name} have no {_WHAT[name]}")
    return True
