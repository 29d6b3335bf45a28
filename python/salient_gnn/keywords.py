# python/salient_gnn/keywords.py - what becomes of the keywords of PyG's NeighborLoader and torch's DataLoader.
"""One table. NeighborLoader takes its keywords by it; docs/PYG.md and the tests show it."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from salient_gnn.pyg_store import Drawn

TAKEN, NO_EFFECT, REFUSED = "taken", "no effect", "refused"


def _seed_from(generator: Any) -> int:
    if not isinstance(generator, torch.Generator):
        raise ValueError(f"generator: {generator!r} is no torch.Generator")
    return int(torch.randint(1 << 32, (1,), generator=generator, device=generator.device))


def _rule_from(time_attr: Any) -> str:
    if time_attr != "edge_time":
        raise ValueError(f"time_attr: {time_attr!r}; the times of a store's edges are 'edge_time'")
    return "le"


def _draw_from(weight_attr: Any) -> str:
    if weight_attr != "edge_weight":
        raise ValueError(f"weight_attr: {weight_attr!r}; the weights of a store's edges are 'edge_weight'")
    return "weighted"


@dataclass(frozen=True)
class Keyword:
    """One that is not NeighborLoader's own, or means something else there."""

    name: str
    fate: str  #: TAKEN, NO_EFFECT: a warning; REFUSED: a ValueError
    why: str
    own: str = ""  #: of a TAKEN one: which of NeighborLoader's own keywords it is
    plain: Any = None  #: the value that asks for what is done anyway: neither warned of nor refused
    convert: Callable[[Any], Any] | None = None

    @property
    def reason(self) -> str:
        return self.why.replace("`", "")

    def is_plain(self, value: Any) -> bool:
        value = getattr(value, "value", value)  # of an enum
        return value is None or (type(value) is type(self.plain) and value == self.plain)


_PROCESSES = "no processes prepare batches, but threads"
_ORDER = "`nodes`, `batch_size`, `shuffle` and `seed` say which seeds meet"
SAME = (  # PyG's and torch's as they are
    "batch_size", "shuffle", "drop_last", "replace", "transform", "input_time", "disjoint",
)  # fmt: skip
KEYWORDS = {
    row.name: row
    for row in (
        Keyword("data", TAKEN, "a `Dataset`, a `TypedDataset`, or PyG's `Data` or `HeteroData`, of which a temporary "
                "store is made", "dataset"),
        Keyword("num_neighbors", TAKEN, "a list, a number for each hop, of a typed graph also a dict of them; `y` is "
                "then of all nodes", "fanouts"),
        Keyword("input_nodes", TAKEN, "ids, a mask or a name, also `(TYPE, ids)`; `None` = all", "nodes"),
        Keyword("generator", TAKEN, "drawn from it, once", "seed", convert=_seed_from),
        Keyword("num_workers", NO_EFFECT, f"{_PROCESSES}, one for each core; `workers` sets how many", plain=0),
        Keyword("persistent_workers", NO_EFFECT, "threads stay from epoch to epoch", plain=False),
        Keyword("prefetch_factor", NO_EFFECT, "threads are always ahead of the loop"),
        Keyword("worker_init_fn", NO_EFFECT, _PROCESSES),
        Keyword("multiprocessing_context", NO_EFFECT, _PROCESSES),
        Keyword("timeout", NO_EFFECT, f"{_PROCESSES}; an error of one ends the loop with it", plain=0),
        Keyword("in_order", NO_EFFECT, "batches always come in order", plain=True),
        Keyword("pin_memory", NO_EFFECT, '`device="cuda"` copies from pinned memory; `batch.pin_memory()` pins one',
                plain=False),
        Keyword("pin_memory_device", NO_EFFECT, "as `pin_memory`", plain=""),
        Keyword("filter_per_worker", NO_EFFECT, "the threads that sample gather the features, too", plain=True),
        Keyword("is_sorted", NO_EFFECT, "a store is always sorted", plain=False),
        Keyword("collate_fn", NO_EFFECT, "PyG's loaders replace it, too"),
        Keyword("sampler", REFUSED, f"{_ORDER}; \"host\" and \"device\" are the place of the engine's sampler"),
        Keyword("batch_sampler", REFUSED, _ORDER),
        Keyword("neighbor_sampler", REFUSED, "the engine samples; `fanouts`, `replace` and `draw` say how"),
        Keyword("transform_sampler_output", REFUSED, "the engine's samples are not PyG's; `transform` is taken"),
        Keyword("custom_cls", REFUSED, "features come from a store, not from PyG's feature stores"),
        Keyword("input_id", REFUSED, "`batch.input_id` are the places of the seeds in `nodes`"),
        Keyword("weight_attr", TAKEN, 'an attribute of the edges of `Data`, or `"edge_weight"`, those of a store, is '
                '`draw="weighted"`; batches of a store have `edge_weight` then', "draw", convert=_draw_from),
        Keyword("time_attr", TAKEN, 'an attribute of the nodes or edges of `Data`, or `"edge_time"`, those of a store, '
                'is `time_rule="le"`; `input_time` the times of the seeds, else the nodes\' own. As in PyG every seed '
                "has a tree of its own then, unless `disjoint=False`", "time_rule", convert=_rule_from),
        Keyword("temporal_strategy", TAKEN, '`"uniform"` or `"last"`', "time_strategy"),
        Keyword("subgraph_type", REFUSED, "edges lead towards the seeds, as they were sampled", plain="directional"),
        Keyword("directed", REFUSED, "as `subgraph_type`", plain=True),
    )
}  # fmt: skip

