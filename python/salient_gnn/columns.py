# python/salient_gnn/columns.py - labels and masks of all nodes of a batch, and the attributes of PyG's Data.
"""Columns are sliced when a batch is asked for them, and cost nothing until then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from salient_gnn.dataset import Dataset, names_in
from salient_gnn.edge_columns import ATTR, WEIGHT
from salient_gnn.nodes import MASKS, Store
from salient_gnn.pyg_store import Drawn, hetero_store_of, store_of
from salient_gnn.typed_columns import HeteroColumns, TypedStoreColumns
from salient_gnn.typed_dataset import TypedDataset

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from salient_gnn.batch import Batch


class Columns(Protocol):
    names: tuple[str, ...]  #: y, train_mask, ..., which batches have of all their nodes
    device: torch.device | str  #: of batches, where the loader is not told
    is_of_data: bool  #: of PyG's

    def take(self, name: str, batch: Batch) -> Any:
        """The rows of a batch's nodes or edges, on its device."""

    @property
    def edge_index(self) -> Tensor:
        """[2, E] sources and destinations of all edges."""

    def edge_ids(self, entries: Tensor) -> Tensor:
        """int64 [E]: what batch.e_id calls these entries of the store's `indices`."""


class StoreColumns:
    """Those of a data set."""

    device = "cpu"
    is_of_data = False

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.names = ("y", *MASKS.values())

    def take(self, name: str, batch: Batch) -> Tensor:
        if name == ATTR:
            return batch.edge_rows()
        if name == WEIGHT:
            return batch.edge_weights()
        rows = self._dataset.values_on(name, batch.device)[batch.nodes]
        return rows.long() if rows.dtype == torch.int32 else rows

    @property
    def edge_index(self) -> Tensor:
        return self._dataset.edge_index

    def edge_ids(self, entries: Tensor) -> Tensor:
        return entries


class DataColumns:
    """Those of PyG's Data: all its attributes but edges, and features that the store has."""

    is_of_data = True

    def __init__(self, data: Data, dataset: Dataset, drawn: Drawn) -> None:
        self._data = data
        self._drawn = drawn
        self.edge_index = data.edge_index
        self._num_nodes = dataset.num_nodes
        in_store = {"edge_index", "num_nodes", *(["x"] if dataset.num_features > 0 else [])}
        self.names = tuple(name for name in names_in(data) if name not in in_store)
        if dataset.num_features == 0:
            self.names += () if "x" in self.names else ("x",)  # None, as PyG's batches have it
        x = getattr(data, "x", None)
        self.device = x.device if isinstance(x, Tensor) else "cpu"
        self._columns: Tensor | None = None

    def take(self, name: str, batch: Batch) -> Any:
        """Rows of nodes and edges are slices, as PyG's loader makes them; everything else is there as it is."""
        value = getattr(self._data, name, None)
        if not isinstance(value, Tensor):
            return value
        ids = batch.nodes.long() if self._data.is_node_attr(name) else None
        if ids is None and self._data.is_edge_attr(name):
            ids = batch.sampled_edges
        if ids is not None:
            value = value.index_select(self._data.__cat_dim__(name, value), ids.to(value.device))
        return value.to(batch.device)

    def edge_ids(self, entries: Tensor) -> Tensor:
        """Columns of data.edge_index: of repeated ones, where the store has them once, the first."""
        if self._columns is None:
            self._columns = self._columns_of_entries()
        return self._columns[entries]

    def _columns_of_entries(self) -> Tensor:
        """In the order of the store: by destination, time and source."""
        sources, destinations = self.edge_index.cpu().long()
        times = self._drawn.tensors(self._data).get("time")
        if times is not None:
            times = times.cpu()[sources] if self._data.is_node_attr(self._drawn.time) else times.cpu()
            columns = sources.argsort(stable=True)
            columns = columns[times[columns].argsort(stable=True)]
            return columns[destinations[columns].argsort(stable=True)]
        keys, columns = (destinations * self._num_nodes + sources).sort(stable=True)
        if self._drawn.keeps_repeats:
            return columns
        is_first = torch.ones(len(keys), dtype=torch.bool)
        is_first[1:] = keys[1:] != keys[:-1]
        return columns[is_first]


def columns_of(data: Any, drawn: Drawn = Drawn()) -> tuple[Any, Any]:
    """Of a Dataset, a TypedDataset, or of PyG's Data or HeteroData. @param drawn  of Data alone"""
    if isinstance(data, TypedDataset):
        return data, TypedStoreColumns(data)
    if isinstance(data, Store):
        return data, StoreColumns(data)
    if hasattr(data, "node_types"):
        typed = hetero_store_of(data)
        return typed, HeteroColumns(data, typed)
    if not hasattr(data, "is_node_attr"):
        raise TypeError(f"data: {type(data).__name__} is neither a salient_gnn.Dataset nor PyG's Data or HeteroData")
    if getattr(data, "edge_index", None) is None:
        raise ValueError("data: has no edge_index; Data with adj_t alone is not taken")
    dataset = store_of(data, drawn)
    return dataset, DataColumns(data, dataset, drawn)
