#!/usr/bin/env python3
"""Loads the models that write_models saved into PyG's layers and expects the same logits. Run by ctest.

    tests/golden/pyg_roundtrip.py path/to/write_models

Needs torch, torch_geometric and safetensors: folders in SALIENT_PYG_PATH come first on Python's path. Exit code 77 (skipped) without
them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [p for p in os.environ.get("SALIENT_PYG_PATH", "").split(os.pathsep) if p]
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
try:
    import torch
    import torch_geometric
    from safetensors import safe_open
    from safetensors.torch import load_file
except ImportError as error:
    print(f"skipped: {error}; set SALIENT_PYG_PATH to folders with torch, torch_geometric and safetensors")
    sys.exit(77)
import make_golden


def check(folder, name):
    batch = load_file(folder / f"{name}.batch.safetensors")
    with safe_open(folder / f"{name}.batch.safetensors", "pt") as file:
        dims = [int(d) for d in file.metadata()["dims"].split(",")]
    model = make_golden.MODELS[name](dims)
    model.load_state_dict(load_file(folder / f"{name}.model.safetensors"), strict=True)
    model.eval()
    hops = []
    for i in range(len(dims) - 1):
        indptr, indices = batch[f"hop.{i}.indptr"].long(), batch[f"hop.{i}.indices"].long()
        hops.append((len(indptr) - 1, None, indptr, indices))
    error = (model(batch["x"], hops) - batch["logits"]).abs().max().item()
    print(f"{name}: logits differ by at most {error:.1e}")
    return error <= 1e-5


with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    subprocess.run([sys.argv[1], folder], check=True)
    names = sorted(p.name.split(".")[0] for p in pathlib.Path(folder).glob("*.model.safetensors"))
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}")
    results = [check(pathlib.Path(folder), name) for name in names]
sys.exit(0 if results and all(results) else 1)
