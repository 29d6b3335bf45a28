# python/salient_gnn/pyg_store.py - the edges and features of PyG's Data as a store in the temporary folder.
"""A store is made once for as long as the tensors are there and unchanged, and removed with them."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import threading
import warnings
import weakref
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from salient_gnn.dataset import Dataset

if TYPE_CHECKING:
    from torch_geometric.data import Data

_STORED_TYPES = (torch.float32, torch.float16)  # without a loss; other features stay in Data
_LARGE_BYTES = 1 << 30  # to be said

_making = threading.Lock()
_stores: dict[int, tuple[list[object], Dataset]] = {}  # by the id of edge_index: what was stored, and the store


def store_of(data: Data) -> Dataset:
    """Copies of a Data object, which share their tensors, share the store."""
    x, key = getattr(data, "x", None), id(data.edge_index)
    is_stored = isinstance(x, Tensor) and x.dim() == 2 and x.shape[1] > 0 and x.dtype in _STORED_TYPES
    parts = [data.edge_index, *([x] if is_stored and x.layout == torch.strided else [])]
    wanted: list[object] = [data.num_nodes, *((id(part), _version(part)) for part in parts)]
    with _making:
        known = _stores.get(key)
        if known is not None and known[0] == wanted:
            return known[1]
        dataset = _write(parts, data.num_nodes)
        _stores[key] = wanted, dataset
        for part in parts:
            weakref.finalize(part, _stores.pop, key, None).atexit = False
        return dataset


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _write(parts: list[Tensor], num_nodes: int) -> Dataset:
    folder = tempfile.mkdtemp(prefix="salient-data-")
    num_bytes = sum(part.nbytes for part in parts)
    if num_bytes > _LARGE_BYTES:
        warnings.warn(
            f"data: {num_bytes / 1e9:.1f} GB of edges and features are written to {folder}, and removed with them; "
            "Dataset.from_pyg(data, FOLDER) keeps a store", stacklevel=5)  # fmt: skip
    try:
        dataset = Dataset.from_arrays(pathlib.Path(folder, "data"), *parts, num_nodes=num_nodes, name="data")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(dataset, _remove, folder, os.getpid())
    return dataset


def _remove(folder: str, process: int) -> None:
    """In a forked child the store is its parent's."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
