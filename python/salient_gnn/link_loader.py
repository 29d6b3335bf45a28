# python/salient_gnn/link_loader.py - iterates over the mini-batches of links that are to be predicted.
"""LinkNeighborLoader: pairs of nodes that are links and pairs that are none, and what is sampled around their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn import _core
from salient_gnn._arrays import edges_of, integer_of, refuse_first, tensor_of
from salient_gnn.batch import Batch
from salient_gnn.columns import columns_of
from salient_gnn.dataset import Dataset
from salient_gnn.keywords import drawn_by
from salient_gnn.loader import NeighborLoader, choice_of

if TYPE_CHECKING:
    from torch_geometric.data import Data

_SPLITS = {"train": 0, "valid": 1, "val": 1, "test": 2}
_MODES = ("binary", "triplet")
_LABEL_KEYS = ("edge_label_index", "edge_label")
_OF_NODES = ("input_nodes", "nodes", "input_time", "time_rule", "time_attr", "edge_label_time")
_TRIPLET_KEYS = ("src_index", "dst_pos_index", "dst_neg_index")


class LinkBatch(Batch):
    """The links of a step, pairs that are none, and the nodes that were sampled around their ends.

    Links come first, then the negatives of the first link, those of the second, ... The first nodes are the ends of all
    pairs: batch_size counts them.
    """

    @property
    def num_links(self) -> int:
        return self._core.num_pairs // (1 + self._facts["negatives"])

    @cached_property
    def edge_label_index(self) -> Tensor:
        """int64 [2, P] sources and destinations of all pairs, as rows of x."""
        return self._part(self._core.pairs, torch.int32, 2 * self._core.num_pairs).view(-1, 2).long().t()

    @cached_property
    def edge_label(self) -> Tensor | None:
        """[P] the labels of the links that the loader was given, float32 ones where it was given none; 0 of negatives.
        None without either. As PyG has it, labels from 0 on are one higher beside negatives."""
        given = self._facts["edge_label"]
        if given is None and self._facts["negatives"] == 0:
            return None
        labels = torch.ones(self.num_links) if given is None else given[self.input_id]
        negatives = labels.new_zeros((self._core.num_pairs - self.num_links, *labels.shape[1:]))
        return torch.cat([labels, negatives]).to(self.device)

    @cached_property
    def input_id(self) -> Tensor:
        """int64 [links] their numbers among those that the loader was given."""
        return torch.tensor(self._core.links, dtype=torch.int64)

    @property
    def src_index(self) -> Tensor:
        """int64 [links] sources of the links, as rows of x; as PyG's mode "triplet" has them, like the next two."""
        return self.edge_label_index[0, : self.num_links]

    @property
    def dst_pos_index(self) -> Tensor:
        """int64 [links] their destinations."""
        return self.edge_label_index[1, : self.num_links]

    @property
    def dst_neg_index(self) -> Tensor:
        """int64 [links] destinations of the negatives; [links, amount] where that is above 1."""
        return self.edge_label_index[1, self.num_links :].view(self.num_links, -1).squeeze(-1)

    def keys(self) -> list[str]:
        if self._facts["mode"] == "triplet":
            of_links, others = _TRIPLET_KEYS, _LABEL_KEYS
        else:
            of_links, others = _LABEL_KEYS[: 1 if self.edge_label is None else 2], _LABEL_KEYS[1:]
        nodes = [name for name in super().keys() if name not in others]  # of PyG's Data, too
        return list(dict.fromkeys((*nodes, *of_links)))

    def __repr__(self) -> str:
        return f"LinkBatch({self.num_links} links, {self._core.num_pairs} pairs, {super().__repr__()})"


