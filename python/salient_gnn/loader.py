# python/salient_gnn/loader.py - iterates over the mini-batches of an epoch.
"""NeighborLoader: batches that C++ threads prepare ahead of the loop, as tensors on the CPU or a GPU."""

from __future__ import annotations

import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn import _core, _threads
from salient_gnn._arrays import integer_of, nodes_of, refuse_first, texts_of
from salient_gnn.batch import Batch
from salient_gnn.columns import columns_of
from salient_gnn.dataset import Dataset
from salient_gnn.edge_columns import edge_columns_of
from salient_gnn.keywords import KEYWORDS, drawn_by, own_keywords
from salient_gnn.nodes import Nodes
from salient_gnn.pinning import pinning_of
from salient_gnn.placement import FEATURES, SAMPLERS, Placement
from salient_gnn.times import TimeRule, time_rule_of
from salient_gnn.typed_batch import TypedBatch
from salient_gnn.typed_dataset import EdgeType, TypedDataset
from salient_gnn.typed_loader import fanouts_by_relation, typed_nodes, warn_of_lone_seeds

if TYPE_CHECKING:
    from torch_geometric.data import Data

_NAMES = {"train": "train", "valid": "valid", "val": "valid", "test": "test", "all": "all"}  # of nodes; val is PyG's
_WITH_REPLACEMENT = "with-replacement"  # of _core.DRAWS
_WHOLE = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
_Ready = tuple[Batch | TypedBatch, "torch.cuda.Event | None"]


