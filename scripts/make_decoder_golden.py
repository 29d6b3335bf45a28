#!/usr/bin/env python3
"""Writes tests/models/golden/decoders.safetensors: scores and gradients of PyTorch Geometric's knowledge-graph models.

    PYTHONPATH=FOLDER_WITH_TORCH_AND_PYG scripts/make_decoder_golden.py

Of each model its parameters, links, scores, and the gradients of the sum of scores times weights, as NAME.TENSOR.
"""
import torch
from torch_geometric.nn.kge import ComplEx, DistMult, RotatE

from make_golden import OUT, save

NODES, RELATIONS, HIDDEN, LINKS = 11, 4, 6, 23


def main():
    tensors = {}
    for name, kind in (("distmult", DistMult), ("complex", ComplEx), ("rotate", RotatE)):
        torch.manual_seed(7)
        model = kind(NODES, RELATIONS, HIDDEN)
        head, tail = torch.randint(NODES, (2, LINKS))
        relation = torch.randint(RELATIONS, (LINKS,))
        weight = torch.randn(LINKS)
        scores = model(head, relation, tail)
        (scores * weight).sum().backward()
        tensors |= {f"{name}.head": head, f"{name}.relation": relation, f"{name}.tail": tail,
                    f"{name}.weight": weight, f"{name}.scores": scores.detach()}
        for parameter, values in model.named_parameters():
            tensors |= {f"{name}.{parameter}": values.detach(), f"{name}.grad.{parameter}": values.grad}
    save(tensors, OUT / "decoders.safetensors", {"magic": "salient golden", "version": "1"})


if __name__ == "__main__":
    main()
