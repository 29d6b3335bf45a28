# python/salient_gnn/run_module.py - what modules of trained runs have, of plain and of typed graphs.
"""RunModule: the run's configuration and names, and the ends of its stack that no convolution is part of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from salient_gnn.decoders import LinkDecoder


class RunModule(nn.Module):
    """load_model() fills class_names, column_names and target_scales, of a run that has them."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.config = config
        self.kind: str = config["model"]
        self.class_names: list[str] = []
        self.column_names: list[str] = []
        self.decoder: LinkDecoder | None = None  #: of a run that predicts links
        self.register_buffer("target_scales", None, persistent=False)  #: [2, T] means and deviations of a regression

    def scores(self, rows: Tensor, edge_label_index: Tensor) -> Tensor:
        """[P] of links, the larger the likelier, of a run that predicts links. @param rows  what forward() returned
        @param edge_label_index  [2, P] sources and destinations among them"""
        if self.decoder is None:
            raise ValueError("scores: the run predicts nodes, not links")
        source, destination = edge_label_index
        return self.decoder(rows[source], rows[destination])

    def _norms(self, count: int) -> nn.ModuleList:
        kinds: dict[str, Any] = {"none": nn.Identity, "batch": nn.BatchNorm1d, "layer": nn.LayerNorm}
        return nn.ModuleList(kinds[self.config["norm"]](self.config["hidden_dim"]) for _ in range(count))

    def _in_units(self, outputs: Tensor) -> Tensor:
        """Of a regression in units of the targets."""
        return outputs if self.target_scales is None else outputs * self.target_scales[1] + self.target_scales[0]

    def _jumped(self, collected: Sequence[Tensor]) -> Tensor:
        """Of the layers' rows what jumping knowledge takes."""
        if self.config["jk"] == "cat":
            return torch.cat(list(collected), -1)
        if self.config["jk"] == "max":
            return torch.stack(list(collected), -1).max(-1).values
        return collected[-1]