class NeighborLoader:
    """The batches of `nodes`, with their sampled neighbours.

    Each `for` starts the next epoch, from epoch 1 on. A batch is a function of (data set, fanouts, replace, draw, seed,
    epoch, batch, nodes): it depends on no number of workers, and salient-train makes the same one of the same values.

    A batch's tensors stay as they are for as long as they are kept; memory is used again when the last one is gone. So
    batches that are kept take memory, each its own.

    PyG's names and order are taken, too: NeighborLoader(data, [15, 10], input_nodes=mask). What becomes of the other
    keywords of PyG and of torch's DataLoader is in salient_gnn.keywords.

    dataset       a Dataset; a TypedDataset, whose batches are of TypedBatch; or PyG's Data or HeteroData, whose edges
                  and features become a store in the temporary folder, once
    nodes         rows, own ids that are text, a mask, or "train", "valid" or "val", "test", "all"; None = all by PyG's
                  names alone. Of a typed graph they are of the target type, or (TYPE, nodes), as PyG has it
    fanouts       neighbours sampled per hop, the seeds' own first; -1 = all. Of a typed graph for each relation, all
                  alike, or a dict of a list for each relation, in which 0 = none
    batch_size    seeds of a batch on each rank
    device        where the tensors are: "cpu", "cuda", "cuda:1", ...; None = the CPU, or where Data has its features
    shuffle       a new order in each epoch
    seed          of order and draws
    replace       whether a neighbour may be drawn more than once: as draw="with-replacement"
    draw          "uniform": every node draws by itself. "labor": the nodes of a batch draw alike, so that batches have
                  fewer nodes, without replacement; sampling takes longer. "weighted": in proportion to the weights of
                  the edges, of a data set that has them
    time_rule     of a data set whose edges have times: a seed of time T sees those before T ("lt"), or also those of T
                  ("le"), in all hops; None = all. A node that seeds of two times meet is in batch.nodes twice
    time_window   with a time_rule: how far back, in the unit of the times; None = any
    time_strategy with a time_rule: "uniform" draws `fanouts` of these, as draw says; "last" keeps the latest
    input_time    with a time_rule: whole numbers, the time of each of `nodes`, in their order; None = the store's
    dtype         of batch.x; None = as stored, without a conversion
    y_of          what batch.y is of: "seeds", or all "nodes" of the batch, as PyG has it. None = "nodes" where a loader
                  is called by PyG's names or with Data, else "seeds"
    edge_attr     True, or "edge_attr": batches have the features of the store's edges, as batch.edge_attr and
                  layer.edge_attr, in the same dtype. Batches of PyG's Data have its own without
    edge_weight   True, or "edge_weight": likewise their weights, float32, as batch.edge_weight; None = with PyG's
                  weight_attr alone. Batches of PyG's Data have its own without
    disjoint      every seed has a tree of its own, and batch.batch says in whose tree a node is; on the host, of graphs
                  of one type of nodes. The tree is what the seed would have in a batch by itself. None = with PyG's
                  time_attr alone, as PyG has it
    transform     is called with each batch.to_pyg(), and the loop gets what it returns
    features      "host": workers gather rows. "device": the GPU does, from a copy of all rows that it holds, of a typed
                  graph of those that are dense. "cached": it holds the rows that batches meet most, workers gather the
                  others; not of typed graphs. "auto": what fits into half of the GPU's free memory, by the rules of
                  `salient-train --features auto`. The loaders of a Dataset share what is on a GPU
    sampler       "host", "device" or "auto", likewise for the graph; "device" needs a build with CUDA
    cache_bytes   GPU memory for the rows of "cached"; 0 = what is left of that half
    rank, world_size  this process and their number; else those of torch.distributed, where that is initialised. Ranks
                  share each global batch of batch_size * world_size seeds, and have equally many batches
    workers       threads that prepare batches; None = one for each core; 0 = the caller's thread
    drop_last     leaves out a last global batch that is not full
    """

    _host_samples = ""  # why, of loaders whose graph is never on a GPU

    def __init__(
        self,
        dataset: Dataset | TypedDataset | Data | None = None,
        nodes: Tensor | Sequence[int] | Sequence[str] | str | tuple[str, Any] | None = None,
        fanouts: Sequence[int] | Mapping[EdgeType, Sequence[int]] | None = None,
        batch_size: int = 1024,
        *,
        device: torch.device | str | None = None,
        shuffle: bool = False,
        seed: int = 0,
        replace: bool = False,
        draw: str = "uniform",
        time_rule: str | None = None,
        time_window: int | None = None,
        time_strategy: str | None = None,
        input_time: Tensor | Sequence[int] | None = None,
        dtype: torch.dtype | None = torch.float32,
        y_of: str | None = None,
        edge_attr: bool | str | None = None,
        edge_weight: bool | str | None = None,
        disjoint: bool | None = None,
        transform: Callable[[Any], Any] | None = None,
        features: str = "auto",
        sampler: str | None = "auto",
        cache_bytes: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        workers: int | None = None,
        drop_last: bool = False,
        **keywords: Any,
    ) -> None:
        _threads.use_threads()
        draws = {"draw": None if draw == "uniform" else draw, "time_rule": time_rule, "time_strategy": time_strategy}
        drawn, keywords = drawn_by(keywords.get("data", dataset), keywords)
        by_weight, by_time = (keywords.get(name) is not None for name in ("weight_attr", "time_attr"))
        own, is_pygs = _own_names(dataset, nodes, fanouts, seed, draws, keywords)
        draw = own["draw"] or "uniform"
        nodes, seed = "all" if is_pygs and own["nodes"] is None else own["nodes"], own["seed"] or 0
        sampler = "auto" if sampler is None else sampler  # torch's default
        choice_of("features", features, FEATURES)
        if not isinstance(sampler, str):
            raise ValueError(f"sampler: {sampler!r} is not possible here: {KEYWORDS['sampler'].reason}")
        choice_of("sampler", sampler, SAMPLERS)
        cache_bytes = integer_of("cache_bytes", cache_bytes, 0)
        self.data = own["dataset"]  #: what the loader was given
        self.dataset, columns = columns_of(self.data, drawn)
        device = columns.device if device is None else device
        self.device = _whole_device(device)
        self.dtype = _feature_dtype(dtype)
        self.epoch = 0  #: of the last iteration that was started
        self.fanouts = _fanouts(self.dataset, own["fanouts"])
        batch_size, seed = integer_of("batch_size", batch_size, 1), integer_of("seed", seed, 0)
        self.workers = len(os.sched_getaffinity(0)) if workers is None else integer_of("workers", workers, 0, 1024)
        asked = _asked(self.dataset, nodes)
        self._core = asked.core
        self._edge_columns = edge_columns_of(self._core, columns.names, edge_attr, edge_weight, by_weight,
                                             drawn.keeps_repeats)  # fmt: skip
        columns.names += self._edge_columns.names
        self._disjoint = by_time if disjoint is None else bool(disjoint)
        if self._disjoint and isinstance(self.dataset, TypedDataset):
            raise ValueError("disjoint: True is not possible here: seeds of typed graphs share the nodes that they "
                             "reach")  # fmt: skip
        self._order = _core.EpochOrder()
        self._order.set_nodes(asked.seeds.numpy())
        self._order.batch_size = batch_size
        self._order.shuffle, self._order.drop_last, self._order.seed = shuffle, drop_last, seed
        self._order.rank, self._order.num_ranks = _position(rank, world_size)
        rule = _rule(self.fanouts, _draw(replace, draw))
        self._time = self._time_rule(asked.seeds, rule.draw, own["time_rule"], time_window, own["time_strategy"],
                                     input_time)  # fmt: skip
        placement = Placement(self.dataset, self.device, features, sampler, cache_bytes, self._obstacles())
        with self.dataset._placing:
            options = self._options(rule)
            cache = placement.plan(self._core, options, lambda: {**self._probed(asked.seeds, batch_size), "seed": seed})
            self.features_on, self.sampler_on = placement.features, placement.sampler
            resident = self.dataset.features_on(self.device) if self.features_on == "device" else None
            self._stream = self._make_stream(options)
        self._starting = threading.RLock()  # threads that share a loader start it one after the other
        self._current: weakref.ref[_Epoch] | None = None
        is_of_data = columns.is_of_data
        y_of = choice_of("y_of", y_of or ("nodes" if is_pygs or is_of_data else "seeds"), ("seeds", "nodes"))
        self._arguments = dict(
            dataset=self.data, nodes=asked.nodes, fanouts=self.fanouts, batch_size=batch_size, device=str(self.device),
            shuffle=shuffle, seed=seed, replace=replace, draw=draw, time_rule=own["time_rule"], time_window=time_window,
            time_strategy=own["time_strategy"], input_time=input_time, dtype=dtype, y_of=y_of, edge_attr=edge_attr,
            edge_weight=self._edge_columns.weight or edge_weight, disjoint=self._disjoint, transform=transform,
            features=features, sampler=sampler, cache_bytes=cache_bytes, rank=rank, world_size=world_size,
            workers=workers, drop_last=drop_last,
        )  # fmt: skip
        if drawn.weight is not None:
            self._arguments |= {"draw": "uniform", "weight_attr": drawn.weight}
        if drawn.time is not None:
            self._arguments |= {"time_rule": None, "time_attr": drawn.time}
        self._facts = {
            **asked.facts,
            "dtype": dtype,
            "features": resident,
            "cache": cache,
            "edge_attr": self.dataset.edge_attr_facts(dtype) if self._edge_columns.attr else None,
            "has_edge_weight": self._edge_columns.weight,
            "has_places": self._edge_columns.places,
            "disjoint": self._disjoint,
            "columns": columns,
            "has_own_y": is_of_data,
            "y_of": y_of,
            "transform": transform,
        }

    def _obstacles(self) -> dict[str, str]:
        """Why features, some of them, or the graph are not on this loader's device; "" = they may be."""
        is_typed = isinstance(self.dataset, TypedDataset)
        features, sampler = "", self._host_samples
        if self.device.type != "cuda":
            features = sampler = f"batches are on {self.device}"
        elif is_typed and self.dataset._device_feature_bytes == 0:
            features = "no type has dense features"
        elif not is_typed and self.dataset.has_sparse_features:
            features = "sparse features stay on the host"
        if self._core.has_edge_times and self._time is None:
            sampler = sampler or "its edges are in the order of their times"
        if self._edge_columns.places:
            what = " and ".join(self._edge_columns.names) or "edges of Data that are drawn by"
            sampler = sampler or f"batches with {what} are sampled by the host"
        if self._disjoint:
            sampler = sampler or "disjoint batches are sampled by the host"
            features = features or "disjoint batches are gathered by the host"
        if not _core.has_cuda:
            sampler = sampler or "this salient_gnn was built without CUDA"
        cache = features or ("rows of typed graphs are on the device as a whole, or not" if is_typed else "")
        return {"features": features, "cache": cache, "sampler": sampler}

    def _options(self, rule: _core.SamplingRule) -> _core.StreamOptions:
        options = _core.StreamOptions()
        options.rule, options.num_workers = rule, self.workers
        self._edge_columns.apply_to(options)
        options.disjoint = self._disjoint
        if self._time is not None:
            self._time.apply_to(options)
        self._set_items(options)
        return options

    def _make_stream(self, options: _core.StreamOptions) -> _core.BatchStream:
        graph = self.dataset.graph_on(self.device) if self.sampler_on == "device" else None
        if self.device.type != "cuda":
            return _core.make_stream(self._core, graph, options, None, None)
        with torch.cuda.device(self.device):
            return _core.make_stream(self._core, graph, options, *pinning_of(self.device))

    def _probed(self, seeds: Tensor, batch_size: int) -> dict[str, Any]:
        """The seeds that the first batches begin with."""
        return {"seeds": seeds, "batch_size": batch_size}

    def _time_rule(self, seeds: Tensor, draw: str, *words: Any) -> TimeRule | None:
        return time_rule_of(self._core, seeds, draw, *words)

    def _set_items(self, options: _core.StreamOptions) -> None:
        """Of loaders of something else than nodes."""

    def __len__(self) -> int:
        """Batches of an epoch, the same on every rank."""
        return self._order.num_batches

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is of this epoch: to go on with a run that was interrupted."""
        self.epoch = integer_of("epoch", epoch, 0) - 1

    def __iter__(self) -> Iterator[Batch | TypedBatch]:
        """Starts the next epoch. An iteration of this loader that has not ended ends now; two at the same time need two
        loaders. Threads may share an iteration: each batch goes to one of them."""
        _threads.use_threads()
        with self._starting:
            number = integer_of("epoch", self.epoch + 1, 0)
            self.close()
            try:
                run = self._stream.start(self._order, number, 0)
                epoch = _Epoch(self._stream, run, self.device, self._facts)
            except BaseException:  # Ctrl-C, too
                self._stream.stop_all()
                raise
            self.epoch, self._current = number, weakref.ref(epoch)
        return epoch

    def close(self) -> None:
        """Ends an iteration that has not ended."""
        current = self._current() if self._current is not None else None
        if current is not None:
            current.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self._arguments, self.epoch)

    def __repr__(self) -> str:
        return (
            f"NeighborLoader({self.dataset.name!r}, fanouts={self.fanouts}, batch_size={self._order.batch_size}, "
            f"device={self.device}, features={self.features_on!r}, sampler={self.sampler_on!r}, "
            f"workers={self.workers}, {len(self)} batches)"
        )


def _own_names(
    dataset: Any, nodes: Any, fanouts: Any, seed: int, draws: dict[str, Any], keywords: dict[str, Any]
) -> tuple[Any, bool]:
    """The values of what may have PyG's or torch's names, and whether the call has PyG's names or order: the list of
    fanouts in the second place, and the nodes in the third, not as a list, or as input_nodes."""
    is_pygs = not {"num_neighbors", "input_nodes"}.isdisjoint(keywords)
    are_fanouts = isinstance(fanouts, (list, tuple, dict)) and not _is_of_type(fanouts)
    has_pygs_order = isinstance(nodes, (list, tuple, dict)) and not are_fanouts
    if has_pygs_order and "num_neighbors" not in keywords:
        if fanouts is None and "input_nodes" not in keywords:
            raise ValueError("fanouts: are missing; in PyG's order say input_nodes, too: input_nodes=None is all nodes")
        nodes, fanouts, is_pygs = fanouts, nodes, True
    own = {"dataset": dataset, "nodes": nodes, "fanouts": fanouts, "seed": seed or None, **draws}
    return own_keywords(own, keywords), is_pygs


@dataclass(frozen=True)
class _Asked:
    """What a loader was asked for."""

    core: _core.Dataset  #: which batches are made of
    nodes: Any  #: what NeighborLoader() takes again
    seeds: Tensor  #: int64 [S] among the nodes of all types
    facts: dict[str, Any]  #: for batches


def _asked(dataset: Dataset | TypedDataset, nodes: Any) -> _Asked:
    if not isinstance(dataset, TypedDataset):
        seeds = _seeds(dataset, nodes)
        places = _Places(None if _are_all(nodes) else seeds)
        return _Asked(dataset._core, nodes, seeds, {**_facts_of(dataset), "kind": Batch, "places": places})
    seed_type, among = typed_nodes(dataset, nodes, tuple(_NAMES))
    warn_of_lone_seeds(dataset, seed_type)
    seeds = _seeds(dataset[seed_type], among)
    target = dataset[dataset.target_type]
    facts = {
        "kind": TypedBatch,
        "dataset": dataset,
        "num_nodes": dataset.num_nodes,
        "num_classes": target.num_classes,
        "task": target.task,
        "seed_type": seed_type,
        "places": _Places(None if _are_all(among) else seeds),
    }
    first = dataset.first_nodes[dataset.node_types.index(seed_type)]
    return _Asked(dataset.core_of(seed_type, has_seeds=True), (seed_type, among), seeds + first, facts)


def _facts_of(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "num_nodes": dataset.num_nodes,
        "num_features": dataset.num_features,
        "num_classes": dataset.num_classes,
        "task": dataset.task,
        "has_sparse_features": dataset.has_sparse_features,
        "stored_dtype": torch.float16 if dataset.fp8_scale else dataset.feature_dtype,
        "fp8_scale": dataset.fp8_scale,
    }


def choice_of(name: str, value: Any, of: Sequence[str]) -> Any:
    if value not in of:
        raise ValueError(f"{name}: {value!r} is none of {', '.join(of)}")
    return value


class _Epoch(Iterator[Any]):
    """One iteration. On a GPU it enqueues the next batch's copy before it returns a batch, on a stream of its own."""

    _is_over = True  # until it has begun

    def __init__(self, stream: _core.BatchStream, run: int, device: torch.device, facts: dict[str, Any]) -> None:
        self._stream = stream
        self._run = run
        self._device = device
        self._facts = facts
        self._taking = threading.RLock()  # of what follows
        self._copies: Any = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._ahead: _Ready | None = None
        self._in_copy: list[tuple[Any, Tensor]] = []  # host memory that a copy may still read
        self._is_over = False
        _threads.close_at_exit(self)

    def __next__(self) -> Batch | TypedBatch:
        _threads.use_threads()
        try:
            with self._taking:
                ready = None if self._is_over else self._ahead or self._take()
                self._ahead = self._take() if ready is not None and self._copies is not None else None
        except BaseException:
            self.close()
            raise
        if ready is None:
            self.close()
            raise StopIteration
        batch, copied = ready
        if copied is not None:
            consumer = torch.cuda.current_stream(self._device)
            consumer.wait_event(copied)
            batch._memory.record_stream(consumer)
        transform = self._facts["transform"]
        return batch if transform is None else transform(batch.to_pyg())

    def _take(self) -> _Ready | None:
        if self._copies is None:
            return self._take_from_host()
        with torch.cuda.stream(self._copies):  # leaves the caller's device as it is
            taken = self._take_from_host()
            if taken is None:
                return None
            host = taken[0]._memory
            memory = torch.empty(len(host), dtype=torch.uint8, device=self._device)
            memory.copy_(host, non_blocking=True)
            copied = torch.cuda.Event()
            copied.record(self._copies)
        self._in_copy = [(done, source) for done, source in self._in_copy if not done.query()]
        self._in_copy.append((copied, host))
        return self._facts["kind"](taken[0]._core, memory, self._facts), copied

    def _take_from_host(self) -> _Ready | None:
        core = self._stream.next(self._run)
        if core is None:
            return None
        host = torch.from_dlpack(core.memory())
        core.drop_memory()  # it is the tensors' now
        return self._facts["kind"](core, host, self._facts), None

    def close(self) -> None:
        self._is_over = True
        self._stream.stop(self._run)  # first: a thread that waits for a batch has the lock
        if self._copies is None or _threads.is_forked():
            return
        with self._taking:
            self._ahead = None
            if self._in_copy:
                self._copies.synchronize()
                self._in_copy = []

    def __del__(self) -> None:  # a loop that was left, an error
        if not self._is_over:
            self.close()


