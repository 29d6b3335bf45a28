# python/salient_gnn/dataset.py - a data set: opened from a store, generated, or written from arrays.
"""Data sets in SALIENT's store, mapped into memory, whose arrays are tensors without a copy."""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from salient_gnn import _core, _threads
from salient_gnn._arrays import edges_of, features_of, integer_of, nodes_of, tensor_of
from salient_gnn._runs import checkpoint_folder, printable, trained_on
from salient_gnn.nodes import MASKS, LabelledNodes, Store, open_core
from salient_gnn.store_arrays import (
    MOST_NODES,
    mask_column,
    set_edge_attr,
    set_edge_values,
    set_features,
    set_y,
    times_of,
    warn_of_left_out,
    written,
)
from salient_gnn.typed_dataset import TypedDataset
from salient_gnn.typed_store import write_hetero, write_typed

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    StrPath = str | os.PathLike[str]


_OUTPUTS = {"multi-class": "classes", "multi-label": "labels", "regression": "targets"}


class Dataset(Store, LabelledNodes):
    """A graph with features, labels and a split, read-only.

    Its arrays are tensors that show the store's own memory: a file mapping, or memory that was generated. They stay
    valid for as long as any of them is kept. They must not be written to; a write ends the process.
    """

    def __init__(self, core: _core.Dataset, origin: tuple[str, str], view: tuple[str, str, str] | None = None) -> None:
        super().__init__(core)
        self._origin = origin
        self._view = view  # arguments of seen_by_run()

    @classmethod
    def open(cls, name: StrPath, data_root: StrPath | None = None) -> Dataset | TypedDataset:
        """Opens a store, as the programs do: a path, a name below `data_root`, or "synthetic:NAME[:SCALE]", which is
        generated in memory. Without `data_root` names are below the folder in SALIENT_DATA, or below "data". A store of
        several types of nodes is a TypedDataset.

        Raises Error when there is no such store, or when it breaks a rule; the message names file, record and rule.
        """
        if data_root is None:
            data_root = os.environ.get("SALIENT_DATA") or "data"
        origin = (os.fspath(name), os.fspath(data_root))
        core = open_core(origin)
        return TypedDataset(core, origin) if core.node_types else cls(core, origin)

    @classmethod
    def from_arrays(
        cls,
        out: StrPath,
        edge_index: Any,
        x: Any = None,
        y: Any = None,
        *,
        train: Any = (),
        valid: Any = (),
        test: Any = (),
        num_nodes: int | None = None,
        num_classes: int | None = None,
        task: str | None = None,
        target_names: Sequence[str] = (),
        symmetric: bool = False,
        name: str | None = None,
        force: bool = False,
        fp8: bool = False,
        edge_attr: Any = None,
        edge_weight: Any = None,
        edge_times: Any = None,
        node_times: Any = None,
        keep_repeats: bool = False,
    ) -> Dataset:
        """Writes a store to the folder `out`, once, and opens it.

        edge_index   [2, E] integers: messages go from edge_index[0] to edge_index[1]. Repeated edges are dropped.
        x            [V, F]; float16 stays so, everything else becomes float32. Of a sparse tensor the store keeps the
                     values that are not zero
        y            [V] or [V, 1] classes, -1 or NaN = not known; or [V, L] zeros and ones for L labels a node
        task         "regression": y is [V] or [V, T] values to be predicted, NaN = not known, called target_names
        train, ...   node ids, or masks [V] of bools, or of zeros and ones
        symmetric    also adds the reverse of every edge
        name         of the data set; else that of the folder
        force        replaces a store that is there
        fp8          stores x in 8 bits a value, with 4 significant ones
        edge_attr    [M, D] or [M] features of the edges of edge_index, stored as float32; a reverse has those of its
                     edge. Repeated edges all stay then
        edge_weight  [M] weights of these edges, finite and 0 or more, stored as float32. Of repeated edges they are
                     added, unless they have features or times
        edge_times   [M] whole numbers, when these edges came to be. Repeated edges all stay then
        keep_repeats   repeated edges all stay, whatever they have
        node_times   [V] whole numbers in the same unit, when nodes are asked for
        """
        _threads.use_threads()
        edges = edges_of(edge_index)
        features = None if x is None else features_of(x)
        if num_nodes is None:
            num_nodes = _num_nodes(edges, features, y)
        num_nodes = integer_of("num_nodes", num_nodes, 1, MOST_NODES)
        store = _core.StoreFromArrays(name or pathlib.Path(out).name, num_nodes)
        store.set_edges(*(ends.numpy() for ends in edges), symmetric)
        if edge_attr is not None:
            set_edge_attr(store, edge_attr, len(edges[0]))
        set_edge_values(store, len(edges[0]), edge_weight, edge_times)
        if keep_repeats:
            store.keep_repeats()
        if node_times is not None:
            store.set_node_times(times_of(node_times, num_nodes, "node_times").numpy())
        if features is not None:
            set_features(store, features, num_nodes)
        if y is not None:
            set_y(store, y, num_nodes, num_classes, task, target_names)
        parts = {"train": train, "valid": valid, "test": test}
        store.set_split(*(nodes_of(nodes, part, num_nodes).numpy() for part, nodes in parts.items()))
        is_sparse = features is not None and features.layout != torch.strided
        written(out, force, lambda: store.write(os.fsencode(out), force, is_sparse, fp8))
        return cls.open(os.path.abspath(out))

    @classmethod
    def from_typed_arrays(
        cls, out: StrPath, edges: Mapping[tuple[str, str, str], Any], x: Mapping[str, Any], y: Any = None,
        **options: Any,
    ) -> TypedDataset:
        """Writes a store of several types of nodes to the folder `out` (docs/TYPED_GRAPHS.md), once, and opens it.

        edges        {("author", "writes", "paper"): [2, E] integers, ...}; nodes of each type count from 0
        x            {"paper": [V, F], ...}, as of from_arrays(); types without features are left out
        y, target    labels as of from_arrays(), and the type of nodes that they, train, valid and test are of
        num_nodes    {"author": 40, ...}; else a type's rows of x, or its largest id
        reverse      False: no relation ("paper", "rev_writes", "author") is made
        Others       train, valid, test, task, target_names, num_classes, name, force and fp8 of from_arrays()

        Of DGL's graph: {c: torch.stack(g.edges(etype=c)) for c in g.canonical_etypes}, g.ndata["feat"], and
        num_nodes={t: g.num_nodes(t) for t in g.ntypes}.
        """
        return cls.open(write_typed(out, edges, x, y, **options))

    @classmethod
    def from_pyg(
        cls, data: Data | HeteroData, out: StrPath, *, split: int = 0, **options: Any
    ) -> Dataset | TypedDataset:
        """Writes a store from PyG's Data, with its train_mask, val_mask and test_mask; of masks [V, K] takes column
        `split`. Edges stay as they are, with edge_attr and edge_weight where Data has them. The other options are
        those of from_arrays().

        Of HeteroData it writes a typed store, as from_typed_arrays() does, whose other options it takes: the target is
        the first type with y, unless target names another.
        """
        if hasattr(data, "node_types"):
            return cls.open(write_hetero(data, out, split=split, **options))
        edge_index = getattr(data, "edge_index", None)
        if edge_index is None:
            raise ValueError("data: has no edge_index of one type of nodes and edges")
        for part, name in MASKS.items():
            mask = getattr(data, name, None)
            if mask is not None:
                options.setdefault(part, mask_column(tensor_of(mask, name), name, split))
        used = {"x", "y", "edge_index", "num_nodes", "edge_attr", "edge_weight", *MASKS.values()}
        for name in ("edge_attr", "edge_weight"):
            options.setdefault(name, getattr(data, name, None))
        warn_of_left_out((name for name in names_in(data) if name not in used), stacklevel=2)
        options.setdefault("num_nodes", data.num_nodes)
        return cls.from_arrays(out, edge_index, data.x, data.y, **options)

    @classmethod
    def from_ogb(cls, dataset: Any, out: StrPath, **options: Any) -> Dataset:
        """Writes a store from a NodePropPredDataset of the package ogb, or its PyG variant, with its own split. The
        reverse of every edge is added unless symmetric=False. The other options are those of from_arrays().
        """
        parts = dataset.get_idx_split()
        item = dataset[0]
        if isinstance(item, tuple):
            graph, labels = item
            edge_index, x, num_nodes = graph.get("edge_index"), graph.get("node_feat"), graph.get("num_nodes")
            names = [name for name, values in graph.items() if values is not None]
        else:
            edge_index, x, labels, num_nodes = getattr(item, "edge_index", None), item.x, item.y, item.num_nodes
            names = names_in(item)
        if edge_index is None:
            raise ValueError("dataset: has no edge_index of one type of nodes and edges")
        used = {"edge_index", "node_feat", "num_nodes", "x", "y"}
        warn_of_left_out((name for name in names if name not in used), stacklevel=2)
        options.setdefault("symmetric", True)
        options.setdefault("name", getattr(dataset, "name", None))
        options.setdefault("num_nodes", num_nodes)
        for part in ("train", "valid", "test"):
            options.setdefault(part, parts[part])
        return cls.from_arrays(out, edge_index, x, labels, **options)

    def seen_by_run(self, run: StrPath, checkpoint: str = "best", match_features: str = "name") -> Dataset:
        """This data set with the classes and the columns of the run, for load_model(run): batch.y has the run's numbers
        of classes, batch.x its columns in its order. A warning says what is mapped, or cannot be compared. A class
        that the run does not know has a number from the run's num_classes on.

        match_features   "name"; or "place": the columns are the run's as they come
        Raises Error (code 65) where the data set does not fit the run.
        """
        if match_features not in ("name", "place"):
            raise ValueError(f"match_features: {match_features!r} is neither 'name' nor 'place'")
        folder = checkpoint_folder(run, checkpoint)
        known = trained_on(folder)
        if known.fingerprint == self._core.fingerprint:
            return self
        file, by_place = os.fspath(folder / "state.json"), match_features == "place"
        file = printable(file)
        remarks, core = _core.seen_by_run(self._core, json.dumps(known.schema), file, known.is_complete, by_place)
        warnings.warn(
            f"the model was trained on {printable(known.name)}, not on this data set"
            + "".join(f"; {self.name} {remark}" for remark in remarks),
            stacklevel=2,
        )
        return Dataset(core, self._origin, (os.path.abspath(run), checkpoint, match_features))

    @property
    def is_symmetric(self) -> bool:
        """Whether the store says that every edge has its reverse."""
        return self._core.is_symmetric

    @property
    def indptr(self) -> Tensor:
        """int64 [V + 1]: row v of the graph is indices[indptr[v]:indptr[v + 1]]."""
        return torch.from_dlpack(self._core.indptr())

    @property
    def indices(self) -> Tensor:
        """int32 [E]: the nodes that node v gets messages from, ascending, or by the times of edges with times; uint32
        from 2^31 nodes on."""
        return self._as_ids(self._core.indices())

    @property
    def edge_index(self) -> Tensor:
        """int64 [2, E] sources and destinations of all entries, in the order of `indices`; made anew each time."""
        destinations = torch.repeat_interleave(torch.arange(self.num_nodes), self.indptr.diff())
        return torch.stack([self.indices.long(), destinations])

    @property
    def edge_times(self) -> Tensor | None:
        """int64 [E] in the order of `indices`, by which each row ascends; None where edges have no times."""
        return torch.from_dlpack(self._core.edge_times()) if self._core.has_edge_times else None

    @property
    def edge_attr(self) -> Tensor | None:
        """[E, D] float16 or float32, features of edges in the order of `indices`; None where edges have none."""
        return torch.from_dlpack(self._core.edge_features()) if self._core.num_edge_features > 0 else None

    @property
    def edge_weight(self) -> Tensor | None:
        """float32 [E] in the order of `indices`; None where edges have no weights."""
        return torch.from_dlpack(self._core.edge_weights()) if self._core.has_edge_weights else None

    def edge_attr_facts(self, dtype: torch.dtype | None) -> tuple[int, torch.dtype, torch.dtype | None]:
        """For batches: columns, the type in the store, and that which is wanted."""
        return self._core.num_edge_features, torch.from_dlpack(self._core.edge_features()).dtype, dtype

    @property
    def node_times(self) -> Tensor | None:
        """int64 [V]; None where nodes have no times."""
        return torch.from_dlpack(self._core.node_times()) if self._core.has_node_times else None

    def entries_of(self, sources: Tensor, destinations: Tensor) -> Tensor:
        """int64 [N]: the places in `indices` of N edges that the graph has, by search in their rows. ValueError where
        edges have times: rows are in their order, and may have an edge several times."""
        if self._core.has_edge_times:
            raise ValueError(f"e_id: rows of {self.name} are in the order of times, and an edge may be there twice")
        indptr, indices = self.indptr, torch.from_dlpack(self._core.indices())
        low, high = indptr[destinations], indptr[destinations + 1]
        while bool((low < high).any()):  # once for each bit of the longest row's length
            middle = (low + high) // 2
            is_below = (indices[middle.clamp(max=len(indices) - 1)].long() & 0xFFFFFFFF) < sources
            is_open = low < high
            low = torch.where(is_open & is_below, middle + 1, low)
            high = torch.where(is_open & ~is_below, middle, high)
        return low

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._origin, self._view)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.num_nodes} nodes, {self.num_edges} edges, {self.num_features} features, "
            f"{self.num_classes} {_OUTPUTS[self.task]})"
        )


def _reopen(origin: tuple[str, str], view: tuple[str, str, str] | None) -> Dataset:
    dataset = Dataset.open(*origin)
    if view is None:
        return dataset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was said where the view was made
        return dataset.seen_by_run(*view)


def names_in(data: Data) -> list[str]:
    """Of the attributes of a Data object that have a value."""
    keys = data.keys() if callable(data.keys) else data.keys  # a property up to PyG 2.3
    return [name for name in keys if data[name] is not None]


def _num_nodes(edges: tuple[Tensor, Tensor], features: Tensor | None, y: Any) -> int:
    for rows in (features, None if y is None else tensor_of(y, "y")):
        if rows is not None:
            return rows.shape[0] if rows.dim() > 0 else 0
    return 1 + max((int(ends.max()) for ends in edges if len(ends) > 0), default=-1)
