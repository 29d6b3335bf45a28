#!/usr/bin/env python3
"""Loads the models that write_models saved into PyG's layers and expects the same logits. Run by ctest.

    tests/models/golden/pyg_roundtrip.py path/to/write_models

Needs torch, torch_geometric and safetensors, as scripts/setup.sh --python installs them. Exit code 77 (skipped)
without.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "scripts"), str(ROOT / "tests/support")]
from python_of_tests import restart_where

restart_where("torch", "torch_geometric", "safetensors")
import torch
import torch_geometric
from safetensors import safe_open
from safetensors.torch import load_file
import make_golden
import typed_golden


def basic_model(name, dims, options):
    """PyG's own model for these options, if it has one."""
    norm = {"none": None, "layer": torch.nn.LayerNorm(dims[1]), "batch": torch.nn.BatchNorm1d(dims[1])}[options["norm"]]
    common = dict(in_channels=dims[0], hidden_channels=dims[1], num_layers=len(dims) - 1, out_channels=dims[-1],
                  norm=norm, jk=None if options["jk"] == "none" else options["jk"])
    if options["residual"] or "edge_dim" in options:
        return None
    if name == "gcn" and options["gcn_norm"] == "symmetric":
        return torch_geometric.nn.GCN(**common)
    if name == "sage":
        return torch_geometric.nn.GraphSAGE(**common, aggr=options["aggr"], bias=False)
    if name == "gat" and options["jk"] != "none":
        return torch_geometric.nn.GAT(**common, heads=options["heads"], bias=False)
    if name == "gatv2" and options["jk"] != "none":
        return torch_geometric.nn.GAT(**common, heads=options["heads"], v2=True)
    return None


def check_typed(batch, metadata, state, name):
    types = typed_golden.Types.of_text(metadata)
    node_type = torch.zeros(len(batch["nodes"]), dtype=torch.long)
    for t in range(len(types.nodes)):
        node_type[batch[f"rows.{t}"].long()] = t
    hops = [(60, 60, batch[f"hop.{i}.indptr"].long(), batch[f"hop.{i}.indices"].long()) for i in range(3)]
    x = {t: batch[f"x.{t}"] for t in range(len(types.nodes)) if f"x.{t}" in batch}
    options = {"norm": metadata["norm"], "residual": metadata["residual"] == "True", "jk": metadata["jk"],
               "activate_input": metadata["activate_input"] == "True"}
    own = {"rgcn": ("bases", "blocks"), "rgat": ("heads",), "hgt": ("heads",)}.get(metadata["model"], ())
    options.update({key: int(metadata[key]) for key in own})
    dims = [int(d) for d in metadata["dims"].split(",")]
    model = typed_golden.MODELS[metadata["model"]](types, dims[1], len(dims) - 1, dims[-1], **options)
    model.load_state_dict(state, strict=True)
    model.eval()
    logits = model(typed_golden.Batch(types, batch["nodes"].long(), node_type, x, hops))
    error = (logits - batch["logits"]).abs().max().item()
    print(f"{name}: logits differ by at most {error:.1e}")
    return error <= 1e-5


def check(folder, name):
    batch = load_file(folder / f"{name}.batch.safetensors")
    with safe_open(folder / f"{name}.batch.safetensors", "pt") as file:
        metadata = file.metadata()
    if "node_types" in metadata:
        return check_typed(batch, metadata, load_file(folder / f"{name}.model.safetensors"), name)
    dims = [int(d) for d in metadata["dims"].split(",")]
    options = {"norm": metadata["norm"], "residual": metadata["residual"] == "True", "jk": metadata["jk"]}
    if metadata["model"] in ("gat", "gatv2", "transformer"):
        options["heads"] = int(metadata["heads"])
    if int(metadata["edge_dim"]) > 0:
        options["edge_dim"] = int(metadata["edge_dim"])
    own = {"sage": "aggr", "gcn": "gcn_norm", "gin": "gin_sum"}.get(metadata["model"])
    if own:
        options[own] = metadata[own]
    state = load_file(folder / f"{name}.model.safetensors")
    model = make_golden.MODELS[metadata["model"]](dims, **({} if metadata["model"] == "sage-ri" else options))
    model.load_state_dict(state, strict=True)
    model.eval()
    hops, edges = [], [batch[f"hop.{i}.edge_x"] for i in range(len(dims) - 1)] if "edge_dim" in options else None
    for i in range(len(dims) - 1):
        indptr, indices = batch[f"hop.{i}.indptr"].long(), batch[f"hop.{i}.indices"].long()
        hops.append((len(indptr) - 1, None, indptr, indices))
    logits = model(batch["x"], hops) if edges is None else model(batch["x"], hops, edges)
    error = (logits - batch["logits"]).abs().max().item()
    print(f"{name}: logits differ by at most {error:.1e}")
    basic = basic_model(metadata["model"], dims, options)
    if basic is None:
        return error <= 1e-5
    basic.load_state_dict(state, strict=True)
    basic.eval()
    indptr, indices = batch["hop.0.indptr"].long(), batch["hop.0.indices"].long()
    edges = torch.stack([indices, torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())])
    basic_error = (basic(batch["x"], edges) - batch["logits"]).abs().max().item()
    print(f"{name}: logits of PyG's {type(basic).__name__} differ by at most {basic_error:.1e}")
    return max(error, basic_error) <= 1e-5


with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    subprocess.run([sys.argv[1], folder], check=True)
    names = sorted(p.name.split(".")[0] for p in pathlib.Path(folder).glob("*.model.safetensors"))
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}")
    results = [check(pathlib.Path(folder), name) for name in names]
sys.exit(0 if results and all(results) else 1)