def _fanouts(dataset: Dataset | TypedDataset, values: Any) -> Any:
    """A list, or one of each relation of a typed graph."""
    if isinstance(dataset, TypedDataset) and isinstance(values, Mapping):
        return fanouts_by_relation(dataset, values)
    try:
        fanouts = [operator.index(value) for value in values]
        are_valid = _core.are_fanouts(fanouts)
    except TypeError:  # too large for the core's integers, too
        are_valid = False
    if not are_valid:
        name = "num_neighbors, or fanouts" if values is None or isinstance(values, dict) else "fanouts"
        raise ValueError(f"{name}: {values!r}; a list, one for each layer, 1 to 65535 or -1 for all neighbours")
    return fanouts


def _rule(fanouts: Any, draw: str) -> _core.SamplingRule:
    if not isinstance(fanouts, dict):
        return _core.SamplingRule(fanouts, draw)
    of_relations = list(fanouts.values())
    return _core.SamplingRule([1] * len(of_relations[0]), draw, of_relations)


def _feature_dtype(dtype: torch.dtype | None) -> torch.dtype | None:
    is_real = isinstance(dtype, torch.dtype) and (dtype.is_floating_point or dtype in _WHOLE)
    if dtype is not None and not is_real:
        raise ValueError(f"dtype: {dtype!r} is no torch.dtype of real numbers, such as torch.float32, and not None")
    return dtype


