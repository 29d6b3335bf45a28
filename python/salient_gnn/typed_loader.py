# python/salient_gnn/typed_loader.py - what NeighborLoader's arguments mean for a typed graph.
from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from salient_gnn.typed_dataset import EdgeType, TypedDataset

_MOST = (1 << 16) - 1


def fanouts_by_relation(dataset: TypedDataset, values: Mapping[EdgeType, Any]) -> dict[EdgeType, list[int]]:
    """Of every relation one number for each hop, 0 to 65535 or -1 = all; else ValueError."""
    relations = dataset.edge_types
    for relation in values:
        if relation not in relations:
            raise ValueError(f"num_neighbors: {relation!r} is none of the relations {_listed(relations)}")
    missing = [relation for relation in relations if relation not in values]
    if missing:
        raise ValueError(f"num_neighbors: has no {_listed(missing)}; [0, 0] leaves a relation out")
    fanouts = {relation: _numbers(relation, values[relation]) for relation in relations}
    lengths = {len(numbers) for numbers in fanouts.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise ValueError(f"num_neighbors: of {_listed(sorted(lengths))} hops; every relation has a number for each hop")
    return fanouts


def _numbers(relation: EdgeType, values: Any) -> list[int]:
    try:
        numbers = [operator.index(value) for value in values]
    except TypeError:
        numbers = [_MOST + 1]
    if not all(-1 <= number <= _MOST for number in numbers):
        raise ValueError(f"num_neighbors: {values!r} of {relation!r}; a list, one for each hop, 0 to {_MOST} or -1 for "
                         "all neighbours")  # fmt: skip
    return numbers


def typed_nodes(dataset: TypedDataset, nodes: Any, parts: Sequence[str]) -> tuple[str, Any]:
    """The type of the seeds, and which they are among its nodes, "all" or one of `parts`, ids or a mask. Without a type
    they are of the target type; else ValueError."""
    node_type, target = None, dataset.target_type
    if isinstance(nodes, tuple) and len(nodes) == 2 and isinstance(nodes[0], str):
        node_type, nodes = nodes[0], "all" if nodes[1] is None else nodes[1]
    elif isinstance(nodes, str) and nodes not in parts:
        node_type, nodes = nodes, "all"
    if node_type is not None and node_type not in dataset.node_types:
        raise ValueError(f"nodes: {node_type!r} is none of the types {_listed(dataset.node_types)}")
    if isinstance(nodes, str) and nodes != "all" and node_type not in (None, target):
        raise ValueError(f"nodes: {nodes!r} are nodes of the type {target!r}, not of {node_type!r}")
    return node_type or target, nodes


def warn_of_lone_seeds(dataset: TypedDataset, node_type: str) -> None:
    """What else is batches without an edge, and no word."""
    if all(dst != node_type for _, _, dst in dataset.edge_types):
        warnings.warn(f"no relation leads to {node_type!r}: its nodes have no neighbours. A store has the other way of "
                      "each relation, too, unless reverse=False", stacklevel=4)  # fmt: skip


def _listed(items: Sequence[Any]) -> str:
    return ", ".join(map(repr, items))
