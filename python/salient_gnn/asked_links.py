# python/salient_gnn/asked_links.py - which links a loader is to make batches of.
"""LinkNeighborLoader's edge_label_index, as the core takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn._arrays import edges_of, refuse_first
from salient_gnn.store_arrays import times_of
from salient_gnn.typed_dataset import TypedDataset

if TYPE_CHECKING:
    from salient_gnn.dataset import Dataset
    from salient_gnn.typed_dataset import EdgeType

_SPLITS = {"train": 0, "valid": 1, "val": 1, "test": 2}
_NAME = "edge_label_index"


@dataclass(frozen=True)
class AskedLinks:
    ends: Tensor  #: int64 [n, 2] among the nodes of all types
    relation: EdgeType | None = None  #: of a typed graph, and its number
    number: int | None = None
    times: Tensor | None = None  #: int64 [n], of graphs of one type: when each link is asked for

    @property
    def seeds(self) -> Any:
        """What NeighborLoader is told: any nodes that have edges."""
        return "all" if self.relation is None else (self.relation[2], "all")


def asked_links(dataset: Dataset | TypedDataset, columns: Any, asked: Any, times: Any) -> AskedLinks:
    """ValueError for what cannot be. @param times  [n] or None = those of the store, where its links have some"""
    if isinstance(dataset, TypedDataset):
        if times is not None:
            raise ValueError("edge_label_time: links of typed graphs have no times")
        return _typed_links(dataset, columns, asked)
    if isinstance(asked, str):
        ends = _of_split(dataset, asked)[0]
        known = dataset._core.link_times(_SPLITS[asked]) if dataset._core.has_link_times else None
        return AskedLinks(ends, times=_times(dataset, ends, times, known))
    edges = columns.edge_index if asked is None else asked
    ends = _of_ends(edges, (dataset.num_nodes, dataset.num_nodes))
    are_of_store = asked is None and not columns.is_of_data and dataset._core.has_link_times
    return AskedLinks(ends, times=_times(dataset, ends, times, dataset.edge_times if are_of_store else None))


def _times(dataset: Dataset, ends: Tensor, given: Any, known: Any) -> Tensor | None:
    if given is not None:
        return times_of(given, len(ends), "edge_label_time")
    if known is not None:
        return known if isinstance(known, Tensor) else torch.from_dlpack(known)
    if dataset._core.has_link_times:
        raise ValueError(f"edge_label_time: is needed, links of {dataset.name} are predicted from what was before them")
    return None


def _typed_links(dataset: TypedDataset, columns: Any, asked: Any) -> AskedLinks:
    relation, links = _relation_of(dataset, asked)
    number = dataset.edge_types.index(relation)
    if isinstance(links, str):
        ends, relations = _of_split(dataset, links)
        ends = ends[relations == number]
        if not len(ends):
            raise ValueError(f"{_NAME}: {dataset.name} has no links of {links!r} that are of {relation!r}")
        return AskedLinks(ends, relation, number)
    types = [dataset.node_types.index(relation[end]) for end in (0, 2)]
    counts = tuple(dataset[dataset.node_types[type]].num_nodes for type in types)
    ends = _of_ends(columns.edge_index_of(relation) if links is None else links, counts)
    return AskedLinks(ends + torch.tensor([dataset.first_nodes[type] for type in types]), relation, number)


def _relation_of(dataset: TypedDataset, asked: Any) -> tuple[EdgeType, Any]:
    """As PyG has it: (RELATION, links), or RELATION; of a data set whose links are of one relation a split alone."""
    if isinstance(asked, str):
        numbers = _of_split(dataset, asked)[1].unique().tolist()
        if len(numbers) > 1:
            names = ", ".join(repr(dataset.edge_types[number]) for number in numbers)
            raise ValueError(f"{_NAME}: links of {asked!r} are of {names}; say of which: (RELATION, {asked!r})")
        return dataset.edge_types[numbers[0]], asked
    is_pair = isinstance(asked, (tuple, list)) and len(asked) == 2 and not isinstance(asked[0], str)
    named, links = asked if is_pair else (asked, None)
    words = tuple(named) if isinstance(named, (tuple, list)) else ()
    found = [relation for relation in dataset.edge_types if words in (relation, (relation[0], relation[2]))]
    if len(found) != 1:
        known = ", ".join(map(repr, dataset.edge_types))
        raise ValueError(f"{_NAME}: of a typed graph (RELATION, links), or RELATION; one of {known}")
    return found[0], links


def _of_split(dataset: Dataset | TypedDataset, split: str) -> tuple[Tensor, Tensor]:
    """int64 [n, 2], and of a typed graph int64 [n] numbers of their relations."""
    if split not in _SPLITS:
        raise ValueError(f"{_NAME}: {split!r} is none of {', '.join(_SPLITS)}")
    ends = torch.from_dlpack(dataset._core.links(_SPLITS[split])).long() & 0xFFFFFFFF
    if not len(ends):
        raise ValueError(f"{_NAME}: {dataset.name} has no links of {split!r}; salient-prepare --edge-split makes some, "
                         "or give sources and destinations")  # fmt: skip
    return ends, torch.from_dlpack(dataset._core.link_relations(_SPLITS[split])).long() & 0xFFFF


def _of_ends(links: Any, counts: tuple[int, ...]) -> Tensor:
    ends = edges_of(links, _NAME)
    for ids, count in zip(ends, counts, strict=True):
        refuse_first((ids < 0) | (ids >= count), ids, _NAME, f"ids are 0 to {count - 1}")
    if not len(ends[0]):
        raise ValueError(f"{_NAME}: has no links")
    return torch.stack(tuple(ends), 1)
