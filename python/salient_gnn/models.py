# python/salient_gnn/models.py - a trained run's weights in PyG's layers.
"""load_model() makes a torch module of a run of salient-train: PyG's convolutions, with the run's parameters.

A checkpoint's model.safetensors holds the parameters under PyG's names (convs.0.lin_l.weight, ...), and in its
metadata, as "salient.config", the JSON of what shapes the model.
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from salient_gnn import by_weight
from salient_gnn._runs import checkpoint_folder, link_embeddings_of, trained_on
from salient_gnn.decoders import decoder_of, embeddings_of
from salient_gnn.edge_sage import EdgeSAGEConv
from salient_gnn.layer import Layer
from salient_gnn.run_module import RunModule
from salient_gnn.typed_models import KINDS, TypedModel

_GINS = ("gin", "gine")
_REDUCTIONS = {"mean": "mean", "sum": "sum", "add": "sum"}
_DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32}


def take_layers(model: nn.Module) -> nn.Module:
    """`model` itself, whose SAGEConv and GINConv of PyG take a Layer where they take an edge_index:

        x = conv((x, x[: layer.num_dst]), layer)

    They compute what they do with layer.edge_index, by Layer.reduce(). Parameters stay as they are. Subclasses with
    messages of their own and convolutions against the edges' direction are left alone. Raises ValueError where the
    model has none that sums or averages.
    """
    from torch_geometric.nn import GINConv, SAGEConv

    found = [
        module
        for module in model.modules()
        if isinstance(module, (SAGEConv, GINConv)) and isinstance(module.aggr, str) and module.aggr in _REDUCTIONS
        and type(module).message in (SAGEConv.message, GINConv.message) and module.flow == "source_to_target"
    ]
    if not found:
        raise ValueError("take_layers: the model has no SAGEConv or GINConv that sums or averages")
    for conv in found:
        if not isinstance(conv.propagate, _Propagation):
            conv.propagate = _Propagation(conv.propagate, _REDUCTIONS[conv.aggr])
    return model


class _Propagation:
    """A convolution's propagate(), which knows layers."""

    def __init__(self, of_edges: Any, how: str) -> None:
        self.of_edges = of_edges
        self.how = how

    def __call__(self, edge_index: Any, x: Any, size: Any = None) -> Tensor:
        if isinstance(edge_index, Layer):
            return edge_index.reduce(x[0], self.how)
        return self.of_edges(edge_index, x=x, size=size)


def load_model(run: str | os.PathLike[str], checkpoint: str = "best") -> nn.Module:
    """The model of a run directory, in evaluation mode; needs torch_geometric.

    Its forward takes (x, layers) with the layers of a Batch, and returns the logits of the seeds; or (x, edge_index) of
    a whole graph, and returns the logits of all nodes. A model that reads features of edges takes (x, layers) of a
    loader with edge_attr=True, or (x, edge_index, edge_attr). Of a regression they are values in the targets' unit.
    One that counts neighbours by the weights of edges (--aggregate weighted) takes layers of a loader with
    edge_weight=True, or (x, edge_index, edge_weight=...) of a whole graph.
    Models that weigh edges by whole degrees (gcn's symmetric norm, gin's scaled sums) take whole graphs alone. Its
    class_names and column_names are those of the data set that it was trained on, or empty where that has none; of
    another one it takes what Dataset.seen_by_run(run) gives.

    Of a typed graph it is a TypedModel: its forward takes (x_dict, edge_index_dict) of a whole graph, or with n_id_dict
    those of a batch, and returns the logits of each type's nodes.

    Of a run that predicts links it is the encoder: its forward returns rows of nodes, and model.scores(rows,
    edge_label_index) the scores of links between them. Of embeddings of entities and relations (--model none) it is
    PyG's DistMult, ComplEx or RotatE, with a margin of 0, whose forward takes (head, relation, tail).

    checkpoint   "best", "latest" or "epoch-0003"
    """
    folder = checkpoint_folder(run, checkpoint)
    parameters, metadata = read_safetensors(folder / "model.safetensors")
    embeddings = link_embeddings_of(folder)
    if embeddings is not None:
        return embeddings_of(embeddings, parameters).eval()
    config = json.loads(metadata["salient.config"])
    if config.get("time_encoding", 0) > 0:
        raise ValueError(f"{folder}: its {config['model']} reads how long before its seed an edge was, which a Layer "
                         "does not say; salient-infer predicts with it")  # fmt: skip
    if any(name.startswith("decoder.pair.") for name in parameters):
        raise ValueError(f"{folder}: its decoder reads what pairs were before their times; salient-infer predicts "
                         "with it")  # fmt: skip
    model = TypedModel(config) if config["model"] in KINDS else TrainedModel(config)
    model.decoder = decoder_of(config, parameters)
    model.load_state_dict(parameters)
    if (folder / "state.json").is_file():
        schema = trained_on(folder).schema
        model.class_names, model.column_names = schema["class_names"], schema["column_names"]
        if schema["task"] == "regression":
            model.target_scales = torch.tensor(schema["target_scales"]).view(2, -1)
    return model.eval()


