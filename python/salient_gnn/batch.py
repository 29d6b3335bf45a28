# python/salient_gnn/batch.py - one mini-batch as tensors that share one piece of memory.
"""A batch is one slab of memory; its parts are views, made when they are asked for, under PyG's names, too.

A tensor of a batch never changes: its slab belongs to the tensors that show it, and the loader fills another one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn.layer import Layer, coo_of

if TYPE_CHECKING:
    from torch_geometric.data import Data
    from typing_extensions import Self

    from salient_gnn import _core


_KEYS = ("x", "edge_index", "n_id", "e_id", "input_id", "batch_size", "num_sampled_nodes", "num_sampled_edges")


def resident_rows(features: Tensor, rows: Tensor, fp8_scale: float) -> Tensor:
    """The rows as workers gather them, of all rows on a device: float8 becomes float16, times the scale."""
    if not fp8_scale:
        return features.index_select(0, rows)
    taken = features.view(torch.uint8).index_select(0, rows).view(features.dtype)
    return taken.to(torch.float16) * fp8_scale


class Slab:
    """A batch's memory, and what batches of all graphs have in it."""

    __iter__ = None  # what has items by name is no sequence

    def __init__(self, core: _core.Batch, memory: Tensor, facts: dict[str, Any]) -> None:
        self._core = core
        self._memory = memory
        self._facts = facts

    @property
    def index(self) -> int:
        """Of the global batch in its epoch."""
        return self._core.index

    @property
    def epoch(self) -> int:
        return self._core.epoch

    @property
    def batch_size(self) -> int:
        """Seeds: the first nodes. 0 where another rank has the last ones."""
        return self._core.num_seeds

    @property
    def num_nodes(self) -> int:
        return self._core.num_nodes

    @property
    def device(self) -> torch.device:
        return self._memory.device

    @cached_property
    def nodes(self) -> Tensor:
        """int32 [N] ids in the data set, the seeds first (int64 from 2^31 nodes on); torch indexes with them."""
        ids = self._part(self._core.nodes, torch.int32, self.num_nodes)
        return ids if self._facts["num_nodes"] <= 1 << 31 else ids.long() & 0xFFFFFFFF

    def to(self, device: torch.device | str | int, *names: str, non_blocking: bool = False) -> Self:
        """The batch on another device, in one copy. PyG's `names` may be there; everything moves."""
        return self._with_memory(self._memory.to(device, non_blocking=non_blocking))

    def cpu(self) -> Self:
        return self.to("cpu")

    def cuda(self, device: torch.device | str | int = "cuda", non_blocking: bool = False) -> Self:
        return self.to(device, non_blocking=non_blocking)

    def pin_memory(self) -> Self:
        """In pinned memory, from where to("cuda", non_blocking=True) does not wait."""
        return self._with_memory(self._memory.pin_memory())

    def _with_memory(self, memory: Tensor) -> Self:
        return self if memory is self._memory else type(self)(self._core, memory, self._facts)

    def _labels_of_seeds(self) -> Tensor:
        width, dtype = self._facts["num_classes"], {"multi-label": torch.int8, "regression": torch.float32}
        if self._facts["task"] in dtype:
            values = self._part(self._core.y, dtype[self._facts["task"]], self.batch_size * width)
            return values.view(self.batch_size, width)
        return self._part(self._core.y, torch.int32, self.batch_size).long()

    def _part(self, offset: int, dtype: torch.dtype, count: int) -> Tensor:
        return self._memory[offset : offset + count * dtype.itemsize].view(dtype)

    def __len__(self) -> int:
        return self.batch_size


