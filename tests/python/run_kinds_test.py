# tests/python/run_kinds_test.py - load_model() of every kind of run that salient-train writes: the programs' outputs.
"""Runs of plain models by counts of neighbours are in model_test.py, those with features of edges in
edge_attr_test.py."""
import csv
import os
import pathlib
import random
import subprocess

import pytest
import salient_gnn
import torch

pytest.importorskip("torch_geometric")
PROGRAMS = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
pytestmark = pytest.mark.skipif(not (PROGRAMS / "salient-train").exists(), reason="SALIENT_BIN has none")

NODES = 60
SMALL = {"device": "cpu", "hidden": 8, "layers": 2, "fanout": [5, 5], "epochs": 1, "quiet": True}


def prepared(folder, command, *words):
    subprocess.run([PROGRAMS / "salient-prepare", command, *words, "--out", folder, "--progress", "none"], check=True,
                   capture_output=True)  # fmt: skip
    return salient_gnn.Dataset.open(folder)


def assert_same(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert expected.abs().max() > 1e-3


@pytest.fixture(scope="module")
def weighted(tmp_path_factory):
    """By name: edges with weights, some of them 0, self loops and nodes without edges; and with features, too."""
    folder, draw = tmp_path_factory.mktemp("weighted"), random.Random(1)
    edges = [(draw.randrange(NODES - 5), draw.randrange(NODES - 5)) for _ in range(250)] + [(v, v) for v in range(9)]
    lines = [f"{a},{b},{draw.choice([0, 0.5, 1, 2, 7])},{draw.random():.3f},{draw.random():.3f}\n" for a, b in edges]
    (folder / "edges.csv").write_text("s,t,w,f,g\n" + "".join(lines))
    rows = [f"{v},{draw.random():.3f},{draw.random():.3f},{v % 3}\n" for v in range(NODES)]
    (folder / "nodes.csv").write_text("id,x,y,label\n" + "".join(rows))
    words = ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--label", "label", "--weight-column",
             "w", "--split", "0.6,0.2,0.2", "--symmetric", "no"]  # fmt: skip
    features = ["--edge-feature-columns", "f,g", "--feature-dtype", "f32"]
    return {"weights": prepared(folder / "weights", "edges", *words),
            "features": prepared(folder / "features", "edges", *words, *features)}  # fmt: skip


@pytest.mark.parametrize("name, options", [
    ("weights", {"model": "sage"}),
    ("weights", {"model": "sage", "norm": "batch", "jk": "cat", "residual": True}),
    ("weights", {"model": "sage-ri"}),
    ("weights", {"model": "gcn", "gcn_norm": "row"}),
    ("weights", {"model": "gcn", "gcn_norm": "symmetric", "jk": "max"}),
    ("weights", {"model": "gat", "heads": 2}),
    ("weights", {"model": "gatv2", "heads": 2}),
    ("weights", {"model": "transformer", "heads": 2}),
    ("features", {"model": "sage"}),
    ("features", {"model": "gat", "heads": 2}),
    ("features", {"model": "gatv2", "heads": 2}),
    ("features", {"model": "transformer", "heads": 2}),
])  # fmt: skip
def test_neighbours_count_by_the_weights_of_edges(weighted, tmp_path, name, options):
    data = weighted[name]
    run = salient_gnn.train(data, out=tmp_path / "run", aggregate="weighted", **SMALL, **options)
    predicted = salient_gnn.predict(run, "all", exact=True, device="cpu", quiet=True)
    model, x = salient_gnn.load_model(run), data.x.float()
    with torch.no_grad():
        whole = model(x, data.edge_index, data.edge_attr, data.edge_weight)
        assert_same(whole[predicted.ids], predicted.logits)
        with pytest.raises(ValueError, match=r"counts neighbours by the weights of edges: edge_weight \[E\]"):
            model(x, data.edge_index, data.edge_attr)
        if options.get("gcn_norm") != "symmetric":
            loader = salient_gnn.NeighborLoader(data, "all", [-1, -1], NODES, edge_weight=True,
                                                edge_attr=name == "features", workers=1)  # fmt: skip
            (batch,) = loader
            assert_same(model(batch.x, batch.layers), whole[batch.n_id])


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("links"), random.Random(2)
    pairs = [(draw.randrange(NODES), draw.randrange(NODES)) for _ in range(300)]
    (folder / "edges.csv").write_text("s,t\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    return prepared(folder / "data", "edges", "--edges", folder / "edges.csv", "--make-features", "degree",
                    "--edge-split", "0.8,0.1,0.1")  # fmt: skip


