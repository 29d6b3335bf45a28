# python/salient_gnn/edge_sage.py - sage with features of edges: PyG's SAGEConv has no place for them.
"""h_i' = lin_l a(h_j) + lin_r h_i + lin_edge a(e_ij), with a the mean or the maximum over the edges of a row."""

from __future__ import annotations

from torch import Tensor, nn

from salient_gnn.by_weight import mean_of_entries


class EdgeSAGEConv(nn.Module):
    """A SAGEConv(aggr=..., bias=False) whose messages are (h_j | e_ij); lin_edge is the map of their last columns."""

    def __init__(self, in_channels: int, out_channels: int, edge_dim: int, aggr: str = "mean") -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.edge_dim, self.aggr = in_channels, out_channels, edge_dim, aggr
        self.lin_l = nn.Linear(in_channels, out_channels, bias=False)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False)
        self.lin_edge = nn.Linear(edge_dim, out_channels, bias=False)

    def forward(self, x: tuple[Tensor, Tensor], edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """x: the rows of sources and of destinations. Returns [num_dst, out_channels]."""
        source, row = edge_index
        around, edges = self._in_rows(x[0][source], row, len(x[1])), self._in_rows(edge_attr, row, len(x[1]))
        return self.lin_l(around) + self.lin_r(x[1]) + self.lin_edge(edges)

    def _in_rows(self, values: Tensor, row: Tensor, num_rows: int) -> Tensor:
        if self.aggr == "mean":
            return mean_of_entries(values, row, num_rows)
        index = row.unsqueeze(1).expand_as(values)
        empty = values.new_zeros(num_rows, values.shape[1])
        return empty.scatter_reduce(0, index, values, "amax", include_self=False)
