# python/salient_gnn/typed_batch.py - one mini-batch of a typed graph, as PyG's HeteroData has it.
"""batch["paper"].x, batch["author", "writes", "paper"].edge_index, batch.x_dict, batch.edge_index_dict: views of one
slab, or made of it when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn.batch import Slab, resident_rows

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

    from salient_gnn.typed_dataset import EdgeType


class Part:
    """What a batch has of one type of nodes, or of one relation. Values are kept by the batch, which has no way back to
    it: memory is free again when the last of them is gone, without a search for cycles."""

    __iter__ = None  # what has items by name is no sequence

    def __init__(self, make: dict[str, Callable[[], Any]], made: dict[str, Any]) -> None:
        self._make, self._made = make, made

    def keys(self) -> list[str]:
        return list(self._make)

    def __contains__(self, name: str) -> bool:
        return name in self._make

    def __getitem__(self, name: str) -> Any:
        if name not in self._make:
            raise KeyError(name)
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:  # only of names that are not found otherwise
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._make:
            raise AttributeError(f"there is no {name!r} here; there are {', '.join(self._make)}")
        if name not in self._made:
            self._made[name] = self._make[name]()
        return self._made[name]

    def __repr__(self) -> str:
        return f"Part({', '.join(self._make)})"


class TypedBatch(Slab):
    """The seeds of a step, and the nodes of all types that were sampled around them.

    batch["paper"] has num_nodes, n_id int64 [N] rows in the data set, num_sampled_nodes [L + 1], and x [N, F] in the
    loader's dtype, where the type has features; x_sparse, torch.sparse_csr, where they are sparse. That of the seeds
    has batch_size and input_id, too: they are its first nodes. That of the target type has y, train_mask, val_mask and
    test_mask.

    batch["author", "writes", "paper"] has edge_index int64 [2, E], whose rows are places among the nodes of the two
    types, sorted by hop, num_edges, num_sampled_edges [L], and e_id int64 [E]: columns of the relation's edge_index,
    searched for when it is asked for.

    Of PyG's HeteroData types and relations have all their attributes, too, those of nodes and edges cut to the batch's.

    batch.x_dict, and so on with every such name, is a dict of those that have it.
    """

    @property
    def node_types(self) -> list[str]:
        return self._facts["dataset"].node_types

    @property
    def edge_types(self) -> list[EdgeType]:
        return self._facts["dataset"].edge_types

    def metadata(self) -> tuple[list[str], list[EdgeType]]:
        return self._facts["dataset"].metadata()

    def __getitem__(self, key: str | EdgeType) -> Part:
        if key in self.node_types:
            make = self._of_nodes(self.node_types.index(key), key)
        elif key in self.edge_types:
            make = self._of_edges(self.edge_types.index(key), key)
        else:
            raise KeyError(f"{key!r} is none of {', '.join(map(repr, self.keys()))}")
        return Part(make, self._made.setdefault(key, {}))

    def keys(self) -> list[str | EdgeType]:
        return [*self.node_types, *self.edge_types]

    def __contains__(self, key: str | EdgeType) -> bool:
        return key in self.keys()

    def __getattr__(self, name: str) -> Any:  # only of names that are not found otherwise
        if not name.endswith("_dict") or name.startswith("_"):
            raise AttributeError(f"a TypedBatch has no {name!r}; batch[TYPE] and batch.x_dict are of this form")
        name = name.removesuffix("_dict")
        found = {key: part[name] for key, part in self._items() if name in part}
        if not found:
            raise AttributeError(f"no type and no relation of this batch has {name!r}")
        return found

    def to_pyg(self) -> HeteroData:
        """The same as torch_geometric.data.HeteroData, as PyG's NeighborLoader returns it: y of all nodes of its
        type."""
        from torch_geometric.data import HeteroData

        data = HeteroData()
        for key, part in self._items():
            for name in part.keys():
                if name not in ("x_sparse", "num_edges", "e_id", "y"):
                    data[key][name] = part[name]
            if "y" in self._facts["columns"].names_of(key):
                data[key].y = self._column("y", key)
        return data

    def _items(self) -> list[tuple[str | EdgeType, Part]]:
        return [(key, self[key]) for key in self.keys()]

    @cached_property
    def _made(self) -> dict[str | EdgeType, dict[str, Any]]:
        return {}

    def _of_nodes(self, number: int, name: str) -> dict[str, Callable[[], Any]]:
        dataset, seed_type, y_of = self._facts["dataset"], self._facts["seed_type"], self._facts["y_of"]
        make: dict[str, Callable[[], Any]] = {
            "num_nodes": lambda: self._core.types[number][0],
            "n_id": partial(self._rows, number),
            "num_sampled_nodes": partial(self._sampled_nodes, number),
        }
        if dataset[name].num_features > 0:
            make["x"] = partial(self._x, number, name)
            if dataset[name].has_sparse_features:
                make["x_sparse"] = partial(self._sparse_rows, number, name)
        if name == seed_type:
            make["batch_size"] = lambda: self.batch_size
            make["input_id"] = lambda: self._facts["places"].of(self._rows(number)[: self.batch_size])
        make.update({of: partial(self._column, of, name) for of in self._facts["columns"].names_of(name)})
        if "y" in make and y_of == "seeds":
            del make["y"]
            if name == seed_type:
                make["y"] = self._labels_of_seeds
        return make

    def _of_edges(self, number: int, relation: EdgeType) -> dict[str, Callable[[], Any]]:
        make: dict[str, Callable[[], Any]] = {
            "edge_index": partial(self._edges, number),
            "num_edges": lambda: sum(self._sampled_edges(number)),
            "num_sampled_edges": partial(self._sampled_edges, number),
            "e_id": partial(self._edge_ids, relation),
        }
        names = self._facts["columns"].names_of(relation)
        return make | {name: partial(self._edge_column, name, relation) for name in names}

    # Nodes. The numbers of a type's nodes in the batch ascend, so that they are in order of first sight.

    def _numbers(self, number: int) -> Tensor:
        num_nodes, nodes, *_ = self._core.types[number]
        return self._part(nodes, torch.int32, num_nodes)

    def _rows(self, number: int) -> Tensor:
        return self.nodes[self._numbers(number)].long() - self._facts["dataset"].first_nodes[number]

    def _sampled_nodes(self, number: int) -> list[int]:
        hops = self._hops
        known = [hops[0].num_dst_of_type[number], *(hop.num_src_of_type[number] for hop in hops)]
        return [known[0], *(after - before for before, after in zip(known, known[1:]))]

    def _column(self, name: str, node_type: str) -> Any:
        rows = self._rows(self.node_types.index(node_type))  # an n_id of HeteroData's own may have the name
        return self._facts["columns"].take(name, node_type, rows)

    def _labels_of_seeds(self) -> Any:
        if not self._facts["has_own_y"]:
            return super()._labels_of_seeds()
        values = self._column("y", self._facts["seed_type"])
        return values[: self.batch_size] if isinstance(values, Tensor) else values

    def _x(self, number: int, name: str) -> Tensor:
        nodes, dtype = self._facts["dataset"][name], self._facts["dtype"]
        resident = self._facts["features"]  # on the loader's device, if the batch comes without its dense rows
        if nodes.has_sparse_features:
            rows = self[name].x_sparse.to_dense()
        elif resident is not None:
            taken = self._rows(number).to(resident[name].device)
            rows = resident_rows(resident[name], taken, nodes.fp8_scale).to(self.device)
        else:
            num_nodes, _, x, *_ = self._core.types[number]
            count = num_nodes * nodes.num_features
            rows = self._part(x, _gathered(nodes), count).view(num_nodes, nodes.num_features)
        return rows if dtype is None else rows.to(dtype)

    def _sparse_rows(self, number: int, name: str) -> Tensor:
        nodes = self._facts["dataset"][name]
        num_nodes, _, x, begin, columns, count = self._core.types[number]
        return torch.sparse_csr_tensor(
            self._part(begin, torch.int32, num_nodes + 1),
            self._part(columns, torch.int32, count),
            self._part(x, _gathered(nodes), count),
            (num_nodes, nodes.num_features),
            check_invariants=False,
        )

    # Edges: of each hop, from the seeds' own on, those of the nodes that are new there. Every node samples once.

    @cached_property
    def _hops(self) -> list[Any]:
        return list(reversed(self._core.typed_hops))

    @cached_property
    def _place(self) -> Tensor:
        """int64 [N]: each node's place among those of its type."""
        place = torch.empty(self.num_nodes, dtype=torch.int64, device=self.device)
        for number, (num_nodes, *_) in enumerate(self._core.types):
            place[self._numbers(number)] = torch.arange(num_nodes, device=self.device)
        return place

    def _sampled_edges(self, number: int) -> list[int]:
        return [hop.new_rows[number][2] for hop in self._hops]

    def _edges(self, number: int) -> Tensor:
        parts = [self._edges_of_hop(hop, *hop.new_rows[number]) for hop in self._hops]
        return torch.cat(parts, dim=1)

    @cached_property
    def _found(self) -> dict[EdgeType, Tensor]:
        return {}

    def _edge_ids(self, relation: EdgeType) -> Tensor:
        if relation not in self._found:
            self._found[relation] = self._find_edges(relation)
        return self._found[relation]

    def _find_edges(self, relation: EdgeType) -> Tensor:
        src, dst = self.node_types.index(relation[0]), self.node_types.index(relation[2])
        sources, destinations = self._edges(self.edge_types.index(relation))
        ends = torch.stack([self._rows(src)[sources], self._rows(dst)[destinations]])
        return self._facts["columns"].edge_ids(relation, ends)

    def _edge_column(self, name: str, relation: EdgeType) -> Any:
        return self._facts["columns"].take(name, relation, self._edge_ids(relation))

    def _edges_of_hop(self, hop: Any, first: int, last: int, count: int) -> Tensor:
        rows = self._part(hop.relation_rows + first * torch.int32.itemsize, torch.int32, last - first)
        indptr = self._part(hop.indptr, torch.int32, hop.num_rows + 1)
        begin, degrees = indptr[rows], indptr[rows + 1] - indptr[rows]
        row_of = torch.repeat_interleave(torch.arange(len(rows), device=self.device), degrees, output_size=count)
        before = degrees.cumsum(0) - degrees
        entries = (begin - before)[row_of] + torch.arange(count, device=self.device)
        sources = self._part(hop.indices, torch.int32, hop.num_edges)[entries]
        destinations = self._part(hop.row_dst, torch.int32, hop.num_rows)[rows][row_of]
        return self._place[torch.stack([sources, destinations])]

    def __repr__(self) -> str:
        nodes = ", ".join(f"{self[name].num_nodes} {name}" for name in self.node_types)
        return f"TypedBatch({self.batch_size} seeds of {self._facts['seed_type']}, {nodes}, device={self.device})"


def _gathered(nodes: Any) -> torch.dtype:
    """Of x as workers gather it."""
    return torch.float16 if nodes.fp8_scale else nodes.feature_dtype