class LinkNeighborLoader(NeighborLoader):
    """The batches of some links, with negatives and with the neighbours of all their ends.

    A batch never sees its own links, nor their reverses, in any hop, and its fanouts stay full (exclude="pair"). Links,
    negatives and what is sampled are functions of (data set, links, seed, epoch, batch), the same for any number of
    workers and ranks, and those of `salient-train --task link`.

    dataset           a Dataset; or PyG's Data, as NeighborLoader takes it. Its edges are the messages
    num_neighbors     as NeighborLoader's fanouts
    edge_label_index  [2, n] sources and destinations; or "train", "valid" or "val", "test" of a data set with links;
                      None = all edges
    edge_label        [n, ...] labels of these, whole numbers or floats, for batch.edge_label; not with "triplet"
    batch_size        links of a batch on each rank
    neg_sampling      None; "binary", "triplet", or PyG's dict or NegativeSampling with `mode` and `amount`, a whole
                      number. By "triplet" batches have src_index, dst_pos_index and dst_neg_index
    neg_sampling_ratio  instead: the amount of "binary"; 0 = none
    corrupt           "dst": negatives have other destinations. "both": every second one has another source instead.
                      PyG's "binary" draws both ends
    negative_sampler  what these ends are: "uniform" all nodes; "degree" nodes by degree^0.75; "in-batch" the ends of
                      other links of the batch; "joint" uniform, and the same for all links of a batch
    strict            negatives that are edges of the graph are drawn again
    exclude           "pair"; or "none", by which a batch sees what it is to predict
    keywords          all others are NeighborLoader's; the host samples
    """

    _host_samples = "the links of a batch are left out of what is sampled"

    def __init__(
        self,
        dataset: Dataset | Data | None = None,
        num_neighbors: Sequence[int] | None = None,
        edge_label_index: Tensor | str | None = None,
        edge_label: Tensor | None = None,
        *,
        batch_size: int = 1024,
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        corrupt: str = "dst",
        negative_sampler: str = "uniform",
        strict: bool = False,
        exclude: str = "pair",
        **keywords: Any,
    ) -> None:
        said = {"data": dataset, "num_neighbors": num_neighbors}
        for name, other in (("data", "dataset"), ("num_neighbors", "fanouts")):
            for word in (name, other):
                said[name] = keywords.pop(word, said[name])
        for name in _OF_NODES:
            if keywords.pop(name, None) is not None:
                raise ValueError(f"{name}: batches are of links, without times")
        if keywords.pop("disjoint", None):
            raise ValueError("disjoint: True is not possible here: the ends of links share the nodes that they reach")
        mode, negatives = _negatives(neg_sampling, neg_sampling_ratio)
        choice_of("corrupt", corrupt, _core.CORRUPTED_ENDS)
        choice_of("exclude", exclude, _core.EXCLUDED_ENTRIES)
        choice_of("negative_sampler", negative_sampler, _core.NEGATIVE_SAMPLERS)
        if mode == "triplet" and corrupt != "dst":
            raise ValueError('corrupt: triplets have other destinations, "dst"')
        store, columns = columns_of(said["data"], drawn_by(said["data"], keywords)[0])
        if not isinstance(store, Dataset) or store.num_nodes < 2:
            raise ValueError("dataset: links are of graphs of one node type, and of two nodes or more")
        if negative_sampler == "given":
            raise ValueError("negative_sampler: 'given', negatives that a data set comes with, is of salient-train")
        if negative_sampler == "degree" and negatives and not store.num_edges:
            raise ValueError("negative_sampler: 'degree' is of graphs with edges")
        ends = _ends(store, columns, edge_label_index)
        labels = None if edge_label is None else _labels(edge_label, len(ends), mode, negatives)
        rule = _core.LinkRule(negatives, negative_sampler, corrupt, bool(strict), exclude)
        self._links = (ends.reshape(-1).contiguous().numpy(), rule)
        self._num_negatives = negatives
        super().__init__(said["data"], "all", said["num_neighbors"], batch_size, **{"y_of": "nodes", **keywords})
        self._order.set_nodes(torch.arange(len(ends)).numpy())
        self._facts |= {"kind": LinkBatch, "negatives": negatives, "mode": mode, "edge_label": labels}
        self._remade = dict(
            dataset=self.data, num_neighbors=self.fanouts, edge_label_index=edge_label_index, edge_label=edge_label,
            batch_size=batch_size, neg_sampling=neg_sampling, neg_sampling_ratio=neg_sampling_ratio, corrupt=corrupt,
            negative_sampler=negative_sampler, strict=strict, exclude=exclude, **keywords,
        )  # fmt: skip

    def _probed(self, seeds: Tensor, batch_size: int) -> dict[str, Any]:
        ends, _ = self._links
        return {"seeds": torch.from_numpy(ends).unique(), "batch_size": batch_size * (2 + self._num_negatives)}

    def _set_items(self, options: _core.StreamOptions) -> None:
        options.set_links(*self._links)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self._remade, self.epoch)

    def __repr__(self) -> str:
        return f"Link{super().__repr__()}"