def _draw(replace: bool, draw: str) -> str:
    if draw not in _core.DRAWS:
        raise ValueError(f"draw: {draw!r} is none of {', '.join(_core.DRAWS)}")
    if not replace or draw == _WITH_REPLACEMENT:
        return draw
    if draw != "uniform":
        raise ValueError(f"replace: draw={draw!r} is without replacement")
    return _WITH_REPLACEMENT


def _whole_device(device: torch.device | str) -> torch.device:
    chosen = torch.device(device)
    if chosen.type not in ("cpu", "cuda"):
        raise ValueError(f"device: {chosen} is neither a CPU nor a CUDA device")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device: {chosen} is not there; this torch sees no GPU")
    if chosen.type == "cuda" and chosen.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu") if chosen.type == "cpu" else chosen


def _seeds(dataset: Nodes, nodes: Any) -> Tensor:
    """int64 [S] on the CPU, distinct nodes of the data set."""
    if _is_of_type(nodes):
        raise ValueError(f"nodes: of the type {nodes[0]!r}; a store has one type of nodes: pass {nodes[1]!r} alone")
    if isinstance(nodes, str) and not _are_all(nodes):
        nodes = getattr(dataset, _NAMES[choice_of("nodes", nodes, tuple(_NAMES))])
    if _are_all(nodes):
        return torch.arange(dataset.num_nodes)
    if nodes is None:
        raise ValueError("nodes: is None; 'all', or input_nodes=None as PyG has it, are all nodes")
    if texts_of(nodes) is not None and dataset.has_text_ids:
        nodes = dataset.rows_of(nodes)
    ids = nodes_of(nodes, "nodes", dataset.num_nodes)
    refuse_first((ids < 0) | (ids >= dataset.num_nodes), ids, "nodes", f"ids are 0 to {dataset.num_nodes - 1}")
    if len(ids.unique()) != len(ids):
        raise ValueError("nodes: an id is there more than once")
    return ids


