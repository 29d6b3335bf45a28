# python/salient_gnn/times.py - which edges the seeds of a loader see, by the times of both.
"""NeighborLoader's time_rule, time_window, time_strategy and input_time, as the core takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from salient_gnn import _core
from salient_gnn._arrays import integer_of, tensor_of


@dataclass(frozen=True)
class TimeRule:
    """What a seed of time T sees."""

    order: str  #: of _core.TIME_RULES: edges before T, or also those of T
    window: int | None  #: how far back, None = any
    strategy: str  #: of _core.TIME_STRATEGIES
    node_times: Tensor | None  #: int64 [V] T of each seed, None = those of the store

    def apply_to(self, options: _core.StreamOptions) -> None:
        options.set_time(self.order, self.window, self.strategy)
        if self.node_times is not None:
            options.set_node_times(self.node_times.numpy())


def time_rule_of(
    core: _core.Dataset, seeds: Tensor, draw: str, rule: str | None, window: Any, strategy: str | None, input_time: Any
) -> TimeRule | None:
    """None without a rule. @param seeds  int64 [S], which input_time is of, in their order"""
    if rule is None:
        for name, value in (("time_window", window), ("time_strategy", strategy), ("input_time", input_time)):
            if value is not None and value != "uniform":
                raise ValueError(f"{name}: only with a time_rule, 'lt' or 'le', or PyG's time_attr")
        return None
    strategy = "uniform" if strategy is None else getattr(strategy, "value", strategy)
    words = {"time_rule": (rule, _core.TIME_RULES), "time_strategy": (strategy, _core.TIME_STRATEGIES)}
    for name, (value, known) in words.items():
        if value not in known:
            raise ValueError(f"{name}: {value!r} is none of {', '.join(known)}")
    if strategy == "last" and draw != "uniform":
        raise ValueError(f"time_strategy: 'last' draws nothing, and so not by {draw}")
    window = None if window is None else integer_of("time_window", window, 1)
    if not core.has_edge_times:
        raise ValueError(f"time_rule: {core.name} has no times of edges")
    if input_time is None and not core.has_node_times:
        raise ValueError(f"time_rule: {core.name} has no times of nodes; input_time has those of the seeds")
    times = None if input_time is None else _times_of(input_time, seeds, core.num_nodes)
    return TimeRule(rule, window, strategy, times)


def _times_of(input_time: Any, seeds: Tensor, num_nodes: int) -> Tensor:
    given = tensor_of(input_time, "input_time").cpu()
    if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
        raise ValueError(f"input_time: {given.dtype} are no whole numbers")
    if given.shape != seeds.shape:
        raise ValueError(f"input_time: {list(given.shape)} times, of {len(seeds)} seeds")
    times = torch.zeros(num_nodes, dtype=torch.int64)
    times[seeds] = given.long()
    return times
