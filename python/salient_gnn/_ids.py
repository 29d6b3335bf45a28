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
    """The same of ids, or of a mask [num_nodes]; of a mask of any length where that is None."""
    ids = torch.as_tensor(nodes)
    if ids.dtype != torch.bool:
        return ids_of(ids, what)
    if ids.dim() != 1 or num_nodes not in (None, len(ids)):
        wanted = "V" if num_nodes is None else num_nodes
        raise ValueError(f"{what}: a mask of shape {list(ids.shape)}, not [{wanted}]")
    return ids_of(ids.nonzero().squeeze(1), what)
