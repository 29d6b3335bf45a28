# python/salient_gnn/placement.py - in which memory the feature rows and the graph of a loader are.
"""The policy is that of the programs (engine/device/data_plan.h); half of a GPU's free memory is left to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn import _core

if TYPE_CHECKING:
    from salient_gnn.dataset import Dataset
    from salient_gnn.typed_dataset import TypedDataset

FEATURES = ("auto", "host", "cached", "device")
SAMPLERS = ("auto", "host", "device")
Order = Callable[[], dict[str, Any]]  # the seeds, batch_size and seed of a loader
_ROWS_AT_A_TIME = 1 << 20  # of a cache, on their way to the GPU


@dataclass(frozen=True)
class Cache:
    """Some feature rows in GPU memory, for all loaders of a data set."""

    nodes: _core.CachedNodes
    rows: Tensor  #: [C, F] as the store has them, by the order of nodes.ids

    def rows_of(self, places: Tensor, missed: Tensor) -> Tensor:
        """[N, F]: row places[i] of these rows, followed by those of `missed`. All on the cache's device."""
        rows, missed = (bits_of(part) for part in (self.rows, missed))
        count = len(rows)
        if not count or not len(missed):
            return (rows if count else missed).index_select(0, places).view(self.rows.dtype)
        held = rows.index_select(0, places.clamp(max=count - 1))
        other = missed.index_select(0, (places - count).clamp(min=0))
        return torch.where((places < count).unsqueeze(1), held, other).view(self.rows.dtype)


def bits_of(rows: Tensor) -> Tensor:
    """Rows of float8 as bytes, which all operators take."""
    return rows.view(torch.uint8) if rows.dtype.itemsize == 1 else rows


@dataclass
class Placement:
    """What a loader was asked for, and why something of it cannot be; plan() decides."""

    dataset: Dataset | TypedDataset
    device: torch.device
    features: str
    sampler: str
    cache_bytes: int
    obstacles: dict[str, str]  #: "features", "cache", "sampler": why none is on the device; "" = nothing

    def plan(self, core: _core.Dataset, options: _core.StreamOptions, order: Order) -> Cache | None:
        """Decides, and tells the options. A cache is filled, where there is none of the data set on this device yet.
        @param order  called where something is chosen by what the loader samples @raises ValueError for a place that
        cannot be"""
        self._refuse()
        self.features, self.sampler, cached_rows = self._decide(core, options, order)
        if self.features == "device":
            options.leave_features_on_device()
        if self.features != "cached":
            return None
        cache = self._cache(core, options, order, cached_rows)
        options.leave_cached(cache.nodes)
        return cache

    def _refuse(self) -> None:
        """What was asked for and cannot be."""
        for what, wanted in (("features", self.features), ("sampler", self.sampler)):
            obstacle = self.obstacles["cache" if wanted == "cached" else what]
            if wanted in ("cached", "device") and obstacle:
                raise ValueError(f"{what}: {wanted!r} is not possible, {obstacle}")

    def _decide(
        self, core: _core.Dataset, options: _core.StreamOptions, order: Order
    ) -> tuple[str, str, int]:
        """(features, sampler, rows of a cache)"""
        if self.device.type != "cuda":
            return "host", "host", 0
        request = self._request(order())
        free = torch.cuda.mem_get_info(self.device)[0]
        request.reserved_bytes = free // 2
        request.free_bytes += free
        decided = _core.plan_placement(core, options, request)
        if decided[0] == "cached" and self.obstacles["cache"]:  # what was not asked for
            request.features = "host"
            decided = _core.plan_placement(core, options, request)
        return decided

    def _request(self, order: dict[str, Any]) -> _core.PlacementRequest:
        there = self.dataset._on_device
        in_use = 0
        features, sampler = self.features, self.sampler
        if features == "auto" and self.obstacles["features"]:
            features = "host"
        if sampler == "auto" and self.obstacles["sampler"]:
            sampler = "host"
        if ("features", self.device) in there:
            in_use += self.dataset._device_feature_bytes
            features = "device" if features == "auto" else features
        if (cache := there.get(("cache", self.device))) is not None:
            in_use += cache.rows.nbytes
            features = "cached" if features == "auto" else features
        if ("graph", self.device) in there:
            in_use += self.dataset._core.graph_bytes
            sampler = "device" if sampler == "auto" else sampler
        request = _core.PlacementRequest()
        request.set_seeds(order["seeds"].numpy())
        request.batch_size, request.seed = order["batch_size"], order["seed"]
        request.features, request.sampler = features, sampler
        request.free_bytes, request.cache_bytes = in_use, self.cache_bytes
        return request

    def _cache(self, core: _core.Dataset, options: _core.StreamOptions, order: Order, count: int) -> Cache:
        key = ("cache", self.device)
        if key not in self.dataset._on_device:
            nodes = _core.choose_cached_nodes(core, options, self._request(order()), count)
            ids = torch.from_dlpack(nodes.ids).long() & 0xFFFFFFFF
            stored = bits_of(self.dataset.x)
            rows = torch.empty((len(ids), stored.shape[1]), dtype=stored.dtype, device=self.device)
            for first in range(0, len(ids), _ROWS_AT_A_TIME):
                some = ids[first : first + _ROWS_AT_A_TIME]
                rows[first : first + len(some)] = stored.index_select(0, some).to(self.device)
            self.dataset._on_device[key] = Cache(nodes, rows.view(self.dataset.x.dtype))
        return self.dataset._on_device[key]
