# tests/python/readme_test.py - the Python examples of the documents run as they are printed.
import os
import pathlib
import re
import sys

import pytest
import salient_gnn
import torch
from job import Job

ROOT = pathlib.Path(__file__).resolve().parents[2]
programs = pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-train").exists(), reason="SALIENT_BIN has none"
)


def run_examples(document, count, names):
    examples = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert len(examples) == count
    for example in examples:
        exec(compile(example, document, "exec"), names)
    return names


def test_the_examples_run_one_after_another(tmp_path):
    pytest.importorskip("torch_geometric")
    pytest.importorskip("pyarrow")
    names = run_examples("python/README.md", 4, {"DATASET": "synthetic:arxiv:0.02", "FOLDER": tmp_path})
    assert names["x"].shape == (names["batch"].batch_size, names["dataset"].num_classes)
    assert names["mine"].num_nodes == 1000


@pytest.mark.parametrize("example", ["python/examples/ddp.py"])
def test_the_example_for_torchrun_learns(torchrun, example):
    pytest.importorskip("torch_geometric")
    options = ["--device", "cpu", "--batch-size", "64", "--epochs", "3"]
    output = torchrun(ROOT / example, "synthetic:arxiv:0.02", *options)
    accuracy = float(re.search(r"test accuracy (\S+) on 2 processes", output)[1])
    assert accuracy > 5 / 40, output  # of 40 classes


def test_the_benchmark_of_loaders_runs_here(tmp_path):
    pytest.importorskip("torch_geometric")
    command = re.findall(r"^python3 (benchmarks/pyg_loader.py .*)$", (ROOT / "docs/BENCHMARKS.md").read_text(), re.M)
    assert len(command) == 2
    smaller = ("--device cpu --dataset synthetic:arxiv:0.01 --batch-size 16 --hidden 8 --rounds 1 --seconds 0.1 "
               "--workers 2 --out")  # fmt: skip
    for words in command:
        done = Job([sys.executable, *words.split(), *smaller.split(), tmp_path / "rates.json"], cwd=ROOT).end()
        assert done.returncode == 0, done.stderr
        assert re.search(r"salient, host +layers +[0-9.]+ batches/s", done.stdout)


@programs
def test_predictions_are_read_and_weights_loaded_as_documented(tmp_path, monkeypatch):
    torch_geometric = pytest.importorskip("torch_geometric")
    pytest.importorskip("safetensors")
    monkeypatch.chdir(tmp_path)
    common = {"quiet": True, "device": "cpu", "fanout": [5, 5, 5]}
    run = salient_gnn.train(
        "synthetic:arxiv:0.01", out="runs/mine", layers=3, hidden=64, epochs=1, norm="layer", jk="cat", **common
    )
    predicted = salient_gnn.predict(run, "test", out="predictions", **common)
    names = run_examples("docs/INFERENCE.md", 1, {})
    assert names["by_node"][predicted.ids].tolist() == predicted.labels.tolist()
    data = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    known = {"torch": torch, "torch_geometric": torch_geometric,
             "in_dim": data.num_features, "num_classes": data.num_classes}  # fmt: skip
    model = run_examples("docs/TRAINING.md", 1, known)["model"].eval()
    batch = next(iter(salient_gnn.NeighborLoader(data, "test", [-1, -1, -1], 32, workers=1)))
    exact = salient_gnn.predict(run, batch.nodes[:32].long(), exact=True, **{**common, "fanout": None})
    with torch.no_grad():
        logits = model(batch.x, batch.edge_index)[:32]
    assert torch.allclose(logits, exact.logits, atol=1e-3, rtol=1e-3)
