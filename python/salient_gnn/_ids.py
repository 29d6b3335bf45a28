# python/salient_gnn/_ids.py - node ids as the core and the programs take them.
"""Tensors, arrays, lists and masks of nodes become int64 ids on the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def ids_of(values: Any, what: str) -> Tensor:
    """int64 [N] on the CPU, in one piece, of integers [N]; else ValueError, where `what` is their name."""
    ids = torch.as_tensor(values)
    if ids.numel() > 0 and (ids.dtype == torch.bool or ids.is_floating_point() or ids.is_complex()):
        raise ValueError(f"{what}: {ids.dtype}, not integers")
    if ids.dim() != 1:
        raise ValueError(f"{what}: has shape {list(ids.shape)}, not a list of ids")
    return ids.to("cpu", torch.int64).contiguous()


def nodes_of(nodes: Any, what: str, num_nodes: int | None = None) -> Tensor:
    """The same of ids, or of a mask [num_nodes]; of a mask of any length where that is None. Of more than two nodes
    num_nodes numbers, all of them 0 or 1, are a mask, too: as ids they would name a node twice."""
    ids = torch.as_tensor(nodes)
    if ids.dtype != torch.bool:
        ids = ids_of(ids, what)
        is_mask = num_nodes is not None and len(ids) == num_nodes > 2 and bool(((ids == 0) | (ids == 1)).all())
        return ids.nonzero().squeeze(1) if is_mask else ids
    if ids.dim() != 1 or num_nodes not in (None, len(ids)):
        wanted = "V" if num_nodes is None else num_nodes
        raise ValueError(f"{what}: a mask of shape {list(ids.shape)}, not [{wanted}]")
    return ids_of(ids.nonzero().squeeze(1), what)
