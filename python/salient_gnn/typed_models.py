# python/salient_gnn/typed_models.py - a trained run's weights in PyG's layers, of a typed graph.
"""TypedModel: rgcn, rsage, rgat and hgt over PyG's dictionaries."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from salient_gnn.run_module import RunModule

EdgeType = tuple[str, str, str]
KINDS = ("rgcn", "rsage", "rgat", "hgt")


class TypedModel(RunModule):
    """A stack of PyG's convolutions behind one row of each node, with the options of salient-train.

    Its forward takes a whole graph by PyG's dictionaries, or with n_id_dict a batch, and returns the logits of the
    nodes of each type:

        logits = model(data.x_dict, data.edge_index_dict)["paper"]
        logits = model(batch.x_dict, batch.edge_index_dict, batch.n_id_dict)["paper"][: batch.batch_size]
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        nodes = config["types"]["nodes"]
        self.node_types: list[str] = [name for name, _, _ in nodes]
        self.num_nodes: dict[str, int] = {name: count for name, count, _ in nodes}
        self.edge_types: list[EdgeType] = [
            (self.node_types[src], name, self.node_types[dst]) for src, name, dst in config["types"]["relations"]
        ]
        hidden, layers, classes = config["hidden_dim"], config["num_layers"], config["num_classes"]
        self.lin_in = nn.ModuleDict({_key(name): nn.Linear(width, hidden) for name, _, width in nodes if width > 0})
        learned = {_key(name): nn.Embedding(count, hidden) for name, count, width in nodes if width == 0}
        self.emb = nn.ModuleDict(learned)
        reads_out = config["jk"] != "none" or self.kind in ("rgat", "hgt")
        num_hidden = layers if reads_out else layers - 1
        self.convs = nn.ModuleList(
            self._conv(hidden, hidden if i < num_hidden else classes, i < num_hidden) for i in range(layers)
        )
        self.norms = self._norms(num_hidden)
        if config.get("activate_input") and config["norm"] != "none":
            self.norm_in = self._norms(1)[0]
        if reads_out:
            self.lin = nn.Linear(hidden * layers if config["jk"] == "cat" else hidden, classes)

    def _conv(self, width_in: int, width_out: int, is_hidden: bool) -> nn.Module:
        from torch_geometric import nn as pyg

        heads = self.config["heads"]
        if self.kind == "rgcn":
            bases, blocks = self.config.get("bases"), self.config.get("blocks") if is_hidden else None
            return pyg.RGCNConv(width_in, width_out, len(self.edge_types), bases or None, blocks or None)
        if self.kind == "rsage":
            convs = {edge_type: pyg.SAGEConv(width_in, width_out) for edge_type in self.edge_types}
            return pyg.HeteroConv(convs, aggr="sum")
        if self.kind == "rgat":
            convs = {
                edge_type: pyg.GATConv(width_in, width_out // heads, heads=heads, add_self_loops=False)
                for edge_type in self.edge_types
            }
            return pyg.HeteroConv(convs, aggr="sum")
        if self.kind == "hgt":
            return pyg.HGTConv(width_in, width_out, (self.node_types, self.edge_types), heads)
        raise ValueError(f"model: '{self.kind}' is not known to this version")

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        n_id_dict: dict[str, Tensor] | None = None,
    ) -> dict[str, Tensor]:
        """n_id_dict has the rows of a batch's nodes in the data set; None = all nodes."""
        outputs = self.outputs(x_dict, edge_index_dict, n_id_dict)
        return {name: self._in_units(rows) for name, rows in outputs.items()}

    def outputs(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        n_id_dict: dict[str, Tensor] | None = None,
    ) -> dict[str, Tensor]:
        """forward(), but of a regression in units of the targets' deviations, from their means on: for training."""
        h = {name: self._input(name, x_dict, n_id_dict) for name in self.node_types}
        if self.config.get("activate_input"):
            rows = torch.cat(list(h.values()))
            h = self._split((self.norm_in(rows) if hasattr(self, "norm_in") else rows).relu(), h)
        edges = {
            edge_type: edge_index_dict.get(edge_type, torch.empty(2, 0, dtype=torch.long, device=self._device()))
            for edge_type in self.edge_types
        }
        collected = []
        for i, conv in enumerate(self.convs):
            out = self._convolve(conv, h, edges)
            if i < len(self.norms):
                if self.config["residual"]:
                    out = {name: rows + h[name] for name, rows in out.items()}
                out = self._split(self.norms[i](torch.cat(list(out.values()))).relu(), out)
            h = out
            collected.append(torch.cat(list(h.values())))
        jumped = self._jumped(collected)
        return self._split(self.lin(jumped) if hasattr(self, "lin") else jumped, h)

    def _device(self) -> torch.device:
        return next(self.parameters()).device

    def _split(self, rows: Tensor, like: dict[str, Tensor]) -> dict[str, Tensor]:
        return dict(zip(like, rows.split([len(of_type) for of_type in like.values()])))

    def _input(self, name: str, x_dict: dict[str, Tensor], n_id_dict: dict[str, Tensor] | None) -> Tensor:
        if _key(name) in self.emb:
            learned = self.emb[_key(name)]
            return learned.weight if n_id_dict is None else learned(n_id_dict[name])
        if name not in x_dict:
            raise ValueError(f"x_dict: has no '{name}', whose features the model was trained on")
        linear, x = self.lin_in[_key(name)], x_dict[name]
        if x.dim() != 2 or x.shape[1] != linear.in_features:
            raise ValueError(
                f"x_dict: '{name}' has shape {list(x.shape)}, and the model was trained on [N, {linear.in_features}]"
            )
        return linear(x.to(linear.weight.dtype))

    def _convolve(
        self, conv: nn.Module, h: dict[str, Tensor], edges: dict[EdgeType, Tensor]
    ) -> dict[str, Tensor]:
        if self.kind == "rgcn":
            begins, begin = {}, 0
            for name, rows in h.items():
                begins[name], begin = begin, begin + len(rows)
            shifted = [
                edges[edge_type] + torch.tensor([[begins[edge_type[0]]], [begins[edge_type[2]]]], device=self._device())
                for edge_type in self.edge_types
            ]
            counts = torch.tensor([edge_index.shape[1] for edge_index in shifted], device=self._device())
            relation = torch.repeat_interleave(torch.arange(len(counts), device=self._device()), counts)
            return self._split(conv(torch.cat(list(h.values())), torch.cat(shifted, 1), relation), h)
        out = conv(h, edges)
        return {name: out[name] if out.get(name) is not None else self._of_others(conv, name, h[name]) for name in h}

    def _of_others(self, conv: nn.Module, name: str, rows: Tensor) -> Tensor:
        """Of a type that no relation leads to, which PyG leaves out."""
        if self.kind == "hgt":
            share = conv.skip[name].sigmoid()
            return share * conv.out_lin.lins[name].bias + (1 - share) * rows
        is_last = len(self.norms) < len(self.convs) and conv is self.convs[-1]
        return rows.new_zeros(len(rows), self.config["num_classes"]) if is_last else rows


def _key(name: str) -> str:
    return name.replace(".", "#")