def _negatives(neg_sampling: Any, ratio: float | None) -> tuple[str, int]:
    """The mode, and how many of each link. Of both keywords PyG takes the ratio."""
    if ratio:
        return "binary", _amount("neg_sampling_ratio", ratio)
    if neg_sampling is None:
        return "binary", 0

    def get(name: str, other: Any = None) -> Any:
        is_mapping = isinstance(neg_sampling, Mapping)
        return neg_sampling.get(name, other) if is_mapping else getattr(neg_sampling, name, other)

    mode = neg_sampling if isinstance(neg_sampling, str) else get("mode")
    mode = getattr(mode, "value", mode)  # of an enum
    if mode not in _MODES:
        raise ValueError(f"neg_sampling: mode {mode!r} is none of {', '.join(_MODES)}")
    if get("src_weight") is not None or get("dst_weight") is not None:
        raise ValueError("neg_sampling: negatives are uniform in all nodes, without weights")
    return mode, _amount("neg_sampling", get("amount", 1))


def _amount(name: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"{name}: {value!r} negatives of each link; a whole number")
    return integer_of(name, value, 1, _core.MAX_NEGATIVES)


def _ends(dataset: Dataset, columns: Any, links: Any) -> Tensor:
    """int64 [n, 2]"""
    if isinstance(links, str):
        if links not in _SPLITS:
            raise ValueError(f"edge_label_index: {links!r} is none of {', '.join(_SPLITS)}")
        ends = torch.from_dlpack(dataset._core.links(_SPLITS[links])).long() & 0xFFFFFFFF
        if not len(ends):
            raise ValueError(f"edge_label_index: {dataset.name} has no links of {links!r}; salient-prepare edges "
                             "--edge-split makes some, or give sources and destinations")  # fmt: skip
        return ends
    sources, destinations = edges_of(columns.edge_index if links is None else links, "edge_label_index")
    for ends in (sources, destinations):
        refuse_first((ends < 0) | (ends >= dataset.num_nodes), ends, "edge_label_index",
                     f"ids are 0 to {dataset.num_nodes - 1}")  # fmt: skip
    if not len(sources):
        raise ValueError("edge_label_index: has no links")
    return torch.stack([sources, destinations], 1)


def _labels(values: Any, num_links: int, mode: str, negatives: int) -> Tensor:
    if mode == "triplet":
        raise ValueError('edge_label: not with neg_sampling="triplet", whose batches say what is a link')
    labels = tensor_of(values, "edge_label").cpu()
    if labels.shape[:1] != (num_links,):
        raise ValueError(f"edge_label: has shape {list(labels.shape)}, not [{num_links}, ...]")
    return labels + 1 if negatives and labels.min() == 0 else labels


def _remake(arguments: dict[str, Any], epoch: int) -> LinkNeighborLoader:
    loader = LinkNeighborLoader(**arguments)
    loader.epoch = epoch
    return loader