def _is_of_type(nodes: Any) -> bool:
    """As PyG has seeds of a type."""
    return isinstance(nodes, tuple) and len(nodes) == 2 and isinstance(nodes[0], str) and not isinstance(nodes[1], str)


def _are_all(nodes: Any) -> bool:
    return isinstance(nodes, str) and nodes == "all"


class _Places:
    """Where nodes are among the loader's, None = all; sorted when it is asked for the first time."""

    def __init__(self, nodes: Tensor | None) -> None:
        self._nodes = nodes
        self._sorted: tuple[Tensor, ...] | None = None

    def of(self, rows: Tensor) -> Tensor:
        if self._nodes is None:
            return rows
        if self._sorted is None:
            self._sorted = tuple(self._nodes.sort())
        ascending, places = self._sorted
        return places[torch.searchsorted(ascending, rows.cpu())].to(rows.device)


def _position(rank: int | None, world_size: int | None) -> tuple[int, int]:
    if rank is None and world_size is None and torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    place = 0 if rank is None else integer_of("rank", rank, 0)
    size = 1 if world_size is None else integer_of("world_size", world_size, 1, (1 << 31) - 1)
    if place >= size:
        raise ValueError(f"rank: {place} of {size}; ranks are 0 to world_size - 1, and go with a world_size")
    return place, size


def _remake(arguments: dict[str, Any], epoch: int) -> NeighborLoader:
    loader = NeighborLoader(**arguments)
    loader.epoch = epoch
    return loader
