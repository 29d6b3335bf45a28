# python/salient_gnn/pinning.py - host memory that a GPU copies from at full speed, pinned by torch's CUDA runtime.
from __future__ import annotations

from collections.abc import Callable

import torch


def pinning_of(device: torch.device) -> tuple[Callable[[int, int], None], Callable[[int], None]]:
    """pin(address, bytes) and unpin(address), for any thread."""
    runtime = torch.cuda.cudart()

    def pin(address: int, num_bytes: int) -> None:
        with torch.cuda.device(device):
            status = int(runtime.cudaHostRegister(address, num_bytes, 0))
        if status != 0:
            raise RuntimeError(f"cudaHostRegister failed with error {status}; a lower batch_size or fewer workers help")

    def unpin(address: int) -> None:
        with torch.cuda.device(device):
            runtime.cudaHostUnregister(address)

    return pin, unpin
