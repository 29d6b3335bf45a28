# python/salient_gnn/link_loader.py - iterates over the mini-batches of links that are to be predicted.
"""LinkNeighborLoader: pairs of nodes that are links and pairs that are none, and what is sampled around their ends."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn._arrays import edges_of, integer_of, refuse_first
from salient_gnn.batch import Batch
from salient_gnn.columns import columns_of
from salient_gnn.dataset import Dataset
from salient_gnn.loader import NeighborLoader

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from salient_gnn import _core

_SPLITS = {"train": 0, "valid": 1, "val": 1, "test": 2}
_MODES = ("binary", "triplet")
_LABEL_KEYS = ("edge_label_index", "edge_label")
_TRIPLET_KEYS = ("src_index", "dst_pos_index", "dst_neg_index")


class LinkBatch(Batch):
    """The links of a step, pairs that are none, and the nodes that were sampled around their ends.

    Links come first, then the negatives of the first link, those of the second, ... The first nodes are the ends of all
    pairs: batch_size counts them.
    """

    @property
    def num_links(self) -> int:
        return len(self._core.links)

    @cached_property
    def _pairs(self) -> Tensor:
        return self._part(self._core.pairs, torch.int32, 2 * self._core.num_pairs).view(-1, 2)

    @cached_property
    def edge_label_index(self) -> Tensor:
        """int64 [2, P] sources and destinations of all pairs, as rows of x."""
        return self._pairs.long().t()

    @cached_property
    def edge_label(self) -> Tensor:
        """float32 [P]: 1 of links, 0 of pairs that are none; without negatives the labels that the loader was given."""
        own = self._facts["edge_label"]
        if own is not None:
            return own[torch.tensor(self._core.links, dtype=torch.int64)].to(self.device)
        labels = torch.zeros(self._core.num_pairs, device=self.device)
        labels[: self.num_links] = 1
        return labels

    @cached_property
    def input_id(self) -> Tensor:
        """int64 [links] their numbers among those that the loader was given."""
        return torch.tensor(self._core.links, dtype=torch.int64)

    @cached_property
    def src_index(self) -> Tensor:
        """int64 [links] sources of links, as rows of x; destinations, and those of the negatives: dst_pos_index [links]
        and dst_neg_index [links], or [links, amount] where that is above 1. As PyG's mode "triplet" has them."""
        return self.edge_label_index[0, : self.num_links]

    @cached_property
    def dst_pos_index(self) -> Tensor:
        return self.edge_label_index[1, : self.num_links]

    @cached_property
    def dst_neg_index(self) -> Tensor:
        negatives = self.edge_label_index[1, self.num_links :]
        return negatives if self._facts["negatives"] <= 1 else negatives.view(self.num_links, -1)

    def keys(self) -> list[str]:
        of_links = _TRIPLET_KEYS if self._facts["mode"] == "triplet" else _LABEL_KEYS
        return [*super().keys(), *of_links]

    def __repr__(self) -> str:
        return f"LinkBatch({self.num_links} links, {self._core.num_pairs} pairs, {super().__repr__()})"


