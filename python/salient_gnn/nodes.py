# python/salient_gnn/nodes.py - what data sets of one and of several types have: a store, nodes, labels and a split.
"""Arrays of a store as tensors without a copy, by row and by the nodes' own ids."""

from __future__ import annotations

import os
import pathlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from salient_gnn import _core, _threads
from salient_gnn._arrays import ids_of, texts_of

MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}  # of PyG


def open_core(origin: tuple[str, str]) -> _core.Dataset:
    """What Dataset.open() opens, of its name and its data root."""
    _threads.use_threads()
    return _core.open_dataset(*map(os.fsencode, origin))


class Store:
    """What every data set has. `_core` is that of the extension module."""

    _core: _core.Dataset
    _origin: tuple[str, str]  #: arguments of Dataset.open()
    _on_device: dict[tuple[str, torch.device], Any]
    _placing: threading.RLock  # loaders of several threads choose and fill GPU memory one after the other

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def directory(self) -> pathlib.Path | None:
        """The store's folder; None of a generated data set."""
        return pathlib.Path(os.fsdecode(self._core.directory)) if self._core.directory else None

    @property
    def num_edges(self) -> int:
        """Entries of the adjacency matrix: an edge in both directions counts twice."""
        return self._core.num_edges

    def graph_on(self, device: torch.device) -> _core.DeviceGraph:
        """The graph on a device, to be sampled there, copied once for all loaders."""
        key = ("graph", device)
        with self._placing:
            if key not in self._on_device:
                with torch.cuda.device(device):
                    self._on_device[key] = _core.copy_graph_to_device(self._core)
            return self._on_device[key]


class Nodes:
    """Nodes of one type: their features and their ids."""

    def __init__(self, core: _core.Dataset) -> None:
        self._core = core
        self._ids: _core.NodeLookup | None = None
        self._on_device: dict[tuple[str, torch.device], Any] = {}
        self._placing = threading.RLock()

    @property
    def num_nodes(self) -> int:
        return self._core.num_nodes

    @property
    def num_features(self) -> int:
        return self._core.num_features

    @property
    def num_node_features(self) -> int:
        """PyG's other name of num_features."""
        return self.num_features

    @property
    def has_sparse_features(self) -> bool:
        return self._core.has_sparse_features

    @property
    def x(self) -> Tensor:
        """float16 or float32 [V, F], as stored; sparse CSR where most features are zero. float8_e4m3fn is to be
        multiplied by fp8_scale; batches have its products, as float16."""
        if not self.has_sparse_features:
            x = torch.from_dlpack(self._core.features())
            return x.view(torch.float8_e4m3fn) if self.fp8_scale else x
        begin, columns, values = self._core.feature_begin(), self._core.feature_columns(), self._core.feature_values()
        return torch.sparse_csr_tensor(
            torch.from_dlpack(begin),
            torch.from_dlpack(columns).long(),
            torch.from_dlpack(values),
            (self.num_nodes, self.num_features),
            check_invariants=False,
        )

    @property
    def feature_dtype(self) -> torch.dtype:
        """Of x and of its values where x is sparse."""
        return self.x.values().dtype if self.has_sparse_features else self.x.dtype

    @property
    def fp8_scale(self) -> float:
        """What the numbers of x are times if they are float8_e4m3fn; else 0."""
        return self._core.fp8_scale

    @property
    def source_ids(self) -> np.ndarray:
        """What the source of the data set calls its nodes, in the order of the rows: uint64 [V] or text [V]; where it
        has no ids of its own, the rows. Made anew each time, but for numbers, which show the store."""
        lookup = self._lookup()
        if lookup.kind == "rows":
            return np.arange(self.num_nodes)
        if lookup.kind == "numbers":
            return torch.from_dlpack(lookup.numbers()).numpy().view(np.uint64)
        return np.array([os.fsdecode(name) for name in lookup.names()], dtype=str)

    @property
    def has_text_ids(self) -> bool:
        """Whether source_ids are text."""
        return self._lookup().kind == "text"

    def rows_of(self, ids: Any, by: str = "id") -> Tensor:
        """The rows of nodes, int64 [N], in the order of `ids`, numbers or text: what source_ids has. The arrays of a
        data set, and the nodes of a loader, are by row. by="row" takes row numbers.

        Raises ValueError for what is the id of no node.
        """
        if by not in ("id", "row"):
            raise ValueError(f"by: {by!r} is neither 'id' nor 'row'")
        lookup, rows = self._lookup(), []
        said = texts_of(ids)
        items = ids_of(ids, "ids").tolist() if said is None else said
        for place, item in enumerate(items):
            row = find_node(lookup, item, by == "row")
            if isinstance(row, str):
                raise ValueError(f"ids: item {place} is {item!r}, {row}")
            rows.append(row)
        return torch.tensor(rows, dtype=torch.int64)

    def _lookup(self) -> _core.NodeLookup:
        with self._placing:
            if self._ids is None:
                self._ids = _core.node_lookup(self._core)
            return self._ids

    @property
    def _device_feature_bytes(self) -> int:
        """Of the rows that features_on() copies."""
        return 0 if self.has_sparse_features else self._core.feature_bytes

    def features_on(self, device: torch.device) -> Tensor:
        """All feature rows on a device, copied once for all loaders."""
        return self._on("features", device, lambda: self.x)

    def _on(self, what: str, device: torch.device, make: Callable[[], Tensor]) -> Tensor:
        key = (what, device)
        with self._placing:
            if key not in self._on_device:
                self._on_device[key] = make().to(device)
            return self._on_device[key]


