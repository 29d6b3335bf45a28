# python/salient_gnn/pyg_store.py - edges and features of PyG's Data and HeteroData as a store in the temporary folder.
"""A store is made once for as long as the tensors are there and unchanged, and removed with them."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn.dataset import Dataset
from salient_gnn.typed_store import labelled_type

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from salient_gnn.typed_dataset import TypedDataset

_STORED_TYPES = (torch.float32, torch.float16)  # without a loss; other features stay in Data
_LARGE_BYTES = 1 << 30  # to be said

@dataclass(frozen=True)
class Drawn:
    """Attributes of PyG's Data that its loaders draw by."""

    weight: str | None = None  #: weight_attr: of edges
    time: str | None = None  #: time_attr: of edges, or of nodes

    def tensors(self, data: Data) -> dict[str, Tensor]:
        """By the names that from_arrays() has for them. An edge is as old as its source where nodes have times."""
        found: dict[str, Tensor] = {}
        if self.weight is not None:
            found["edge_weight"] = _attribute(data, "weight_attr", self.weight, data.is_edge_attr)
        if self.time is not None:
            found["time"] = _attribute(data, "time_attr", self.time, lambda name: True)
        return found

    @property
    def keeps_repeats(self) -> bool:
        """As PyG's samplers see them: every edge of edge_index for itself."""
        return self.weight is not None or self.time is not None


def _attribute(data: Data, keyword: str, name: Any, is_right: Any) -> Tensor:
    value = getattr(data, name, None) if isinstance(name, str) else None
    if not isinstance(value, Tensor) or not is_right(name):
        what = "edges" if keyword == "weight_attr" else "nodes or edges"
        raise ValueError(f"{keyword}: {name!r} is no attribute of the {what} of data")
    return value


_making = threading.Lock()
_stores: dict[Any, tuple[list[object], Any]] = {}  # by the id of an edge_index: what was stored, where


def store_of(data: Data, drawn: Drawn = Drawn()) -> Dataset:
    """Copies of a Data object, which share their tensors, share the store, where they are drawn from alike."""
    x, values = getattr(data, "x", None), drawn.tensors(data)
    parts = [data.edge_index, *([x] if _is_stored(x) else [])]
    options = {"num_nodes": data.num_nodes, "name": "data"}

    def write(folder: pathlib.Path) -> Dataset:
        return Dataset.from_arrays(folder, *parts, **options, **_values_of_edges(data, drawn, values))

    return _kept((id(data.edge_index), drawn), [*parts, *values.values()], [data.num_nodes], write)


def hetero_store_of(data: HeteroData) -> TypedDataset:
    """Likewise, of HeteroData: its relations as they are, without reverses of the store's own."""
    if not data.edge_types:
        raise ValueError("data: has no edge_index of any relation")
    for relation in data.edge_types:
        if "edge_index" not in data[relation]:
            raise ValueError(f"data: {relation} has no edge_index; HeteroData with adj_t alone is not taken")
    edges = {relation: data[relation]["edge_index"] for relation in data.edge_types}
    x = {type: data[type]["x"] for type in data.node_types if "x" in data[type] and _is_stored(data[type]["x"])}
    counts = {type: data[type].num_nodes for type in data.node_types if data[type].num_nodes is not None}
    target = labelled_type(data)

    def write(folder: pathlib.Path) -> TypedDataset:
        options = {"target": target, "num_nodes": counts, "reverse": False, "name": "data"}
        return Dataset.from_typed_arrays(folder, edges, x, **options)

    key = id(edges[data.edge_types[0]]), "hetero"
    return _kept(key, [*edges.values(), *x.values()], [target, counts, list(edges), list(x)], write)


def _is_stored(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dim() == 2 and x.shape[1] > 0 and x.dtype in _STORED_TYPES and (
        x.layout == torch.strided)


def _kept(key: Any, tensors: list[Tensor], facts: list[object], write: Callable[[pathlib.Path], Any]) -> Any:
    """What write() makes of tensors and facts, once for as long as these are the same."""
    wanted = [*facts, *((id(tensor), _version(tensor)) for tensor in tensors)]
    with _making:
        known = _stores.get(key)
        if known is not None and known[0] == wanted:
            return known[1]
        dataset = _written(sum(tensor.nbytes for tensor in tensors), write)
        _stores[key] = wanted, dataset
        for tensor in tensors:
            weakref.finalize(tensor, _stores.pop, key, None).atexit = False
        return dataset


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _values_of_edges(data: Data, drawn: Drawn, values: dict[str, Tensor]) -> dict[str, Any]:
    """As from_arrays() takes them."""
    taken: dict[str, Any] = {"edge_weight": values.get("edge_weight"), "keep_repeats": drawn.keeps_repeats}
    times = values.get("time")
    if times is None:
        return taken
    if times.is_floating_point() or times.dtype == torch.bool:
        raise ValueError(f"time_attr: {drawn.time!r} has {times.dtype}, not whole numbers")
    if not data.is_node_attr(drawn.time):
        return {**taken, "edge_times": times}
    return {**taken, "edge_times": times[data.edge_index[0]], "node_times": times}


def _written(num_bytes: int, write: Callable[[pathlib.Path], Any]) -> Any:
    folder = tempfile.mkdtemp(prefix="salient-data-")
    if num_bytes > _LARGE_BYTES:
        warnings.warn(
            f"data: {num_bytes / 1e9:.1f} GB of edges and features are written to {folder}, and removed with them; "
            "Dataset.from_pyg(data, FOLDER) keeps a store", stacklevel=6)  # fmt: skip
    try:
        dataset = write(pathlib.Path(folder, "data"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(dataset, _remove, folder, os.getpid())
    return dataset


def _remove(folder: str, process: int) -> None:
    """In a forked child the store is its parent's."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