_told: set[str] = set()


def drawn_by(data: Any, keywords: dict[str, Any]) -> tuple[Drawn, dict[str, Any]]:
    """Of PyG's Data the attributes that are drawn by, and the keywords with a store's names for them."""
    names = {"weight_attr": "edge_weight", "time_attr": "edge_time"}
    said = {keyword: keywords[keyword] for keyword in names if keywords.get(keyword) is not None}
    if said and hasattr(data, "node_types") and hasattr(data, "to_homogeneous"):
        raise ValueError(f"{next(iter(said))}: HeteroData's graphs, of several types of nodes, are drawn from without "
                         "weights and times")  # fmt: skip
    if not hasattr(data, "is_node_attr"):
        return Drawn(), keywords
    drawn = Drawn(said.get("weight_attr"), said.get("time_attr"))
    return drawn, {**keywords, **{keyword: names[keyword] for keyword in said}}


def own_keywords(own: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """`own` and what KEYWORDS makes of the others, under NeighborLoader's names. One warning names those that have no
    effect, each once in a process.

    @throws ValueError for a keyword that is refused, or said under both names; TypeError for one that nobody has
    """
    merged, without_effect = dict(own), []
    for name, value in others.items():
        row = KEYWORDS.get(name)
        if row is None:
            near = difflib.get_close_matches(name, [*own, *KEYWORDS], 1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"NeighborLoader() has no keyword {name!r}{guess}")
        if row.fate == TAKEN:
            if own.get(row.own) is not None:
                raise ValueError(f"{name}: is {row.own} by PyG's or torch's name; say one of them")
            merged[row.own] = value if value is None or row.convert is None else row.convert(value)
        elif row.is_plain(value):
            continue
        elif row.fate == REFUSED:
            raise ValueError(f"{name}: {value!r} is not possible here: {row.reason}")
        else:
            without_effect.append(row)
    new = [row for row in without_effect if row.name not in _told]
    if new:
        _told.update(row.name for row in new)
        reasons = "; ".join(f"{row.name} ({row.reason})" for row in new)
        warnings.warn(f"without effect in salient_gnn.NeighborLoader: {reasons}", stacklevel=_level_of_caller())
    return merged


def _level_of_caller() -> int:
    """The stacklevel, for the function that calls this one, of the first frame outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


def table() -> str:
    """KEYWORDS in Markdown, as docs/PYG.md has it."""
    ways = {TAKEN: "is `{own}`: ", NO_EFFECT: "no effect: ", REFUSED: "refused: "}
    rows = [f"| `{row.name}` | {ways[row.fate].format(own=row.own)}{row.why} |" for row in KEYWORDS.values()]
    return "\n".join(["| keyword | here |", "|---|---|", *rows])