class LabelledNodes(Nodes):
    """Those that have labels and a split, too."""

    @property
    def num_classes(self) -> int:
        """Classes, or labels of a node, or targets of a regression."""
        return self._core.num_classes

    @property
    def task(self) -> str:
        """ "multi-class", "multi-label" or "regression"."""
        return self._core.task

    @property
    def is_multi_label(self) -> bool:
        return self.task == "multi-label"

    @property
    def class_names(self) -> list[str]:
        """Of classes, labels or targets, in the order of their numbers; empty where they have none."""
        return self._core.class_names

    @property
    def y(self) -> Tensor:
        """int32 [V] classes, or int8 [V, L] zeros and ones; -1 = not known. float32 [V, T] values of a regression,
        NaN = not known."""
        if self.task == "regression":
            return torch.from_dlpack(self._core.targets()).view(self.num_nodes, -1)
        if self.is_multi_label:
            return torch.from_dlpack(self._core.multi_labels()).view(self.num_nodes, -1)
        return torch.from_dlpack(self._core.labels())

    @property
    def train(self) -> Tensor:
        """The training nodes: int32, uint32 from 2^31 nodes on."""
        return self._as_ids(self._core.train())

    @property
    def valid(self) -> Tensor:
        return self._as_ids(self._core.valid())

    @property
    def test(self) -> Tensor:
        return self._as_ids(self._core.test())

    @property
    def train_mask(self) -> Tensor:
        """bool [V], as PyG's Data has it; val_mask and test_mask, likewise."""
        return self._mask("train")

    @property
    def val_mask(self) -> Tensor:
        return self._mask("valid")

    @property
    def test_mask(self) -> Tensor:
        return self._mask("test")

    def _mask(self, part: str) -> Tensor:
        mask = torch.zeros(self.num_nodes, dtype=torch.bool)
        mask[getattr(self, part).long()] = True
        return mask

    def values_on(self, name: str, device: torch.device) -> Tensor:
        """y, train_mask, val_mask or test_mask on a device, copied once for all loaders."""
        return self._on(name, device, lambda: getattr(self, name))

    def _as_ids(self, array: Any) -> Tensor:
        ids = torch.from_dlpack(array)
        return ids if self.num_nodes <= 1 << 31 else ids.view(torch.uint32)


def find_node(lookup: _core.NodeLookup, said: int | str, by_row: bool) -> int | str:
    """The node, or the rule that `said` breaks."""
    if isinstance(said, str):
        text = os.fsencode(said)
        node = lookup.find_text(text, by_row)
        return lookup.rule_of_text(text, by_row) if node is None else node
    if said < 0:
        return "ids that are numbers have no sign"
    node = lookup.find_number(said, by_row)
    return lookup.rule_of_number(said, by_row) if node is None else node
