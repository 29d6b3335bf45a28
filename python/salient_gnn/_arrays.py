# python/salient_gnn/_arrays.py - tensors, arrays, lists and masks of a user become tensors that the core can take.
"""What an argument may be is decided here; an error names the argument, the value or type, and the rule."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor


def integer_of(name: str, value: Any, least: int, most: int = (1 << 32) - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ValueError(f"{name}: {value!r} is no integer from {least} to {most}")
    return number


def tensor_of(values: Any, what: str) -> Tensor:
    """`values` as a tensor of real numbers or bools, of any layout, without its history; else ValueError. Unsigned
    integers become int64: few of torch's functions take the others."""
    if values is None:
        raise ValueError(f"{what}: is None")
    tensor = values.detach() if isinstance(values, Tensor) else _tensor_of_array(values, what)
    if tensor.is_complex():
        raise ValueError(f"{what}: {tensor.dtype}, not real numbers")
    if tensor.is_quantized or tensor.is_nested or tensor.device.type == "meta":
        raise ValueError(f"{what}: a tensor that is quantized, nested or without values")
    if str(tensor.dtype).startswith("torch.uint"):
        return torch.from_numpy(_signed(tensor.cpu().numpy(), what))
    return tensor


def _tensor_of_array(values: Any, what: str) -> Tensor:
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise ValueError(f"{what}: a masked array, whose masked items have no value; fill them")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{what}: is no array of numbers ({str(error).splitlines()[0]})") from None
    if array.dtype.kind not in "biufc" or array.dtype.name in ("longdouble", "float128", "clongdouble", "complex256"):
        raise ValueError(f"{what}: {type(values).__name__} of {array.dtype}, not an array of integers, of floats of up "
                         "to 64 bits, or of bools")  # fmt: skip
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    array = _signed(array, what) if array.dtype.kind == "u" else array
    return torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))


def _signed(array: np.ndarray, what: str) -> np.ndarray:
    if array.dtype.itemsize == 8 and array.size > 0 and int(array.max()) >= 1 << 63:
        place = int((array.ravel() >= 1 << 63).argmax())
        raise ValueError(f"{what}: item {place} is {array.ravel()[place]}, numbers are below 2^63")
    return array.astype(np.int64)


def ids_of(values: Any, what: str) -> Tensor:
    """int64 [N] on the CPU, in one piece, of integers [N]; else ValueError, where `what` is their name."""
    ids = tensor_of(values, what)
    if ids.numel() > 0 and (ids.dtype == torch.bool or ids.is_floating_point()):
        raise ValueError(f"{what}: {ids.dtype}, not integers")
    if ids.dim() != 1 or ids.layout != torch.strided:
        raise ValueError(f"{what}: has shape {list(ids.shape)}, not a list of ids")
    return ids.to("cpu", torch.int64).contiguous()


def texts_of(values: Any) -> list[str] | None:
    """The items of a list or an array of text, numbers among text written as such; None of anything else."""
    if isinstance(values, Tensor):
        return None
    if not hasattr(values, "dtype"):
        values = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else [values]
        return [str(item) for item in values] if any(isinstance(item, str) for item in values) else None
    array = np.asarray(values)
    is_text = array.dtype.kind == "U" or (array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat))
    return [str(item) for item in array.ravel()] if is_text and array.size > 0 else None


def is_mask(nodes: Tensor, num_nodes: int | None) -> bool:
    """Bools; or of more than two nodes num_nodes numbers, all of them 0 or 1: as ids they would name a node twice."""
    if nodes.dtype == torch.bool:
        return True
    are_flags = num_nodes is not None and nodes.numel() == num_nodes > 2
    return are_flags and bool(((nodes == 0) | (nodes == 1)).all())


def nodes_of(nodes: Any, what: str, num_nodes: int | None = None) -> Tensor:
    """The same of ids, or of a mask [num_nodes], as is_mask() knows it; of bools of any length where that is None."""
    ids = tensor_of(nodes, what)
    if ids.dtype != torch.bool:
        ids = ids_of(ids, what)
        return ids.nonzero().squeeze(1) if is_mask(ids, num_nodes) else ids
    if ids.dim() != 1 or ids.layout != torch.strided or num_nodes not in (None, len(ids)):
        wanted = "V" if num_nodes is None else num_nodes
        raise ValueError(f"{what}: a mask of shape {list(ids.shape)}, not [{wanted}]")
    return ids_of(ids.nonzero().squeeze(1), what)


