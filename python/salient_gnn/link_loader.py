# python/salient_gnn/link_loader.py - iterates over the mini-batches of links that are to be predicted.
"""LinkNeighborLoader: pairs of nodes that are links and pairs that are none, and what is sampled around their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn import _core
from salient_gnn._arrays import integer_of, tensor_of
from salient_gnn.asked_links import asked_links
from salient_gnn.columns import columns_of
from salient_gnn.keywords import drawn_by
from salient_gnn.link_batch import LinkBatch, TypedLinkBatch
from salient_gnn.loader import NeighborLoader, choice_of

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from salient_gnn.dataset import Dataset
    from salient_gnn.typed_dataset import TypedDataset

_MODES = ("binary", "triplet")
_OF_NODES = ("input_nodes", "nodes", "input_time")


class LinkNeighborLoader(NeighborLoader):
    """The batches of some links, with negatives and with the neighbours of all their ends.

    A batch never sees its own links, nor their reverses, in any hop, and its fanouts stay full (exclude="pair"). Links,
    negatives and what is sampled are functions of (data set, links, seed, epoch, batch), the same for any number of
    workers and ranks, and those of `salient-train --task link`.

    dataset           a Dataset or TypedDataset; or PyG's Data or HeteroData, as NeighborLoader takes them. Its edges
                      are the messages
    num_neighbors     as NeighborLoader's fanouts
    edge_label_index  [2, n] sources and destinations; or "train", "valid" or "val", "test" of a data set with links;
                      None = all edges. Of a typed graph (RELATION, one of these), or RELATION alone = all its edges;
                      batches are of TypedLinkBatch
    edge_label        [n, ...] labels of these, whole numbers or floats, for batch.edge_label; not with "triplet"
    edge_label_time   [n] whole numbers, when each link is asked for: its ends, and those of its negatives, see edges of
                      before then (time_rule="lt"), and nothing else is left out. None = the times of the store's links,
                      where they have some. Of PyG's Data with time_attr
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
        dataset: Dataset | TypedDataset | Data | HeteroData | None = None,
        num_neighbors: Sequence[int] | None = None,
        edge_label_index: Any = None,
        edge_label: Tensor | None = None,
        edge_label_time: Tensor | None = None,
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
                raise ValueError(f"{name}: batches are of links")
        if keywords.pop("disjoint", None):
            raise ValueError("disjoint: True is not possible here: the ends of links share the nodes that they reach")
        mode, negatives = _negatives(neg_sampling, neg_sampling_ratio)
        choice_of("corrupt", corrupt, _core.CORRUPTED_ENDS)
        choice_of("exclude", exclude, _core.EXCLUDED_ENTRIES)
        choice_of("negative_sampler", negative_sampler, _core.NEGATIVE_SAMPLERS)
        if mode == "triplet" and corrupt != "dst":
            raise ValueError('corrupt: triplets have other destinations, "dst"')
        store, columns = columns_of(said["data"], drawn_by(said["data"], keywords)[0])
        if store.num_nodes < 2:
            raise ValueError("dataset: links are of graphs of two nodes or more")
        if negative_sampler == "given":
            raise ValueError("negative_sampler: 'given', negatives that a data set comes with, is of salient-train")
        if negative_sampler == "degree" and negatives and not store.num_edges:
            raise ValueError("negative_sampler: 'degree' is of graphs with edges")
        links = asked_links(store, columns, edge_label_index, edge_label_time)
        ends = links.ends
        if links.times is not None and (negative_sampler == "degree" or strict):
            raise ValueError("negative_sampler, strict: degrees and edges of the graph are also later than a link")
        labels = None if edge_label is None else _labels(edge_label, len(ends), mode, negatives)
        rule = _core.LinkRule(negatives, negative_sampler, corrupt, bool(strict), exclude)
        self._links = (ends.reshape(-1).contiguous().numpy(), rule, links.number)
        self._by_attribute = keywords.get("time_attr") is not None
        self._num_negatives, self._times = negatives, links.times
        own = {"y_of": "nodes", **keywords, "disjoint": False}
        super().__init__(said["data"], links.seeds, said["num_neighbors"], batch_size, **own)
        self._order.set_nodes(torch.arange(len(ends)).numpy())
        self._facts |= {"kind": LinkBatch if links.relation is None else TypedLinkBatch, "relation": links.relation,
                        "negatives": negatives, "mode": mode, "edge_label": labels,
                        "edge_label_time": links.times}  # fmt: skip
        if links.relation is not None:
            self._facts["seed_type"] = None
        self._remade = dict(
            dataset=self.data, num_neighbors=self.fanouts, edge_label_index=edge_label_index, edge_label=edge_label,
            edge_label_time=edge_label_time, batch_size=batch_size, neg_sampling=neg_sampling,
            neg_sampling_ratio=neg_sampling_ratio, corrupt=corrupt,
            negative_sampler=negative_sampler, strict=strict, exclude=exclude, **keywords,
        )  # fmt: skip

    def _probed(self, seeds: Tensor, batch_size: int) -> dict[str, Any]:
        ends, *_ = self._links
        return {"seeds": torch.from_numpy(ends).unique(), "batch_size": batch_size * (2 + self._num_negatives)}

    def _time_rule(self, seeds: Tensor, draw: str, rule: Any, window: Any, strategy: Any, input_time: Any) -> Any:
        """Of the links: each is predicted from what was before it. PyG's time_attr asks for the edges of its own time,
        too, among which it is itself."""
        if self._times is None:
            if rule is not None:
                raise ValueError("time_rule, or time_attr: the links have no times; edge_label_time has them")
            return super()._time_rule(seeds, draw, None, window, strategy, input_time)
        if rule == "le" and not self._by_attribute:
            raise ValueError("time_rule: 'le' has the link itself among its messages; links are predicted by 'lt'")
        known = torch.zeros(self._core.num_nodes, dtype=torch.int64)
        found = super()._time_rule(torch.arange(len(known)), draw, "lt", window, strategy, known)
        return None if found is None else replace(found, node_times=None)

    def _set_items(self, options: _core.StreamOptions) -> None:
        options.set_links(*self._links)
        if self._times is not None:
            options.set_link_times(self._times.numpy())

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
