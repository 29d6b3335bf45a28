# python/salient_gnn/link_batch.py - one mini-batch of links that are to be predicted.
"""Pairs of nodes that are links and pairs that are none, and what was sampled around their ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn.batch import Batch, Slab
from salient_gnn.typed_batch import Part, TypedBatch

if TYPE_CHECKING:
    from salient_gnn.typed_dataset import EdgeType

_LABEL_KEYS = ("edge_label_index", "edge_label")
_TRIPLET_KEYS = ("src_index", "dst_pos_index", "dst_neg_index")


class _Links(Slab):
    """What batches of links of all graphs have. Links come first, then the negatives of the first link, those of the
    second, ..."""

    @property
    def num_links(self) -> int:
        return self._core.num_pairs // (1 + self._facts["negatives"])

    @cached_property
    def _pairs(self) -> Tensor:
        """int64 [2, P] sources and destinations, by their numbers in the batch."""
        width = 2 if self._facts["relation"] is None else 3  # the relation is behind them
        numbers = self._part(self._core.pairs, torch.int32, width * self._core.num_pairs).view(-1, width)
        return numbers[:, :2].long().t()

    def _labels(self) -> Tensor | None:
        given = self._facts["edge_label"]
        if given is None and self._facts["negatives"] == 0:
            return None
        labels = torch.ones(self.num_links) if given is None else given[self._link_numbers()]
        negatives = labels.new_zeros((self._core.num_pairs - self.num_links, *labels.shape[1:]))
        return torch.cat([labels, negatives]).to(self.device)

    def _seed_times(self) -> Tensor:
        return self._facts["edge_label_time"][self._link_numbers()]

    def _link_numbers(self) -> Tensor:
        return torch.tensor(self._core.links, dtype=torch.int64)


def _negatives_of(ends: Tensor, num_links: int) -> Tensor:
    """[links], or [links, amount] where that is above 1."""
    return ends[num_links:].view(num_links, -1).squeeze(-1)


class LinkBatch(_Links, Batch):
    """The links of a step, pairs that are none, and the nodes that were sampled around their ends.

    The first nodes are the ends of all pairs: batch_size counts them.
    """

    @property
    def edge_label_index(self) -> Tensor:
        """int64 [2, P] sources and destinations of all pairs, as rows of x."""
        return self._pairs

    @cached_property
    def edge_label(self) -> Tensor | None:
        """[P] the labels of the links that the loader was given, float32 ones where it was given none; 0 of negatives.
        None without either. As PyG has it, labels from 0 on are one higher beside negatives."""
        return self._labels()

    @property
    def edge_label_time(self) -> Tensor | None:
        """int64 [P] when each pair is asked for; None of links without times. As PyG has it, triplets have seed_time
        [links] instead."""
        if self._facts["edge_label_time"] is None:
            return None
        times = self._seed_times()
        return torch.cat([times, times.repeat_interleave(self._facts["negatives"])]).to(self.device)

    @property
    def seed_time(self) -> Tensor | None:
        """int64 [links]; None of links without times."""
        return None if self._facts["edge_label_time"] is None else self._seed_times().to(self.device)

    @cached_property
    def input_id(self) -> Tensor:
        """int64 [links] their numbers among those that the loader was given."""
        return self._link_numbers()

    @property
    def src_index(self) -> Tensor:
        """int64 [links] sources of the links, as rows of x; as PyG's mode "triplet" has them, like the next two."""
        return self._pairs[0, : self.num_links]

    @property
    def dst_pos_index(self) -> Tensor:
        """int64 [links] their destinations."""
        return self._pairs[1, : self.num_links]

    @property
    def dst_neg_index(self) -> Tensor:
        """int64 [links] destinations of the negatives; [links, amount] where that is above 1."""
        return _negatives_of(self._pairs[1], self.num_links)

    def keys(self) -> list[str]:
        is_triplet, has_times = self._facts["mode"] == "triplet", self._facts["edge_label_time"] is not None
        if is_triplet:
            of_links, others = _TRIPLET_KEYS, _LABEL_KEYS
        else:
            of_links, others = _LABEL_KEYS[: 1 if self.edge_label is None else 2], _LABEL_KEYS[1:]
        if has_times:
            of_links += ("seed_time" if is_triplet else "edge_label_time",)
        nodes = [name for name in super().keys() if name not in others]  # of PyG's Data, too
        return list(dict.fromkeys((*nodes, *of_links)))

    def __repr__(self) -> str:
        return f"LinkBatch({self.num_links} links, {self._core.num_pairs} pairs, {super().__repr__()})"


class TypedLinkBatch(_Links, TypedBatch):
    """The links of one relation, pairs that are none, and the nodes of all types that were sampled around their ends.

    batch["author", "writes", "paper"], the relation of the links, has input_id int64 [links], their numbers among those
    that the loader was given, edge_label_index int64 [2, P], places among the nodes of the two types, and edge_label
    [P], as a LinkBatch has it. By neg_sampling="triplet" the type of the sources has src_index instead, and that of the
    destinations dst_pos_index and dst_neg_index, as PyG has them. The first nodes of a type are the ends of the pairs
    that are of it.
    """

    @cached_property
    def _ends(self) -> Tensor:
        """int64 [2, P] places among the nodes of the two types."""
        return self._place[self._pairs]

    def __getitem__(self, key: str | EdgeType) -> Part:
        part = super().__getitem__(key)
        make = self._of_links(key)
        if not make:
            return part
        others = {name: value for name, value in part._make.items() if name not in (*_LABEL_KEYS, *_TRIPLET_KEYS)}
        return Part(others | make, part._made)

    def _of_links(self, key: str | EdgeType) -> dict[str, Callable[[], Any]]:
        make: dict[str, Callable[[], Any]] = {}
        relation, is_triplet = self._facts["relation"], self._facts["mode"] == "triplet"
        if key == relation:
            make["input_id"] = self._link_numbers
            if not is_triplet:
                make["edge_label_index"] = lambda: self._ends
                if self._facts["edge_label"] is not None or self._facts["negatives"] > 0:
                    make["edge_label"] = self._labels
        if is_triplet and key == relation[0]:
            make["src_index"] = lambda: self._ends[0, : self.num_links]
        if is_triplet and key == relation[2]:
            make["dst_pos_index"] = lambda: self._ends[1, : self.num_links]
            make["dst_neg_index"] = lambda: _negatives_of(self._ends[1], self.num_links)
        return make

    def __repr__(self) -> str:
        nodes = ", ".join(f"{self[name].num_nodes} {name}" for name in self.node_types)
        return f"TypedLinkBatch({self.num_links} links, {self._core.num_pairs} pairs, {nodes}, device={self.device})"