def read_safetensors(path: pathlib.Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a file in the format safetensors."""
    data = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = (begin + offset for offset in entry["data_offsets"])
        dtype = _DTYPES[entry["dtype"]]
        values = torch.tensor([], dtype=dtype) if first == last else torch.frombuffer(data[first:last], dtype=dtype)
        tensors[name] = values.view(entry["shape"])
    return tensors, metadata


class TrainedModel(RunModule):
    """A stack of PyG's convolutions, with the options of salient-train: norm, residual, jk, aggr, heads."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        widths = [config["in_dim"]] + [config["hidden_dim"]] * (config["num_layers"] - 1) + [config["num_classes"]]
        if self.kind == "sage-ri":
            self._make_sage_ri(widths)
        else:
            self._make_stack(widths)

    def _make_stack(self, widths: list[int]) -> None:
        config, hidden, layers = self.config, self.config["hidden_dim"], self.config["num_layers"]
        reads_out = config["jk"] != "none" or self.kind in _GINS
        num_hidden = layers if reads_out else layers - 1
        pairs = list(zip(widths, [*widths[1:-1], hidden if reads_out else widths[-1]]))
        self.convs = nn.ModuleList(self._conv(*pair, i < num_hidden) for i, pair in enumerate(pairs))
        self.norms = self._norms(num_hidden)
        self.res_linears = nn.ModuleList(
            nn.Identity() if a == b else nn.Linear(a, b) for a, b in pairs[:num_hidden] if config["residual"]
        )
        read_out = hidden * layers if config["jk"] == "cat" else hidden
        if self.kind in _GINS:
            self.lin1, self.lin2 = nn.Linear(read_out, hidden), nn.Linear(hidden, widths[-1])
        elif reads_out:
            self.lin = nn.Linear(read_out, widths[-1])

    def _make_sage_ri(self, widths: list[int]) -> None:
        from torch_geometric.nn import SAGEConv

        hidden, layers, classes = self.config["hidden_dim"], self.config["num_layers"], widths[-1]
        self.convs = nn.ModuleList(SAGEConv(a, hidden, bias=False) for a in widths[:-1])
        self.bns = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.res_linears = nn.ModuleList([nn.Linear(widths[0], hidden), *(nn.Identity() for _ in range(layers - 1))])
        wide = 2 * classes
        first, last = nn.Linear(widths[0] + hidden * layers, wide), nn.Linear(wide, classes)
        network = nn.Sequential(first, nn.BatchNorm1d(wide), nn.LeakyReLU(), last)
        self.mlp = nn.ModuleDict({"module_list": network})

    def _conv(self, width_in: int, width_out: int, is_hidden: bool) -> nn.Module:
        from torch_geometric import nn as pyg

        heads = self.config["heads"] if is_hidden else 1
        edge_dim = self.config.get("edge_dim")
        if self.kind == "sage" and edge_dim is not None:
            return EdgeSAGEConv(width_in, width_out, edge_dim, aggr=self.config["aggr"])
        if self.kind == "sage":
            return pyg.SAGEConv(width_in, width_out, aggr=self.config["aggr"], bias=False)
        if self.kind == "gat":
            return pyg.GATConv(width_in, width_out // heads, heads=heads, bias=False, edge_dim=edge_dim)
        if self.kind == "gatv2":
            return pyg.GATv2Conv(width_in, width_out // heads, heads=heads, edge_dim=edge_dim)
        if self.kind == "transformer":
            return pyg.TransformerConv(width_in, width_out // heads, heads=heads, edge_dim=edge_dim)
        if self.kind == "gcn":
            return pyg.GCNConv(width_in, width_out, normalize=self.config.get("gcn_norm", "row") == "symmetric")
        if self.kind in _GINS:
            first, second = nn.Linear(width_in, width_out), nn.Linear(width_out, width_out)
            network = nn.Sequential(first, nn.BatchNorm1d(width_out), nn.ReLU(), second)
            return pyg.GINConv(network) if self.kind == "gin" else pyg.GINEConv(network, edge_dim=edge_dim)
        raise ValueError(f"model: '{self.kind}' is not known to this version")

    def forward(
        self,
        x: Tensor,
        graph: Tensor | Sequence[Layer],
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        return self._in_units(self.outputs(x, graph, edge_attr, edge_weight))

    def outputs(
        self,
        x: Tensor,
        graph: Tensor | Sequence[Layer],
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """forward(), but of a regression in units of the targets' deviations, from their means on: for training."""
        if x.dim() != 2 or x.shape[1] != self.config["in_dim"]:
            raise ValueError(f"x: has shape {list(x.shape)}, and the model was trained on [N, {self.config['in_dim']}]")
        layers, edge_attrs = self._layers_of(x, graph), self._edge_attrs_of(graph, edge_attr)
        weights = self._edge_weights_of(graph, edge_weight)
        x = x.to(next(self.parameters()).dtype)
        if self.kind == "sage-ri":
            return self._sage_ri(x, layers, weights)
        num_seeds, collected = layers[-1][1], []
        for i, (conv, (edges, num_dst)) in enumerate(zip(self.convs, layers)):
            if weights is not None:
                h = self._convolve_by_weight(conv, x, edges, num_dst, weights[i], edge_attrs and edge_attrs[i])
            elif edge_attrs is None:
                h = self._convolve(conv, x, edges, num_dst)
            else:
                h = conv((x, x[:num_dst]), edges, edge_attr=edge_attrs[i].to(x.dtype))
            if i < len(self.norms):
                if len(self.res_linears) > 0:
                    h = h + self.res_linears[i](x[:num_dst])
                h = self.norms[i](h).relu()
            x = h
            collected.append(x[:num_seeds])
        jumped = self._jumped(collected)
        if self.kind in _GINS:
            return self.lin2(self.lin1(jumped).relu())
        return self.lin(jumped) if hasattr(self, "lin") else jumped

    def _layers_of(self, x: Tensor, graph: Tensor | Sequence[Layer]) -> list[tuple[Tensor, int]]:
        if isinstance(graph, Tensor):
            return [(graph, len(x))] * self.config["num_layers"]
        if self.config.get("gcn_norm") == "symmetric" or self.config.get("gin_sum") == "scaled":
            raise ValueError(f"this {self.kind} weighs edges by whole degrees; pass the whole graph's edge_index")
        if len(graph) != self.config["num_layers"]:
            raise ValueError(f"{len(graph)} layers for a model of {self.config['num_layers']}; a fanout for each")
        return [(layer.edge_index, layer.num_dst) for layer in graph]

    def _edge_attrs_of(self, graph: Tensor | Sequence[Layer], edge_attr: Tensor | None) -> list[Tensor] | None:
        """Of each layer; None of a model that reads none."""
        width, num_layers = self.config.get("edge_dim"), self.config["num_layers"]
        if width is None:
            return None
        found = [edge_attr] * num_layers if isinstance(graph, Tensor) else [layer.edge_attr for layer in graph]
        for rows in found:
            if rows is None or rows.dim() != 2 or rows.shape[1] != width:
                raise ValueError(f"this {self.kind} reads {width} features of each edge: edge_attr of the whole graph, "
                                 "or layers of a loader with edge_attr=True")  # fmt: skip
        return found

    def _edge_weights_of(self, graph: Tensor | Sequence[Layer], edge_weight: Tensor | None) -> list[Tensor] | None:
        """Of each layer; None of a model that reads none."""
        if self.config.get("aggregate", "plain") == "plain":
            return None
        if isinstance(graph, Tensor):
            found, counts = [edge_weight] * self.config["num_layers"], [graph.shape[1]] * self.config["num_layers"]
        else:
            found, counts = [layer.edge_weight for layer in graph], [len(layer.indices) for layer in graph]
        for weights, count in zip(found, counts):
            if weights is None or weights.shape != (count,):
                raise ValueError(f"this {self.kind} counts neighbours by the weights of edges: edge_weight [E] of the "
                                 "whole graph, or layers of a loader with edge_weight=True")  # fmt: skip
        return found

    def _convolve_by_weight(
        self, conv: nn.Module, x: Tensor, edges: Tensor, num_dst: int, weight: Tensor, edge_attr: Tensor | None
    ) -> Tensor:
        weight = weight.to(x.dtype)
        edge_attr = None if edge_attr is None else edge_attr.to(x.dtype)
        if self.kind == "sage":
            return by_weight.mean(conv, x, num_dst, edges, weight, edge_attr)
        if self.kind != "gcn":
            return by_weight.attention(self.kind, conv, x, num_dst, edges, weight, edge_attr)
        if self.config.get("gcn_norm", "row") == "symmetric":
            return by_weight.symmetric_sum(conv, x, edges, weight)
        return by_weight.row_mean(conv, x, num_dst, edges, weight)

    def _convolve(self, conv: nn.Module, x: Tensor, edges: Tensor, num_dst: int) -> Tensor:
        if self.kind != "gcn":
            return conv((x, x[:num_dst]), edges)
        if self.config.get("gcn_norm", "row") == "symmetric":
            return conv(x, edges)
        own = torch.arange(num_dst, device=x.device)  # the mean over a node's neighbours and itself
        edges = torch.cat([edges, torch.stack([own, own])], 1)
        weights = 1 / torch.bincount(edges[1], minlength=num_dst).to(x.dtype)
        return conv(x, edges, weights[edges[1]])[:num_dst]

    def _sage_ri(self, x: Tensor, layers: list[tuple[Tensor, int]], weights: list[Tensor] | None) -> Tensor:
        num_seeds = layers[-1][1]
        collected = [x[:num_seeds]]
        for i, (conv, norm, residual) in enumerate(zip(self.convs, self.bns, self.res_linears)):
            edges, num_dst = layers[i]
            if weights is None:
                h = conv((x, x[:num_dst]), edges)
            else:
                h = by_weight.mean(conv, x, num_dst, edges, weights[i].to(x.dtype))
            x = nn.functional.leaky_relu(norm(h)) + residual(x[:num_dst])
            collected.append(x[:num_seeds])
        return self.mlp["module_list"](torch.cat(collected, -1))