def scores_of(run, file, out, *words):
    """What salient-infer --links says: rows of scores.csv."""
    subprocess.run([PROGRAMS / "salient-infer", "--run", run, "--links", file, "--out", out, "--device", "cpu", *words],
                   check=True, capture_output=True)  # fmt: skip
    with open(out / "scores.csv", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("decoder", ["dot", "mlp", "distmult", "complex", "rotate"])
def test_an_encoder_has_the_decoder_of_its_links(links, tmp_path, decoder):
    run = salient_gnn.train(links, out=tmp_path / "run", task="link", decoder=decoder, **SMALL)
    pairs = torch.tensor([[1, 3, 5, 7], [2, 4, 9, 7]])
    (tmp_path / "pairs.csv").write_text("s,t\n" + "".join(f"{a},{b}\n" for a, b in pairs.T.tolist()))
    rows = scores_of(run, tmp_path / "pairs.csv", tmp_path / "out", "--exact")
    model = salient_gnn.load_model(run)
    with torch.no_grad():
        found = model.scores(model(links.x.float(), links.edge_index), links.rows_of(pairs.flatten()).view(2, -1))
    assert_same(found, torch.tensor([float(row["score"]) for row in rows]))


@pytest.mark.parametrize("decoder", ["distmult", "complex", "rotate"])
def test_embeddings_are_pygs_models(tmp_path, decoder):
    draw = random.Random(3)
    known = sorted({(draw.choice("abcdefghij"), f"r{draw.randrange(3)}", draw.choice("abcdefghij")) for _ in range(90)})
    draw.shuffle(known)
    parts = {"train": known[:-8], "valid": known[-8:-4], "test": known[-4:]}
    words = []
    for part, triples in parts.items():
        (tmp_path / f"{part}.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
        words += [f"--{part}", tmp_path / f"{part}.txt"]
    data = prepared(tmp_path / "data", "triples", *words)
    run = salient_gnn.train(data, out=tmp_path / "run", task="link", model="none", decoder=decoder, hidden=8, epochs=2,
                            quiet=True)  # fmt: skip
    rows = scores_of(run, tmp_path / "test.txt", tmp_path / "out")
    model = salient_gnn.load_model(run)
    entities = list(data[data.node_types[0]].source_ids)
    relations = [name for _, name, _ in data.edge_types]
    head, relation, tail = zip(*[(entities.index(row["source"]), relations.index(row["relation"]),
                                  entities.index(row["destination"])) for row in rows])  # fmt: skip
    with torch.no_grad():
        found = model(*(torch.tensor(part) for part in (head, relation, tail)))
    assert_same(found, torch.tensor([float(row["score"]) for row in rows]))


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    generator = torch.Generator().manual_seed(4)

    def ends(sources, destinations, count=80):
        return torch.stack([torch.randint(n, (count,), generator=generator) for n in (sources, destinations)])

    edges = {("author", "writes", "paper"): ends(20, 30), ("paper", "cites", "paper"): ends(30, 30)}
    return salient_gnn.Dataset.from_typed_arrays(
        tmp_path_factory.mktemp("typed") / "data", edges, {"paper": torch.rand(30, 6, generator=generator)},
        torch.arange(30) % 3, target="paper", num_nodes={"author": 20}, train=range(20), valid=range(20, 25),
        test=range(25, 30))  # fmt: skip


@pytest.mark.parametrize("options", [
    {"model": "rgcn", "bases": 2}, {"model": "rsage", "jk": "cat", "activate_input": True, "norm": "layer"},
    {"model": "rgat", "heads": 2}, {"model": "hgt", "heads": 2},
])  # fmt: skip
def test_typed_models(typed, tmp_path, options):
    run = salient_gnn.train(typed, out=tmp_path / "run", **SMALL, **options)
    predicted = salient_gnn.predict(run, "all", exact=True, device="cpu", quiet=True)
    model = salient_gnn.load_model(run)
    x = {name: typed[name].x.float() for name in typed.node_types if typed[name].num_features > 0}
    with torch.no_grad():
        whole = model(x, {relation: typed[relation].edge_index for relation in typed.edge_types})
    assert_same(whole["paper"][predicted.ids], predicted.logits)
