# tests/python/pyg_page_test.py - docs/PYG.md as it is printed, with PyG, Lightning, Ignite, Accelerate, Optuna.
import json
import os
import pathlib
import re
import sys
import warnings

import pytest
import salient_gnn
import torch
from job import Job

pyg = pytest.importorskip("torch_geometric")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/PYG.md").read_text(), re.DOTALL)
DATASET = "synthetic:arxiv:0.02"
CHANCE = 1 / 40  # of 40 classes


def run(word, names):
    """The one block that has the word."""
    (block,) = [block for block in BLOCKS if word in block]
    exec(compile(block, f"docs/PYG.md, {word}", "exec"), names)
    return names


@pytest.fixture(scope="module")
def trained():
    dataset = salient_gnn.Dataset.open(DATASET)
    parts = {name: getattr(dataset, name) for name in ("train_mask", "val_mask", "test_mask")}
    data = pyg.data.Data(x=dataset.x.float(), edge_index=dataset.edge_index, y=dataset.y.long(), **parts)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of num_workers
        return run("instead of: from torch_geometric.loader", {"data": data})


def test_pygs_loop_learns_with_one_import_changed(trained):
    assert trained["accuracy"](trained["val_loader"]) > 5 * CHANCE


def test_hetero_data_is_trained_on_and_its_links_are_loaded(trained):
    data = pyg.data.HeteroData()
    data["paper"].x, data["paper"].y = torch.randn(30, 8), torch.randint(0, 4, (30,))
    data["paper"].train_mask = torch.arange(30) < 20
    data["author"].x = torch.randn(10, 3)
    data["author", "writes", "paper"].edge_index = torch.stack([torch.arange(30) % 10, torch.arange(30)])
    data = pyg.transforms.ToUndirected()(data)
    names = run("to_hetero", {**trained, "hetero_data": data})
    assert names["out"].shape == (20, int(data["paper"].y.max()) + 1) and names["loss"].isfinite()
    names = run("paper_links = ", {"hetero_data": data, "LinkNeighborLoader": salient_gnn.LinkNeighborLoader})
    assert names["labels"].tolist() == [1] * 30 + [0] * 30 and names["source"].shape == (60,)


def test_the_page_has_a_block_for_each_test():
    assert len(BLOCKS) == 9


def test_links_are_scored_by_their_own_loader(trained):
    names = run("link_loader = ", dict(trained))
    assert names["loss"].isfinite() and len(names["batch"].edge_label) == len(names["scores"])


def test_lightnings_trainer_trains_and_validates(trained):
    pytest.importorskip("pytorch_lightning")
    names = run("pytorch_lightning", dict(trained))
    assert names["trainer"].current_epoch == 3
    assert names["trainer"].callback_metrics["val_acc"] > 5 * CHANCE


def test_lightning_takes_loaders_made_in_its_hooks(trained):
    pl = pytest.importorskip("pytorch_lightning")
    names = run("pytorch_lightning", dict(trained))

    class Hooked(names["Nodes"]):
        def train_dataloader(self):
            return salient_gnn.NeighborLoader(names["data"], [4, 3], names["data"].train_mask, batch_size=512)

        def val_dataloader(self):
            return salient_gnn.NeighborLoader(names["data"], [4, 3], names["data"].val_mask, batch_size=512)

    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", **names["quiet"])
    trainer.fit(Hooked())
    (scores,) = trainer.validate(Hooked(), verbose=False)
    assert 0 <= scores["val_acc"] <= 1 and trainer.num_val_batches == [len(Hooked().val_dataloader())]


def test_ignites_engines_run(trained):
    pytest.importorskip("ignite")
    names = run("ignite", dict(trained))
    assert names["trainer"].state.epoch == 2 and names["evaluator"].state.metrics["accuracy"] > 5 * CHANCE


def test_accelerate_needs_no_loader_of_its_own(trained):
    pytest.importorskip("accelerate")
    names = run("accelerate", dict(trained))
    assert torch.isfinite(names["out"]).all() and names["accelerator"].prepare(names["loader"]) is names["loader"]


def test_a_compiled_model_is_compiled_for_all_batches(trained, monkeypatch):
    from torch._dynamo.testing import CompileCounterWithBackend

    counter, compile_model = CompileCounterWithBackend("aot_eager"), torch.compile
    monkeypatch.setattr(torch, "compile", lambda model, **options: compile_model(model, backend=counter, **options))
    names = {**trained, "model": trained["model"].eval()}
    torch._dynamo.reset()
    run("torch.compile", names)
    graphs, loader = counter.frame_count, names["val_loader"]
    for batch in loader:
        with torch.no_grad():
            out = names["compiled"](batch.x, batch.edge_index)
            assert torch.allclose(out, names["model"](batch.x, batch.edge_index), atol=1e-4)
    assert len(loader) > 1 and counter.frame_count - graphs <= graphs  # once more without gradients


@pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-train").exists(), reason="SALIENT_BIN has none"
)
def test_optunas_study_goes_over_the_programs(tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    names = run("optuna", {"DATASET": "synthetic:arxiv:0.01", "TRIALS": 2})
    assert len(names["study"].trials) == 2 and len(list((tmp_path / "runs").glob("*/run.json"))) == 2
    assert 0 < names["study"].best_value <= 1


def test_the_script_for_pyg_trains(tmp_path):
    text = (ROOT / "python/examples/pyg_script.py").read_text()
    (line,) = re.findall(r"^from salient_gnn import NeighborLoader  # instead of: (.*)$", text, re.M)
    assert line == "from torch_geometric.loader import NeighborLoader" and text.count("salient_gnn.") == 1  # data_of()
    script = [sys.executable, ROOT / "python/examples/pyg_script.py", DATASET, "--epochs", "3"]
    done = Job(script, {"TMPDIR": str(tmp_path)}).end()
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r"^accuracy: train (\S+), validation (\S+), test (\S+)$", done.stdout, re.M)
    assert float(accuracy[3]) > 5 * CHANCE, done.stdout
    assert done.stderr.count("without effect") == 1
    assert list(tmp_path.glob("salient-data-*")) == []  # nothing stays


def test_the_notebook_runs(monkeypatch):
    monkeypatch.setenv("DATASET", DATASET)
    book, names = json.loads((ROOT / "python/examples/nodes.ipynb").read_text()), {}
    assert book["nbformat"] == 4 and all(not cell.get("outputs") for cell in book["cells"])
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert names["history"][-1] > 5 * CHANCE and names["test_accuracy"] > 5 * CHANCE
