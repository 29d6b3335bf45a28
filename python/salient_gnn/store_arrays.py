# python/salient_gnn/store_arrays.py - features, labels and masks on their way from arrays into a store.
"""What Dataset.from_arrays() and from_typed_arrays() share: rules of each array, and how a store is written."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from salient_gnn import _core
from salient_gnn._arrays import integer_of, labels_of, narrowed, refuse_first, targets_of, tensor_of

if TYPE_CHECKING:
    StrPath = str | os.PathLike[str]

MOST_NODES = (1 << 32) - 2


def warn_of_left_out(names: Iterable[str], stacklevel: int) -> None:
    """Attributes of a PyG object that no store has. @param stacklevel  of the caller, as of warnings.warn()"""
    names = list(names)
    if names:
        text = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} left out"
        warnings.warn(
            f"{text}: a store has edges, features, labels and a split", stacklevel=stacklevel + 1
        )


def set_edge_attr(store: _core.StoreFromArrays, edge_attr: Any, num_edges: int) -> None:
    """Features of the edges of an edge_index, [M, D] or [M]."""
    rows = tensor_of(edge_attr, "edge_attr")
    rows = rows.unsqueeze(1) if rows.dim() == 1 else rows
    if rows.dim() != 2 or rows.shape[0] != num_edges or rows.shape[1] == 0 or rows.layout != torch.strided:
        raise ValueError(f"edge_attr: has shape {list(rows.shape)}, not [{num_edges}, D] with D above 0")
    store.set_edge_features(narrowed(rows, "edge_attr").contiguous().numpy())


def set_edge_values(store: _core.StoreFromArrays, num_edges: int, weights: Any, times: Any) -> None:
    """Weights and times of the edges of an edge_index, [M] each; None where they have none."""
    if weights is not None:
        store.set_edge_weights(weights_of(weights, num_edges).numpy())
    if times is not None:
        store.set_edge_times(times_of(times, num_edges, "edge_times").numpy())


def weights_of(values: Any, num_edges: int, what: str = "edge_weight") -> Tensor:
    """float32 [M] on the CPU, finite and 0 or more; of [M, 1] the column. ValueError else."""
    weights = tensor_of(values, what)
    weights = weights.squeeze(1) if weights.dim() == 2 and weights.shape[1] == 1 else weights
    if weights.shape != (num_edges,) or weights.layout != torch.strided:
        raise ValueError(f"{what}: has shape {list(weights.shape)}, not [{num_edges}]")
    weights = weights.cpu()
    narrow = weights.to(torch.float32)
    refuse_first(~narrow.isfinite() | (narrow < 0), weights, what, "weights are finite and 0 or more")
    return narrow.contiguous()


def times_of(values: Any, count: int, what: str) -> Tensor:
    """int64 [count] on the CPU, of whole numbers. ValueError else."""
    times = tensor_of(values, what)
    if times.is_floating_point() or times.dtype == torch.bool:
        raise ValueError(f"{what}: {times.dtype} are no whole numbers")
    if times.shape != (count,) or times.layout != torch.strided:
        raise ValueError(f"{what}: has shape {list(times.shape)}, not [{count}]")
    return times.to("cpu", torch.int64).contiguous()


def written(out: StrPath, force: bool, write: Callable[[], None]) -> None:
    """write(), whose error says what to do where the store is there."""
    try:
        write()
    except _core.Error as error:
        if force or error.code != 2 or not os.path.lexists(out):
            raise
        refusal = _core.Error(f"{error}; Dataset.open() opens it, force=True replaces it")
        refusal.code = error.code
        raise refusal from None


def mask_column(mask: Tensor, name: str, split: int) -> Tensor:
    """The mask of one split, where there are several in columns."""
    if mask.dim() != 2:
        return mask
    return mask[:, integer_of(f"split of {name}", split, 0, mask.shape[1] - 1)]


def set_features(store: _core.StoreFromArrays, x: Tensor, num_nodes: int) -> None:
    if x.dim() != 2 or x.shape[0] != num_nodes or x.shape[1] == 0:
        raise ValueError(f"x: has shape {list(x.shape)}, not [{num_nodes}, F] with F above 0")
    if x.layout != torch.strided:
        return _set_sparse_features(store, x)
    if x.dtype == torch.float16:
        refuse_first(~x.isfinite(), x, "x", "which is not finite")
        store.set_half_features(x.cpu().contiguous().view(torch.int16).numpy())
    else:
        store.set_float_features(narrowed(x, "x").contiguous().numpy())


def _set_sparse_features(store: _core.StoreFromArrays, x: Tensor) -> None:
    rows = x.to("cpu")
    if rows.layout in (torch.sparse_bsr, torch.sparse_bsc) or rows.dense_dim() > 0:
        rows = rows.to_dense()  # torch makes no CSR of blocks
    rows = rows.to_sparse_csr()
    begin, columns = (part.to(torch.int64).contiguous().numpy() for part in (rows.crow_indices(), rows.col_indices()))
    values = narrowed(rows.values().unsqueeze(1), "x's values").squeeze(1).contiguous().numpy()
    store.set_sparse_features(begin, columns, values, x.shape[1], x.dtype == torch.float16)


def set_y(
    store: _core.StoreFromArrays,
    y: Any,
    num_nodes: int,
    num_classes: int | None,
    task: str | None,
    target_names: Sequence[str],
) -> None:
    if task not in (None, "regression"):
        raise ValueError(f"task: {task!r} is not 'regression'; of other tasks y itself says what it is")
    if task is None:
        if target_names:
            raise ValueError("target_names: only with task='regression'")
        return _set_labels(store, labels_of(y, num_nodes), num_classes)
    values = targets_of(y, num_nodes)
    if num_classes is not None or len(target_names) not in (0, values.shape[1]):
        raise ValueError(f"y: has {values.shape[1]} targets; as many target_names, and no num_classes")
    store.set_targets(values.numpy(), list(target_names))


def _set_labels(store: _core.StoreFromArrays, y: Tensor, num_classes: int | None) -> None:
    known = int(y.max()) + 1 if y.dim() == 1 and y.numel() > 0 else 0
    if y.dim() == 2:
        if num_classes not in (None, y.shape[1]):
            raise ValueError(f"num_classes: {num_classes!r}, and y has {y.shape[1]} labels a node")
        if y.shape[0] > 2 and y.shape[1] > 1 and bool(((y != 0).sum(1) == 1).all()) and bool((y >= 0).all()):
            warnings.warn(
                f"y: every node has one of {y.shape[1]} labels; if they are classes, pass y.argmax(1)", stacklevel=3
            )
        return store.set_flags(y.numpy())
    count = known if num_classes is None else integer_of("num_classes", num_classes, known, 1 << 20)
    store.set_classes(y.numpy(), count)
