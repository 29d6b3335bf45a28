# python/salient_gnn/layer.py - one layer of a batch: a bipartite graph as tensors.
from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag


class Layer:
    """What one layer of a model computes: a bipartite graph from num_src source to num_dst destination nodes.

    Sources are batch.nodes[:num_src], destinations batch.nodes[:num_dst]; so destinations are the first sources.
    """

    def __init__(
        self,
        indptr: Tensor,
        indices: Tensor,
        num_src: int,
        num_dst: int,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> None:
        self.indptr = indptr  #: int32 [num_dst + 1]
        self.indices = indices  #: int32 [E]: destination i gets messages from indices[indptr[i]:indptr[i + 1]]
        self.num_src = num_src
        self.num_dst = num_dst
        self.edge_attr = edge_attr  #: [E, D] in the order of edge_index, of a loader with edge_attr=True; else None
        self.edge_weight = edge_weight  #: float32 [E] likewise, of a loader with edge_weight=True; else None

    @property
    def size(self) -> tuple[int, int]:
        """(num_src, num_dst), as PyG's `size`."""
        return self.num_src, self.num_dst

    @cached_property
    def edge_index(self) -> Tensor:
        """int64 [2, E] sources and destinations, for SAGEConv((x, x[:num_dst]), edge_index) and its like."""
        return coo_of(self.indptr, self.indices, 0)

    @cached_property
    def adj(self) -> Tensor:
        """torch.sparse_csr [num_dst, num_src] of float32 ones: adj @ x sums over neighbours."""
        ones = torch.ones(1, device=self.indices.device).expand(len(self.indices)).contiguous()
        size = (self.num_dst, self.num_src)
        return torch.sparse_csr_tensor(self.indptr, self.indices, ones, size, check_invariants=False)

    def reduce(self, x: Tensor, how: str = "mean") -> Tensor:
        """[num_dst, F] "mean" or "sum" of each destination's neighbours among the rows of x [num_src, F]; zeros where
        it has none. Differentiable, without a row for every edge in between: the fastest form."""
        return embedding_bag(self.indices, x, self.indptr, mode=how, include_last_offset=True)

    def __repr__(self) -> str:
        return f"Layer({self.num_src} -> {self.num_dst}, {len(self.indices)} edges)"


def coo_of(indptr: Tensor, indices: Tensor, first_row: int) -> Tensor:
    """int64 [2, E] of a CSR whose first row is destination first_row."""
    rows = torch.arange(first_row, first_row + len(indptr) - 1, device=indptr.device)
    destinations = torch.repeat_interleave(rows, indptr.diff(), output_size=len(indices))
    return torch.stack([indices.long(), destinations])
