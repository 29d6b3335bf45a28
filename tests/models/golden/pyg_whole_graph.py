#!/usr/bin/env python3
"""Exact inference on WordNet against a plain forward of the whole graph in PyTorch Geometric. Run by ctest.

    tests/models/golden/pyg_whole_graph.py BIN_DIRECTORY [MODEL...]        a few minutes on 2 cores

Each model is trained for a short epoch, so that its weights and norms are no longer the initial ones. Needs WordNet
(the package wordnet-base), torch, torch_geometric and safetensors, as scripts/setup.sh --python installs them. Exit
code 77 (skipped) without.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "scripts"), str(ROOT / "tests/support")]
from python_of_tests import restart_where

restart_where("numpy", "torch", "torch_geometric", "safetensors")
import numpy
import torch
import torch_geometric
from safetensors.torch import load_file
if not pathlib.Path("/usr/share/wordnet/data.noun").is_file():
    print("skipped: the package wordnet-base is not installed")
    sys.exit(77)
import make_golden

BIN, WANTED = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
WITHOUT_EDGES = [name for name in make_golden.MODELS if name != "gine"]  # WordNet's edges have no features
HIDDEN, NUM_LAYERS, TOLERANCE = 32, 3, 1e-4


def run(program, *args):
    result = subprocess.run([BIN / program, *map(str, args)], text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def check(work, graph, x, hop, model_name):
    run_dir, out = work / model_name, work / f"{model_name}-out"
    run("salient-train", "--dataset", graph, "--out", run_dir, "--model", model_name, "--hidden", HIDDEN, "--epochs", 1,
        "--fanout", "3,3,3", "--eval-fanout", "1,1,1", "--batch-size", 4096, "--device", "cpu", "--progress", "none")
    run("salient-infer", "--run", run_dir, "--nodes", "all", "--exact", "--out", out, "--device", "cpu",
        "--progress", "none")
    logits = torch.from_numpy(numpy.load(out / "logits.npy"))
    model = make_golden.MODELS[model_name]([x.shape[1], *[HIDDEN] * (NUM_LAYERS - 1), logits.shape[1]])
    model.load_state_dict(load_file(run_dir / "checkpoints/best/model.safetensors"), strict=True)
    model.eval()
    expected = model(x, [hop] * NUM_LAYERS)
    error = (logits - expected).abs().max().item()
    scale = expected.abs().max().item()
    agree = (logits.argmax(1) == expected.argmax(1)).float().mean().item()
    print(f"{model_name}: logits up to {scale:.2f} differ by at most {error:.1e}; "
          f"{agree:.6f} of the predictions are equal")
    return error <= TOLERANCE * max(1, scale) and agree > 0.9999


with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    work = pathlib.Path(folder)
    graph = work / "wordnet"
    run("salient-prepare", "wordnet", "--out", graph)
    x = torch.from_numpy(numpy.load(graph / "features.npy")).float()
    indptr = torch.from_numpy(numpy.load(graph / "indptr.npy"))
    indices = torch.from_numpy(numpy.load(graph / "indices.npy").astype(numpy.int64))
    hop = (x.shape[0], x.shape[0], indptr, indices)
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}; "
          f"{x.shape[0]} nodes, {len(indices)} entries")
    results = [check(work, graph, x, hop, name) for name in WANTED or WITHOUT_EDGES]
sys.exit(0 if results and all(results) else 1)