class LinkNeighborLoader(NeighborLoader):
    """The batches of some links, with negatives and with the neighbours of all their ends.

    A batch never sees its own links, nor their reverses, in any hop, and its fanouts stay full (exclude="pair"). Links,
    negatives and what is sampled are functions of (data set, links, seed, epoch, batch), the same for any number of
    workers and ranks, and those of `salient-train --task link`.

    dataset           a Dataset; or PyG's Data, as NeighborLoader takes it. Its edges are the messages
    num_neighbors     as NeighborLoader's fanouts
    edge_label_index  "train", "valid" or "val", "test" of a data set with links; or [2, n] sources and destinations
    edge_label        [n] labels of these, instead of negatives: batch.edge_label
    batch_size        links of a batch on each rank
    neg_sampling      None; "binary", or PyG's dict or NegativeSampling with `mode` and `amount`, a whole number. By
                      "triplet" batches have src_index, dst_pos_index and dst_neg_index
    neg_sampling_ratio  instead: the amount of "binary"
    corrupt           "dst": negatives have other destinations, uniform in all nodes. "both": every second one another
                      source
    strict            negatives that are edges of the graph are drawn again
    exclude           "pair"; or "none", by which a batch sees what it is to predict
    keywords          all others are NeighborLoader's; the host samples
    """

    _host_samples = "the links of a batch are left out of what is sampled"

    def __init__(
        self,
        dataset: Dataset | Data | None = None,
        num_neighbors: Sequence[int] | None = None,
        edge_label_index: Tensor | str | tuple[Any, ...] = "train",
        edge_label: Tensor | None = None,
        batch_size: int = 1024,
        *,
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        corrupt: str = "dst",
        strict: bool = False,
        exclude: str = "pair",
        **keywords: Any,
    ) -> None:
        dataset = keywords.pop("data", dataset)
        num_neighbors = keywords.pop("fanouts", num_neighbors)
        mode, negatives = _negatives(neg_sampling, neg_sampling_ratio)
        if edge_label is not None and negatives:
            raise ValueError("edge_label: of pairs that are given; with negatives links are 1 and negatives 0")
        if corrupt not in ("dst", "both") or exclude not in ("pair", "none"):
            raise ValueError(f"corrupt is dst or both, and exclude pair or none; not {corrupt!r}, {exclude!r}")
        if mode == "triplet" and corrupt != "dst":
            raise ValueError('corrupt: triplets have other destinations, "dst"')
        store = columns_of(dataset)[0]
        if not isinstance(store, Dataset):
            raise ValueError("dataset: batches of links are of graphs of one node type")
        ends = _ends(store, edge_label_index)
        labels = None if edge_label is None else _labels(edge_label, len(ends))
        self._links = (ends.reshape(-1).contiguous().numpy(), negatives, corrupt, bool(strict), exclude)
        for name in ("input_nodes", "nodes", "input_time", "time_rule", "time_attr"):
            if keywords.get(name) is not None:
                raise ValueError(f"{name}: batches are of links, without times")
        super().__init__(dataset, "all", num_neighbors, batch_size, **{"y_of": "nodes", **keywords})
        self._order.set_nodes(torch.arange(len(ends)).numpy())
        self._facts |= {"kind": LinkBatch, "negatives": negatives, "mode": mode, "edge_label": labels}
        self._remade = dict(
            dataset=self.data, num_neighbors=num_neighbors, edge_label_index=edge_label_index, edge_label=edge_label,
            batch_size=batch_size, neg_sampling=neg_sampling, neg_sampling_ratio=neg_sampling_ratio, corrupt=corrupt,
            strict=strict, exclude=exclude, **keywords,
        )  # fmt: skip

    def _set_items(self, options: _core.StreamOptions) -> None:
        options.set_links(*self._links)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self._remade, self.epoch)

    def __repr__(self) -> str:
        return f"Link{super().__repr__()}"


def _negatives(neg_sampling: Any, ratio: float | None) -> tuple[str, int]:
    """The mode, and how many of each link."""
    if neg_sampling is not None and ratio is not None:
        raise ValueError("neg_sampling_ratio: is the amount of neg_sampling; say one of them")
    if neg_sampling is None:
        return "binary", _amount("neg_sampling_ratio", 0 if ratio is None else ratio)
    if isinstance(neg_sampling, Mapping):
        mode, amount = neg_sampling.get("mode", "binary"), neg_sampling.get("amount", 1)
        weights = neg_sampling.get("src_weight"), neg_sampling.get("dst_weight")
    else:
        mode, amount = getattr(neg_sampling, "mode", neg_sampling), getattr(neg_sampling, "amount", 1)
        weights = getattr(neg_sampling, "src_weight", None), getattr(neg_sampling, "dst_weight", None)
    mode = getattr(mode, "value", mode)  # of an enum
    if mode not in _MODES:
        raise ValueError(f"neg_sampling: {mode!r} is none of {', '.join(_MODES)}")
    if weights != (None, None):
        raise ValueError("neg_sampling: negatives are uniform in all nodes, without weights")
    return mode, _amount("neg_sampling", amount)


def _amount(name: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return integer_of(name, operator.index(value), 0, (1 << 14) - 1)
    except TypeError:
        raise ValueError(f"{name}: {value!r} negatives of each link; a whole number") from None


def _ends(dataset: Dataset, links: Any) -> Tensor:
    """int64 [n, 2]"""
    if isinstance(links, str):
        if links not in _SPLITS:
            raise ValueError(f"edge_label_index: {links!r} is none of {', '.join(_SPLITS)}")
        ends = torch.from_dlpack(dataset._core.links(_SPLITS[links])).long() & 0xFFFFFFFF
        if not len(ends):
            raise ValueError(f"edge_label_index: {dataset.name} has no links of {links!r}; salient-prepare edges "
                             "--edge-split makes some, or give sources and destinations")  # fmt: skip
        return ends
    if links is None:
        raise ValueError("edge_label_index: is None; say which links, as [2, n] or by the name of a split")
    sources, destinations = edges_of(links)
    for ends in (sources, destinations):
        refuse_first((ends < 0) | (ends >= dataset.num_nodes), ends, "edge_label_index",
                     f"ids are 0 to {dataset.num_nodes - 1}")  # fmt: skip
    return torch.stack([sources, destinations], 1)


def _labels(values: Any, num_links: int) -> Tensor:
    labels = torch.as_tensor(values)
    if labels.shape[:1] != (num_links,):
        raise ValueError(f"edge_label: has shape {list(labels.shape)}, not [{num_links}, ...]")
    return labels


def _remake(arguments: dict[str, Any], epoch: int) -> LinkNeighborLoader:
    loader = LinkNeighborLoader(**arguments)
    loader.epoch = epoch
    return loader
