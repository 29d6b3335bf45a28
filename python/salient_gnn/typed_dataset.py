# python/salient_gnn/typed_dataset.py - a data set of several types of nodes, opened from a store or generated.
"""By PyG's names: dataset["paper"].x, dataset["author", "writes", "paper"].edge_index."""

from __future__ import annotations

import pathlib
import threading
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from salient_gnn import _core
from salient_gnn.nodes import LabelledNodes, Nodes, Store, open_core

EdgeType = tuple[str, str, str]  #: (source, name, destination)


class TypedNodes(Nodes):
    """Nodes of one type: num_nodes, num_features, x, feature_dtype, source_ids, rows_of(), all by row in the type."""

    @property
    def num_nodes(self) -> int:
        return self._core.node_types[self._core.target_type][1]

    @property
    def _device_feature_bytes(self) -> int:
        return 0 if self.num_features == 0 or self.has_sparse_features else self.x.nbytes

    @property
    def x(self) -> Tensor:
        if self.num_features == 0:
            raise AttributeError("nodes of this type have no features")
        return super().x


class TargetNodes(TypedNodes, LabelledNodes):
    """Those of the target type: beside, num_classes, task, class_names, y, train, valid, test and the masks."""

    def _as_ids(self, array: Any) -> Tensor:
        """int64 rows of the type, of ids of the whole graph."""
        return (torch.from_dlpack(array).long() & 0xFFFFFFFF) - self._core.first_target


class TypedEdges:
    """The edges of one relation."""

    def __init__(self, dataset: TypedDataset, number: int) -> None:
        self._dataset, self._number = dataset, number

    @property
    def num_edges(self) -> int:
        return self._dataset._core.relations[self._number][4]

    @property
    def edge_index(self) -> Tensor:
        """int64 [2, E] rows of sources and destinations in their types, by destination; made anew each time."""
        core = self._dataset._core
        src, _, dst, slot, count = core.relations[self._number]
        num_slots = sum(relation[2] == dst for relation in core.relations)
        indptr, indices = torch.from_dlpack(core.indptr()), torch.from_dlpack(core.indices())
        num_nodes = core.node_types[dst][1]
        rows = self._dataset._first_rows[dst] + slot + torch.arange(num_nodes) * num_slots
        begin, degrees = indptr[rows], indptr[rows + 1] - indptr[rows]
        destinations = torch.repeat_interleave(torch.arange(num_nodes), degrees, output_size=count)
        before = degrees.cumsum(0) - degrees
        entries = (begin - before)[destinations] + torch.arange(count)
        sources = (indices[entries].long() & 0xFFFFFFFF) - self._dataset.first_nodes[src]
        return torch.stack([sources, destinations])


class TypedDataset(Store):
    """A graph of several types of nodes and of relations, read-only. dataset["paper"] are nodes, TypedNodes or, of the
    target type, TargetNodes; dataset["author", "writes", "paper"] are edges. Its tensors are as those of a Dataset.
    """

    __iter__ = None  # what has items by name is no sequence

    def __init__(self, core: _core.Dataset, origin: tuple[str, str]) -> None:
        self._core, self._origin = core, origin
        self._on_device: dict[tuple[str, torch.device], Any] = {}
        self._placing = threading.RLock()
        self._nodes: dict[str, Any] = {}
        self.node_types = [name for name, _ in core.node_types]
        self.edge_types: list[EdgeType] = [
            (self.node_types[src], name, self.node_types[dst]) for src, name, dst, *_ in core.relations
        ]

    def metadata(self) -> tuple[list[str], list[EdgeType]]:
        """(node_types, edge_types), as PyG's to_hetero() and HGTConv take them."""
        return self.node_types, self.edge_types

    @property
    def target_type(self) -> str:
        """Of the nodes that have labels and a split."""
        return self.node_types[self._core.target_type]

    @property
    def num_nodes(self) -> int:
        """Of all types."""
        return self._core.num_nodes

    @property
    def num_nodes_dict(self) -> dict[str, int]:
        return dict(self._core.node_types)

    @cached_property
    def first_nodes(self) -> list[int]:
        """The id of each type's row 0 among the nodes of all types."""
        return _sums(count for _, count in self._core.node_types)

    @cached_property
    def _first_rows(self) -> list[int]:
        into = [relation[2] for relation in self._core.relations]
        return _sums(count * into.count(t) for t, (_, count) in enumerate(self._core.node_types))

    def __getitem__(self, key: str | EdgeType) -> Any:
        if key in self.edge_types:
            return TypedEdges(self, self.edge_types.index(key))
        if key not in self.node_types:
            raise KeyError(f"{key!r} is none of {', '.join(map(repr, (*self.node_types, *self.edge_types)))}")
        with self._placing:
            if key not in self._nodes:
                kind = TargetNodes if key == self.target_type else TypedNodes
                self._nodes[key] = kind(self.core_of(key))
            return self._nodes[key]

    @property
    def _device_feature_bytes(self) -> int:
        """Of the rows that features_on() copies."""
        return sum(self[name]._device_feature_bytes for name in self.node_types)

    def features_on(self, device: torch.device) -> dict[str, Tensor]:
        """The rows of all types that have dense ones, on a device, copied once for all loaders."""
        key = ("features", device)
        with self._placing:
            if key not in self._on_device:
                dense = [name for name in self.node_types if self[name]._device_feature_bytes > 0]
                self._on_device[key] = {name: self[name].features_on(device) for name in dense}
            return self._on_device[key]

    def triples(self, split: str) -> np.ndarray:
        """Text [n, 3]: head, relation and tail of each link of "train", "valid" or "test" of a knowledge graph, by
        their names, in the order of the store; made anew each time.

        It is what PyKEEN's TriplesFactory.from_labeled_triples() takes; numpy.savetxt(file, triples, "%s", "\\t",
        encoding="utf-8") writes what its from_path() and salient-prepare triples read.

        Raises ValueError where the data set has no links, or no such split.
        """
        splits = ("train", "valid", "test")
        if split not in splits:
            raise ValueError(f"split: {split!r} is none of train, valid and test")
        file = pathlib.Path(self.directory or ".", f"links-{split}-relation.npy")
        ends = torch.from_dlpack(self._core.links(splits.index(split))).numpy().view(np.uint32)
        if not file.exists():
            raise ValueError(f"split: {self.name} has no links with relations")
        names = np.concatenate([self[name].source_ids.astype(str) for name in self.node_types])
        relations = np.array([name for _, name, _ in self.edge_types])[np.load(file)]
        return np.stack([names[ends[:, 0]], relations, names[ends[:, 1]]], axis=1)

    def core_of(self, node_type: str, has_seeds: bool = False) -> _core.Dataset:
        """The same data set with this type as its target."""
        return _core.view_of_type(self._core, self.node_types.index(node_type), has_seeds)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._origin,)

    def __repr__(self) -> str:
        nodes = ", ".join(f"{count} {name}" for name, count in self._core.node_types)
        return f"TypedDataset({self.name!r}, {nodes}, {self.num_edges} edges of {len(self.edge_types)} relations)"


def _reopen(origin: tuple[str, str]) -> TypedDataset:
    return TypedDataset(open_core(origin), origin)


def _sums(counts: Any) -> list[int]:
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    return sums
