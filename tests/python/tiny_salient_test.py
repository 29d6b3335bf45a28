# tests/python/tiny_salient_test.py - examples/tiny_salient computes what the engine computes: the same batches, losses
# equal to the rounding of sums.
import importlib.util
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import torch

FILE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "tiny_salient" / "tiny_salient.py"
BIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
needs_programs = pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="SALIENT_BIN has none")


def load():
    spec = importlib.util.spec_from_file_location("tiny_salient", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tiny = load()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiny") / "data"
    words = ["--nodes", "1500", "--mean-degree", "9", "--features", "8", "--classes", "5", "--out", str(made)]
    subprocess.run([BIN / "salient-prepare", "synthetic", *words], check=True, capture_output=True, timeout=100)
    return made


def engine_rows(folder, options, out):
    """metrics.jsonl of salient-train with the same options."""
    words = []
    for name, value in options._asdict().items():
        if name != "ranks":
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
    words += ["--dataset", folder, "--out", out, "--device", "cpu", "--precision", "fp32", "--threads", "1",
              "--progress", "none"]
    made = subprocess.run([BIN / "salient-train", *map(str, words)], capture_output=True, text=True, timeout=100)
    assert made.returncode == 0, made.stderr
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


SMALL = tiny.Options(fanout=(4, 3), eval_fanout=(5, 5), hidden=16, batch_size=128, epochs=3, seed=3, workers=1)


@needs_programs
@pytest.mark.parametrize("options", [
    SMALL,
    SMALL._replace(fanout=(3, -1, 2), eval_fanout=(-1, 5, 5), dropout=0.3, lr=0.01, seed=7),
    SMALL._replace(fanout=(6,), eval_fanout=(6,), hidden=300, dropout=0.0, batch_size=200, epochs=2, seed=4294967295),
], ids=["two layers", "all neighbours in a hop", "one layer"])  # fmt: skip
def test_batches_and_losses_are_those_of_the_engine(folder, options, tmp_path):
    engine = engine_rows(folder, options, tmp_path / "run")
    rows = list(tiny.train(tiny.open_graph(folder), options))
    assert len(rows) == options.epochs == len(engine)
    for mine, theirs in zip(rows, engine):
        for name in ("hop_nodes", "hop_edges"):
            assert mine[name] == theirs[name]
        assert mine["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
        assert mine["valid_accuracy"] == pytest.approx(theirs["valid_accuracy"], abs=1e-3)


@needs_programs
def test_threads_and_ranks_change_nothing(folder):
    graph = tiny.open_graph(folder)
    alone = [row["loss"] for row in tiny.train(graph, SMALL)]
    assert [row["loss"] for row in tiny.train(graph, SMALL._replace(workers=3))] == alone
    ranks = [row["loss"] for row in tiny.train(graph, SMALL._replace(batch_size=64, ranks=2))]
    assert ranks == pytest.approx(alone, rel=1e-5)


def test_philox_gives_the_numbers_that_random123_publishes():
    words = tiny.philox((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344))
    assert words[:, 0].tolist() == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_a_draw_is_below_its_bound_and_all_subsets_are_as_likely():
    key, nodes = tiny.BatchKey(1, 2, 3), np.arange(20000)
    chosen = np.sort(tiny.choose(key, 0, nodes, np.full(len(nodes), 5), 2), axis=1)
    assert chosen.min() == 0 and chosen.max() == 4 and (chosen[:, 0] < chosen[:, 1]).all()
    counts = np.unique(chosen @ [5, 1], return_counts=True)[1]
    assert len(counts) == 10
    assert ((counts - 2000) ** 2 / 2000).sum() < 33.7  # chi-square, 9 degrees of freedom, 1 in 10,000


def test_a_batch_is_one_block_of_memory():
    slab, views = tiny.to_slab([np.arange(3), np.ones((2, 5), np.float16), np.zeros((0, 4), np.float32)])
    assert slab.numel() == 512 and views[1].storage_offset() * 2 == 256
    assert views[0].tolist() == [0, 1, 2] and views[1].dtype == torch.float16 and views[2].shape == (0, 4)
    views[0][0] = 9
    assert slab[0] == 9
