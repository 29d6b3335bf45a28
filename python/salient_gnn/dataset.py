# python/salient_gnn/dataset.py - a data set: opened from a store, generated, or written from arrays.
"""Data sets in SALIENT's store, mapped into memory, whose arrays are tensors without a copy."""

from __future__ import annotations

import json
import os
import pathlib
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from salient_gnn import _core, _threads
from salient_gnn._arrays import (
    edges_of, features_of, ids_of, integer_of, labels_of, narrowed, nodes_of, refuse_first, targets_of,
    tensor_of, texts_of,
)  # fmt: skip
from salient_gnn._runs import checkpoint_folder, printable, trained_on

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from salient_gnn.typed_dataset import TypedDataset

    StrPath = str | os.PathLike[str]


MOST_NODES = (1 << 32) - 2
_OUTPUTS = {"multi-class": "classes", "multi-label": "labels", "regression": "targets"}
MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}  # of PyG


class Store:
    """What every data set has. `_core` is that of the extension module."""

    _core: _core.Dataset
    _origin: tuple[str, str]  #: arguments of Dataset.open()

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


class Nodes:
    """Nodes of one type: their features and their ids."""

    def __init__(self, core: _core.Dataset) -> None:
        self._core = core
        self._ids: _core.NodeLookup | None = None
        self._on_device: dict[tuple[str, torch.device], Any] = {}
        self._placing = threading.RLock()  # loaders of several threads choose and fill GPU memory one after the other

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
        _threads.use_threads()
        if data_root is None:
            data_root = os.environ.get("SALIENT_DATA") or "data"
        origin = (os.fspath(name), os.fspath(data_root))
        core = _core.open_dataset(*map(os.fsencode, origin))
        if not core.node_types:
            return cls(core, origin)
        from salient_gnn.typed_dataset import TypedDataset

        return TypedDataset(core, origin)

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
        """
        _threads.use_threads()
        edges = edges_of(edge_index)
        features = None if x is None else features_of(x)
        if num_nodes is None:
            num_nodes = _num_nodes(edges, features, y)
        num_nodes = integer_of("num_nodes", num_nodes, 1, MOST_NODES)
        store = _core.StoreFromArrays(name or pathlib.Path(out).name, num_nodes)
        store.set_edges(*(ends.numpy() for ends in edges), symmetric)
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
        from salient_gnn.typed_store import write_typed

        return cls.open(write_typed(out, edges, x, y, **options))

    @classmethod
    def from_pyg(
        cls, data: Data | HeteroData, out: StrPath, *, split: int = 0, **options: Any
    ) -> Dataset | TypedDataset:
        """Writes a store from PyG's Data, with its train_mask, val_mask and test_mask; of masks [V, K] takes column
        `split`. Edges stay as they are, but for weights and features, which a store does not have. The other options
        are those of from_arrays().

        Of HeteroData it writes a typed store, as from_typed_arrays() does, whose other options it takes: the target is
        the first type with y, unless target names another.
        """
        if hasattr(data, "node_types"):
            from salient_gnn.typed_store import write_hetero

            return cls.open(write_hetero(data, out, split=split, **options))
        edge_index = getattr(data, "edge_index", None)
        if edge_index is None:
            raise ValueError("data: has no edge_index of one type of nodes and edges")
        for part, name in MASKS.items():
            mask = getattr(data, name, None)
            if mask is not None:
                options.setdefault(part, mask_column(tensor_of(mask, name), name, split))
        _warn_of_unused(names_in(data), {"x", "y", "edge_index", "num_nodes", *MASKS.values()})
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
        _warn_of_unused(names, {"edge_index", "node_feat", "num_nodes", "x", "y"})
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
        """int32 [E]: the nodes that node v gets messages from, ascending; uint32 from 2^31 nodes on."""
        return self._as_ids(self._core.indices())

    @property
    def edge_index(self) -> Tensor:
        """int64 [2, E] sources and destinations of all entries, in the order of `indices`; made anew each time."""
        destinations = torch.repeat_interleave(torch.arange(self.num_nodes), self.indptr.diff())
        return torch.stack([self.indices.long(), destinations])

    def entries_of(self, sources: Tensor, destinations: Tensor) -> Tensor:
        """int64 [N]: the places in `indices` of N edges that the graph has, by search in their rows."""
        indptr, indices = self.indptr, torch.from_dlpack(self._core.indices())
        low, high = indptr[destinations], indptr[destinations + 1]
        while bool((low < high).any()):  # once for each bit of the longest row's length
            middle = (low + high) // 2
            is_below = (indices[middle.clamp(max=len(indices) - 1)].long() & 0xFFFFFFFF) < sources
            is_open = low < high
            low = torch.where(is_open & is_below, middle + 1, low)
            high = torch.where(is_open & ~is_below, middle, high)
        return low

    def graph_on(self, device: torch.device) -> _core.DeviceGraph:
        """The graph on a device, to be sampled there, copied once for all loaders."""
        key = ("graph", device)
        with self._placing:
            if key not in self._on_device:
                with torch.cuda.device(device):
                    self._on_device[key] = _core.copy_graph_to_device(self._core)
            return self._on_device[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._origin, self._view)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.num_nodes} nodes, {self.num_edges} edges, {self.num_features} features, "
            f"{self.num_classes} {_OUTPUTS[self.task]})"
        )


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


def _warn_of_unused(names: Iterable[str], used: set[str]) -> None:
    unused = [name for name in names if name not in used]
    if unused:
        text = f"{', '.join(unused)} {'is' if len(unused) == 1 else 'are'} left out"
        warnings.warn(f"{text}: a store has edges without weights, features, labels and a split", stacklevel=3)


def written(out: StrPath, force: bool, write: Callable[[], None]) -> None:
    """write(), whose error says what to do where the store is there."""
    try:
        write()
    except _core.Error as error:
        if force or error.code != 2 or not os.path.lexists(out):
            raise
        refusal = _core.Error(f"{error}; Dataset.open() opens it, force=True replaces it")
        refusal.code = error.code
        raise refusal from None


def mask_column(mask: Tensor, name: str, split: int) -> Tensor:
    """The mask of one split, where there are several in columns."""
    if mask.dim() != 2:
        return mask
    return mask[:, integer_of(f"split of {name}", split, 0, mask.shape[1] - 1)]


def _num_nodes(edges: tuple[Tensor, Tensor], features: Tensor | None, y: Any) -> int:
    for rows in (features, None if y is None else tensor_of(y, "y")):
        if rows is not None:
            return rows.shape[0] if rows.dim() > 0 else 0
    return 1 + max((int(ends.max()) for ends in edges if len(ends) > 0), default=-1)


def set_features(store: _core.StoreFromArrays, x: Tensor, num_nodes: int) -> None:
    if x.dim() != 2 or x.shape[0] != num_nodes or x.shape[1] == 0:
        raise ValueError(f"x: has shape {list(x.shape)}, not [{num_nodes}, F] with F above 0")
    if x.layout != torch.strided:
        return _set_sparse_features(store, x)
    if x.dtype == torch.float16:
        refuse_first(~x.isfinite(), x, "x", "which is not finite")
        store.set_half_features(x.cpu().contiguous().view(torch.int16).numpy())
    else:
        store.set_float_features(narrowed(x, "x").contiguous().numpy())


def _set_sparse_features(store: _core.StoreFromArrays, x: Tensor) -> None:
    rows = x.to("cpu")
    if rows.layout in (torch.sparse_bsr, torch.sparse_bsc) or rows.dense_dim() > 0:
        rows = rows.to_dense()  # torch makes no CSR of blocks
    rows = rows.to_sparse_csr()
    begin, columns = (part.to(torch.int64).contiguous().numpy() for part in (rows.crow_indices(), rows.col_indices()))
    values = narrowed(rows.values().unsqueeze(1), "x's values").squeeze(1).contiguous().numpy()
    store.set_sparse_features(begin, columns, values, x.shape[1], x.dtype == torch.float16)


def set_y(
    store: _core.StoreFromArrays,
    y: Any,
    num_nodes: int,
    num_classes: int | None,
    task: str | None,
    target_names: Sequence[str],
) -> None:
    if task not in (None, "regression"):
        raise ValueError(f"task: {task!r} is not 'regression'; of other tasks y itself says what it is")
    if task is None:
        if target_names:
            raise ValueError("target_names: only with task='regression'")
        return _set_labels(store, labels_of(y, num_nodes), num_classes)
    values = targets_of(y, num_nodes)
    if num_classes is not None or len(target_names) not in (0, values.shape[1]):
        raise ValueError(f"y: has {values.shape[1]} targets; as many target_names, and no num_classes")
    store.set_targets(values.numpy(), list(target_names))


def _set_labels(store: _core.StoreFromArrays, y: Tensor, num_classes: int | None) -> None:
    known = int(y.max()) + 1 if y.dim() == 1 and y.numel() > 0 else 0
    if y.dim() == 2:
        if num_classes not in (None, y.shape[1]):
            raise ValueError(f"num_classes: {num_classes!r}, and y has {y.shape[1]} labels a node")
        if y.shape[0] > 2 and y.shape[1] > 1 and bool(((y != 0).sum(1) == 1).all()) and bool((y >= 0).all()):
            warnings.warn(
                f"y: every node has one of {y.shape[1]} labels; if they are classes, pass y.argmax(1)", stacklevel=3
            )
        return store.set_flags(y.numpy())
    count = known if num_classes is None else integer_of("num_classes", num_classes, known, 1 << 20)
    store.set_classes(y.numpy(), count)
