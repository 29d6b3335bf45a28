# python/salient_gnn/typed_store.py - arrays by type of node and by relation become a typed store.
"""What Dataset.from_typed_arrays() and from_pyg() of HeteroData do."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from salient_gnn import _core, _threads
from salient_gnn._arrays import edges_of, features_of, integer_of, nodes_of, tensor_of
from salient_gnn.nodes import MASKS
from salient_gnn.store_arrays import MOST_NODES, mask_column, set_features, set_y, warn_of_left_out, written

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

    StrPath = str | os.PathLike[str]
    EdgeType = tuple[str, str, str]


def write_typed(
    out: StrPath,
    edges: Mapping[EdgeType, Any],
    x: Mapping[str, Any],
    y: Any,
    *,
    target: str | None = None,
    num_nodes: Mapping[str, int] | None = None,
    train: Any = (),
    valid: Any = (),
    test: Any = (),
    reverse: bool = True,
    num_classes: int | None = None,
    task: str | None = None,
    target_names: Sequence[str] = (),
    name: str | None = None,
    force: bool = False,
    fp8: bool = False,
) -> pathlib.Path:
    """See Dataset.from_typed_arrays()."""
    _threads.use_threads()
    pairs = {_relation(relation): edges_of(ends) for relation, ends in edges.items()}
    features = {type: features_of(rows) for type, rows in x.items()}
    counts = {**{type: len(rows) for type, rows in features.items()}, **(num_nodes or {})}
    for (src, _, dst), ends in pairs.items():
        for type, ids in zip((src, dst), ends, strict=True):
            if type not in (num_nodes or {}) and type not in features:
                counts[type] = max(counts.get(type, 1), int(ids.max()) + 1 if len(ids) else 1)
    if y is not None and target is None:
        raise ValueError("target: is needed, the type of the nodes that y is of")
    if target is not None and target not in counts:
        raise ValueError(f"target: {target!r} is none of the types {', '.join(counts)}")
    store = _core.TypedStoreFromArrays(name or pathlib.Path(out).name)
    for type, count in counts.items():
        nodes = _core.StoreFromArrays("nodes", integer_of(f"num_nodes of {type}", count, 1, MOST_NODES))
        if type in features:
            set_features(nodes, features[type], count)
        if type == target:
            if y is not None:
                set_y(nodes, y, count, num_classes, task, target_names)
            parts = {"train": train, "valid": valid, "test": test}
            nodes.set_split(*(nodes_of(ids, part, count).numpy() for part, ids in parts.items()))
        store.add_type(type, nodes, type == target)
    for relation, ends in pairs.items():
        store.add_relation(*relation, *(ids.numpy() for ids in ends))
    written(out, force, lambda: store.write(os.fsencode(out), force, reverse, fp8))
    return pathlib.Path(os.path.abspath(out))


def write_hetero(data: HeteroData, out: StrPath, *, split: int = 0, **options: Any) -> pathlib.Path:
    """See Dataset.from_pyg()."""
    if not data.edge_types:
        raise ValueError("data: has no edge_index of any relation")
    x, counts, left_out = {}, {}, []
    of_types = {type: data[type] for type in data.node_types}
    target = options.pop("target", None) or labelled_type(data)
    for type, nodes in of_types.items():
        if "x" in nodes:
            x[type] = nodes["x"]
        if nodes.num_nodes is not None:
            counts[type] = nodes.num_nodes
        used = {"x", "num_nodes", *(("y", *MASKS.values()) if type == target else ())}
        left_out += [f"{name} of {type}" for name in nodes.keys() if name not in used]
    edges = {}
    for relation in data.edge_types:
        ends = data[relation]
        if "edge_index" not in ends:
            raise ValueError(f"data: {relation} has no edge_index")
        edges[relation] = ends["edge_index"]
        left_out += [f"{name} of {relation}" for name in ends.keys() if name != "edge_index"]
    warn_of_left_out(left_out, stacklevel=3)
    nodes = of_types.get(target) if target is not None else None
    for part, mask in MASKS.items():
        if nodes is not None and mask in nodes:
            options.setdefault(part, mask_column(tensor_of(nodes[mask], mask), mask, split))
    y = nodes["y"] if nodes is not None and "y" in nodes else None
    return write_typed(out, edges, x, y, target=target, num_nodes=counts, **options)


def labelled_type(data: HeteroData) -> str | None:
    """The first type with y."""
    return next((type for type in data.node_types if "y" in data[type]), None)


def _relation(relation: Any) -> EdgeType:
    if not isinstance(relation, tuple) or len(relation) != 3 or not all(isinstance(name, str) for name in relation):
        raise ValueError(f"edges: {relation!r} is no (type of sources, name, type of destinations)")
    return relation
