# python/salient_gnn/decoders.py - what a run that predicts links scores them with.
"""LinkDecoder behind an encoder, and embeddings of entities and relations as PyG's kge models."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from salient_gnn._runs import LinkEmbeddings

_KINDS = ("dot", "distmult", "complex", "rotate", "mlp")


class LinkDecoder(nn.Module):
    """Scores of links from rows of their ends, as `salient-train --decoder` names them.

    dot: the sum of s t; distmult: of s r t; complex: the real part of that of s r conj(t); rotate: 1 - |s e^(ir) - t|;
    mlp: lin.1(relu(lin.0(s t))). Of complex and rotate a row is its real half and then its imaginary one.
    """

    def __init__(self, kind: str, parameters: dict[str, Tensor]) -> None:
        """@param parameters  of the run, whose shapes are taken"""
        super().__init__()
        if kind not in _KINDS:
            raise ValueError(f"decoder: {kind!r} is not known to this version")
        self.kind = kind
        for name in ("rel_emb", "rel_emb_im"):
            if f"{name}.weight" in parameters:
                setattr(self, name, nn.Embedding(*parameters[f"{name}.weight"].shape))
        if kind == "mlp":
            shapes = (parameters[f"lin.{i}.weight"].shape for i in range(2))
            self.lin = nn.ModuleList(nn.Linear(shape[1], shape[0]) for shape in shapes)

    def forward(self, source: Tensor, destination: Tensor, relation: Tensor | None = None) -> Tensor:
        """[n] the larger, the likelier a link. @param source, destination  [n, width] rows of the ends
        @param relation  int64 [n]; None = relation 0"""
        if self.kind == "dot":
            return (source * destination).sum(-1)
        if self.kind == "mlp":
            return self.lin[1](self.lin[0](source * destination).relu()).squeeze(-1)
        if relation is None:
            relation = torch.zeros(len(source), dtype=torch.long, device=source.device)
        rows = self.rel_emb(relation)
        if self.kind == "distmult":
            return (source * rows * destination).sum(-1)
        (s_re, s_im), (t_re, t_im) = source.chunk(2, -1), destination.chunk(2, -1)
        r_re, r_im = (rows, self.rel_emb_im(relation)) if self.kind == "complex" else (rows.cos(), rows.sin())
        re, im = s_re * r_re - s_im * r_im, s_re * r_im + s_im * r_re
        if self.kind == "complex":
            return (re * t_re + im * t_im).sum(-1)
        return 1 - torch.cat([re - t_re, im - t_im], -1).norm(dim=-1)


def decoder_of(config: dict[str, Any], parameters: dict[str, Tensor]) -> LinkDecoder | None:
    """Of a run with a decoder, else None."""
    if "decoder" not in config:
        return None
    own = {name.removeprefix("decoder."): value for name, value in parameters.items() if name.startswith("decoder.")}
    return LinkDecoder(config["decoder"], own)


def embeddings_of(shape: LinkEmbeddings, parameters: dict[str, Tensor]) -> nn.Module:
    """torch_geometric.nn.kge's DistMult, ComplEx or RotatE of a run of --model none: its forward takes (head, relation,
    tail) and returns scores."""
    from torch_geometric.nn import kge

    kinds = {"distmult": "DistMult", "complex": "ComplEx", "rotate": "RotatE"}
    if shape.decoder not in kinds:
        raise ValueError(f"decoder: {shape.decoder!r} is not known to this version")
    margin = {"margin": 0.0} if shape.decoder == "rotate" else {}  # scores are minus the length
    model = getattr(kge, kinds[shape.decoder])(shape.num_nodes, shape.num_relations, shape.hidden, **margin)
    buffers = dict(model.named_buffers())  # RotatE's margin
    model.load_state_dict({**buffers, **parameters})
    return model
