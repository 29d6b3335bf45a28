# python/salient_gnn/typed_columns.py - labels, masks and ids of edges of typed batches, and attributes of HeteroData.
"""As columns.py, for each type of nodes and each relation. Nothing is computed until a batch is asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn.nodes import MASKS

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

    from salient_gnn.typed_dataset import EdgeType, TypedDataset


class EdgeNumbers:
    """From edges, by their ends, to their columns in edge_index; of repeated ones the first. Sorts a relation's edges
    when it is asked for the first time: 16 bytes an edge stay in memory."""

    def __init__(self, dataset: TypedDataset) -> None:
        self._dataset = dataset
        self._sorted: dict[EdgeType, tuple[Tensor, Tensor]] = {}

    def find(self, relation: EdgeType, edge_index: Tensor, ends: Tensor) -> Tensor:
        """int64 [E] @param edge_index  [2, M] of the relation   @param ends  int64 [2, E] of its edges"""
        num_sources = self._dataset[relation[0]].num_nodes
        if relation not in self._sorted:
            sources, destinations = edge_index.cpu().long()
            self._sorted[relation] = tuple((destinations * num_sources + sources).sort(stable=True))
        keys, columns = self._sorted[relation]
        sources, destinations = ends.cpu()
        return columns[torch.searchsorted(keys, destinations * num_sources + sources)].to(ends.device)


class TypedStoreColumns:
    """Those of a typed data set."""

    device = "cpu"
    is_of_data = False

    def __init__(self, dataset: TypedDataset) -> None:
        self.names: tuple[str, ...] = ()  #: of edges, as NeighborLoader adds them
        self._dataset = dataset
        self._numbers = EdgeNumbers(dataset)

    def names_of(self, key: str | EdgeType) -> tuple[str, ...]:
        return ("y", *MASKS.values()) if key == self._dataset.target_type else ()

    def take(self, name: str, key: str | EdgeType, ids: Tensor) -> Tensor:
        """The rows `ids` of a type, on their device."""
        rows = self._dataset[key].values_on(name, ids.device)[ids]
        return rows.long() if rows.dtype == torch.int32 else rows

    def edge_index_of(self, relation: EdgeType) -> Tensor:
        return self._dataset[relation].edge_index

    def edge_ids(self, relation: EdgeType, ends: Tensor) -> Tensor:
        return self._numbers.find(relation, self.edge_index_of(relation), ends)


class HeteroColumns:
    """Those of PyG's HeteroData: all its attributes but edges, and features that the store has."""

    is_of_data = True

    def __init__(self, data: HeteroData, dataset: TypedDataset) -> None:
        self.names: tuple[str, ...] = ()
        self._data, self._dataset = data, dataset
        self._numbers = EdgeNumbers(dataset)
        tensors = [data[type]["x"] for type in data.node_types if "x" in data[type]]
        self.device = tensors[0].device if tensors and isinstance(tensors[0], Tensor) else torch.device("cpu")

    def names_of(self, key: str | EdgeType) -> tuple[str, ...]:
        if not isinstance(key, str):
            return tuple(name for name in self._data[key].keys() if name != "edge_index")
        in_store = {"num_nodes", *(["x"] if self._dataset[key].num_features > 0 else [])}
        return tuple(name for name in self._data[key].keys() if name not in in_store)

    def take(self, name: str, key: str | EdgeType, ids: Tensor) -> Any:
        """Rows of nodes, or of edges by their numbers, are slices; everything else is there as it is."""
        part = self._data[key]
        value = part[name]
        if not isinstance(value, Tensor):
            return value
        if part.is_node_attr(name) if isinstance(key, str) else part.is_edge_attr(name):
            value = value.index_select(self._data.__cat_dim__(name, value, part), ids.to(value.device))
        return value.to(ids.device)

    def edge_index_of(self, relation: EdgeType) -> Tensor:
        return self._data[relation]["edge_index"]

    def edge_ids(self, relation: EdgeType, ends: Tensor) -> Tensor:
        return self._numbers.find(relation, self.edge_index_of(relation), ends)