def edges_of(edge_index: Any, what: str = "edge_index") -> tuple[Tensor, Tensor]:
    """Sources and destinations of [2, E] integers, as ids_of()."""
    edges = tensor_of(edge_index, what)
    if edges.dim() != 2 or edges.shape[0] != 2 or edges.layout != torch.strided:
        raise ValueError(f"{what}: has shape {list(edges.shape)}, not [2, E]")
    return ids_of(edges[0], what), ids_of(edges[1], what)


def features_of(x: Any) -> Tensor:
    """[V, F] of any layout and type of real numbers; of [V] one column."""
    features = tensor_of(x, "x")
    return features.unsqueeze(1) if features.dim() == 1 and features.layout == torch.strided else features


def labels_of(y: Any, num_nodes: int) -> Tensor:
    """Classes as int32 [V], or labels as int8 [V, L] of zeros and ones, -1 = not known; on the CPU, in one piece."""
    labels = tensor_of(y, "y")
    if labels.dim() == 2 and labels.shape[1] == 1:
        labels = labels.squeeze(1)
    if labels.dim() not in (1, 2) or labels.shape[0] != num_nodes or labels.layout != torch.strided:
        raise ValueError(f"y: has shape {list(labels.shape)}, not [{num_nodes}] or [{num_nodes}, L]")
    if labels.dim() == 2 and labels.shape[1] == 0:
        raise ValueError(f"y: has shape {list(labels.shape)}, no labels; leave it out")
    are_flags = labels.dim() == 2
    whole = labels.cpu()
    if whole.is_floating_point():
        whole = whole.double().nan_to_num(nan=-1.0, posinf=torch.inf, neginf=-torch.inf)
        refuse_first(whole != whole.round(), whole, "y", "labels have no fractions; task='regression' predicts numbers")
    most = 1 if are_flags else (1 << 20) - 1
    refuse_first((whole < -1) | (whole > most), whole, "y", f"labels are -1 to {most}, -1 where they are not known")
    return whole.to(torch.int8 if are_flags else torch.int32).contiguous()


def targets_of(y: Any, num_nodes: int) -> Tensor:
    """Values to be predicted as float32 [V, T], NaN = not known; on the CPU, in one piece."""
    values = tensor_of(y, "y")
    values = values.unsqueeze(1) if values.dim() == 1 else values
    if values.dim() != 2 or values.shape[0] != num_nodes or values.shape[1] == 0 or values.layout != torch.strided:
        raise ValueError(f"y: has shape {list(values.shape)}, not [{num_nodes}] or [{num_nodes}, T]")
    narrow = values.cpu().to(torch.float32)
    refuse_first(narrow.isinf(), values, "y", "infinite, or beyond the range of float32; NaN = not known")
    refuse_first(narrow.isnan().all(0, keepdim=True), narrow[:1], "y", "a target without any value")
    return narrow.contiguous()


def narrowed(x: Tensor, what: str) -> Tensor:
    """[N, F] as float32 on the CPU. ValueError for a number beyond its range. A warning where numbers that are not 0
    become 0, or where in some column a sixteenth of the neighbouring rows that differ become equal."""
    x = x.cpu()
    narrow = x.to(torch.float32)
    if x.dtype not in (torch.float64, torch.int64, torch.int32):
        return narrow  # exact
    refuse_first(narrow.isinf() & x.isfinite(), x, what, "beyond the range of float32, 3.4e38")
    num_zeros = int(((narrow == 0) & (x != 0)).sum())
    differ, equal = x[1:] != x[:-1], narrow[1:] == narrow[:-1]
    lost = ((differ & equal).sum(0) > differ.sum(0) // 16).nonzero().flatten().tolist()
    losses = [f"{num_zeros} numbers that are not 0 become 0"] if num_zeros else []
    losses += [f"different numbers become equal (column {lost[0]}, {len(lost)} in all)"] if lost else []
    if losses:
        text = f"{what}: in float32 {' and '.join(losses)}; subtract an offset or scale them first"
        warnings.warn(text, stacklevel=5)
    return narrow


def refuse_first(breaks: Tensor, values: Tensor, what: str, rule: str) -> None:
    """ValueError for the first value that breaks the rule."""
    if bool(breaks.any()):
        place = breaks.nonzero()[0].tolist()
        where = f"item {place[0]}" if len(place) == 1 else f"row {place[0]}, column {place[1]}"
        raise ValueError(f"{what}: {where} is {values[tuple(place)].item()}, {rule}")