class Batch(Slab):
    """The seeds of a step, the nodes that were sampled around them, and their features.

    train_mask, val_mask and test_mask are bool [N]. Of PyG's Data a batch has all attributes, those of nodes and edges
    cut to its own. batch["x"] is batch.x.
    """

    def __init__(self, core: _core.Batch, memory: Tensor, facts: dict[str, Any]) -> None:
        super().__init__(core, memory, facts)
        self._hops = core.hops

    @cached_property
    def n_id(self) -> Tensor:
        """int64 [N]: `nodes` as PyG has them; or those of Data's own n_id."""
        own = "n_id" in self._facts["columns"].names
        return self._facts["columns"].take("n_id", self) if own else self.nodes.long()

    @cached_property
    def input_id(self) -> Tensor:
        """int64 [S]: the places of the seeds among the nodes that the loader was given."""
        return self._facts["places"].of(self.nodes[: self.batch_size].long())

    @cached_property
    def batch(self) -> Tensor | None:
        """int64 [N] of a loader with disjoint=True: the number of the seed whose tree a node is in, 0 to S - 1. Else
        None, as PyG has it, or Data's own."""
        if not self._facts["disjoint"]:
            own = "batch" in self._facts["columns"].names
            return self._facts["columns"].take("batch", self) if own else None
        tree = torch.arange(self.num_nodes, device=self.device)
        for layer in reversed(self.layers):
            sources, destinations = layer.edge_index
            tree[sources] = tree[destinations]
        return tree

    @cached_property
    def y(self) -> Any:
        """int64 [S] classes of the seeds, or int8 [S, L] zeros and ones; -1 = not known. float32 [S, T] values of a
        regression, NaN = not known. With the loader's y_of="nodes" the same of all nodes, [N, ...]; of PyG's Data its
        own y."""
        columns, are_all = self._facts["columns"], self._facts["y_of"] == "nodes"
        if are_all or self._facts["has_own_y"]:
            values = columns.take("y", self)
            return values if are_all or values is None else values[: self.batch_size]
        return self._labels_of_seeds()

    @cached_property
    def x(self) -> Any:
        """[N, F] features of all nodes, in the loader's dtype; without a copy where that is the stored one. Features of
        PyG's Data that a store cannot hold as they are, such as whole numbers, come as they are."""
        if "x" in self._facts["columns"].names:
            return self._facts["columns"].take("x", self)
        dtype = self._facts["dtype"]
        rows = self.x_sparse.to_dense() if self._facts["has_sparse_features"] else self._stored_rows()
        return rows if dtype is None else rows.to(dtype)

    @cached_property
    def x_sparse(self) -> Tensor:
        """torch.sparse_csr [N, F], of a data set with sparse features."""
        if not self._facts["has_sparse_features"]:
            raise ValueError("x_sparse: the data set's features are dense; batch.x has them")
        count = self._core.num_values
        return torch.sparse_csr_tensor(
            self._part(self._core.x_begin, torch.int32, self.num_nodes + 1),
            self._part(self._core.x_columns, torch.int32, count),
            self._part(self._core.x, self._facts["stored_dtype"], count),
            (self.num_nodes, self._facts["num_features"]),
            check_invariants=False,
        )

    @cached_property
    def layers(self) -> list[Layer]:
        """One bipartite graph for each layer of the model, outermost first: the order in which a model uses them."""
        return [
            Layer(
                self._part(indptr, torch.int32, num_dst + 1),
                self._part(indices, torch.int32, num_edges),
                num_src,
                num_dst,
                self._edge_rows(hop) if self._facts["edge_attr"] else None,
                self._edge_weights(hop) if self._facts["has_edge_weight"] else None,
            )
            for hop, (num_dst, num_src, num_edges, indptr, indices, _) in enumerate(self._hops)
        ]

    # What PyG's own NeighborLoader gives: one graph, in which every node samples once, its edges sorted by hop.

    @cached_property
    def edge_index(self) -> Tensor:
        """int64 [2, E] of one graph over all nodes, edges sorted by hop, as PyG's NeighborLoader has it: for models
        that take one edge_index, whole or with trim_to_layer()."""
        parts, known = [], 0
        for num_dst, _, num_edges, indptr, indices, first in reversed(self._hops):
            rows = self._part(indptr, torch.int32, num_dst + 1)[known:]
            columns = self._part(indices, torch.int32, num_edges)[first:]
            parts.append(coo_of(rows, columns, known))
            known = num_dst
        return torch.cat(parts, dim=1)

    @cached_property
    def num_sampled_nodes(self) -> list[int]:
        """[L + 1] seeds, and the nodes that each hop added; for trim_to_layer()."""
        known = [self.batch_size, *(num_src for _, num_src, *_ in reversed(self._hops))]
        return [known[0], *(after - before for before, after in zip(known, known[1:]))]

    @cached_property
    def num_sampled_edges(self) -> list[int]:
        """[L] edges of each hop in edge_index; for trim_to_layer()."""
        return [num_edges - first for _, _, num_edges, _, _, first in reversed(self._hops)]

    @property
    def num_edges(self) -> int:
        """Of edge_index."""
        return sum(self.num_sampled_edges)

    @cached_property
    def e_id(self) -> Tensor:
        """int64 [E]: the columns of the data set's edge_index, or of that of PyG's Data, that edge_index was sampled
        from. Searched for when it is asked for; with the loader's edge_attr=True it is there, also of edges with
        times."""
        own = "e_id" in self._facts["columns"].names
        return self._facts["columns"].take("e_id", self) if own else self.sampled_edges

    @cached_property
    def sampled_edges(self) -> Tensor:
        """e_id, but where Data has other ids of edges under this name."""
        if self._facts["has_places"]:
            entries = self._edge_places().cpu()
        else:
            sources, destinations = self.nodes.long()[self.edge_index].cpu()
            entries = self._facts["dataset"].entries_of(sources, destinations)
        return self._facts["columns"].edge_ids(entries).to(self.device)

    def to_pyg(self) -> Data:
        """The same as torch_geometric.data.Data, as PyG's NeighborLoader returns it: y and masks of all nodes; without
        e_id, which takes time."""
        from torch_geometric.data import Data

        names = [name for name in self.keys() if name not in ("e_id", "y")]
        labels = self._facts["columns"].take("y", self)
        return Data(**{name: self[name] for name in names}, y=labels, num_nodes=self.num_nodes)

    def to_dgl(self) -> list[Any]:
        """DGL's blocks, outermost first; needs the package dgl. Global ids are in srcdata["_ID"], dstdata["_ID"]."""
        import dgl

        blocks = []
        for layer in self.layers:
            block = dgl.create_block(tuple(layer.edge_index), layer.num_src, layer.num_dst, device=self.device)
            block.srcdata[dgl.NID] = self.nodes[: layer.num_src].long()
            block.dstdata[dgl.NID] = self.nodes[: layer.num_dst].long()
            blocks.append(block)
        return blocks

    def keys(self) -> list[str]:
        trees = ("batch",) if self._facts["disjoint"] else ()
        return list(dict.fromkeys((*_KEYS, *trees, *self._facts["columns"].names)))

    def __contains__(self, name: str) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:  # only of names that are not found otherwise
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._facts["columns"].names:
            raise AttributeError(f"a Batch has no {name!r}; it has {', '.join(self.keys())}")
        value = self._facts["columns"].take(name, self)
        self.__dict__[name] = value
        return value

    def edge_rows(self) -> Tensor:
        """[E, D] in the order of edge_index: the features of its edges, of a loader with edge_attr=True."""
        hops = reversed(range(len(self._hops)))
        return torch.cat([self._edge_rows(hop)[self._hops[hop][5] :] for hop in hops])

    def edge_weights(self) -> Tensor:
        """float32 [E] likewise: their weights, of a loader with edge_weight=True."""
        hops = reversed(range(len(self._hops)))
        return torch.cat([self._edge_weights(hop)[self._hops[hop][5] :] for hop in hops])

    def _edge_weights(self, hop: int) -> Tensor:
        """float32 [edges] of a hop, outermost first."""
        return self._part(self._core.entry_parts[hop][2], torch.float32, self._hops[hop][2])

    def _edge_rows(self, hop: int) -> Tensor:
        """[edges, D] of a hop, outermost first, in the loader's dtype."""
        width, stored, wanted = self._facts["edge_attr"]
        edge_x = self._core.entry_parts[hop][1]
        num_edges = self._hops[hop][2]
        rows = self._part(edge_x, stored, num_edges * width).view(num_edges, width)
        return rows if wanted is None else rows.to(wanted)

    def _edge_places(self) -> Tensor:
        """int64 [E]: the places in the store's `indices` of the edges of edge_index."""
        parts = []
        for (places, *_), (_, _, num_edges, _, _, first) in zip(self._core.entry_parts, self._hops):
            parts.append(self._part(places, torch.int64, num_edges)[first:])
        return torch.cat(parts[::-1])

    def _stored_rows(self) -> Tensor:
        features = self._facts["features"]  # on the loader's device, if the batch comes without its rows
        if features is not None:
            rows = resident_rows(features, self.nodes.to(features.device), self._facts["fp8_scale"])
            return rows.to(self.device)
        if self._facts["cache"] is not None:
            return self._cached_rows()
        width = self._facts["num_features"]
        return self._part(self._core.x, self._facts["stored_dtype"], self.num_nodes * width).view(self.num_nodes, width)

    def _cached_rows(self) -> Tensor:
        """As workers gather them, of rows of which some are on the loader's device."""
        cache, scale = self._facts["cache"], self._facts["fp8_scale"]
        device, row_bytes = cache.rows.device, cache.rows.shape[1] * cache.rows.dtype.itemsize
        places = self._part(self._core.x_rows, torch.int32, self.num_nodes).to(device).long() & 0xFFFFFFFF
        missed = self._memory[self._core.x_missed : self._core.num_bytes].to(device).view(cache.rows.dtype)
        rows = cache.rows_of(places, missed.view(-1, row_bytes // cache.rows.dtype.itemsize))
        return (rows.to(torch.float16) * scale if scale else rows).to(self.device)

    def __repr__(self) -> str:
        return f"Batch({self.batch_size} seeds, {self.num_nodes} nodes, layers={self.layers}, device={self.device})"
