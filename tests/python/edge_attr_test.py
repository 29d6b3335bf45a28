# tests/python/edge_attr_test.py - features of edges: into a store, and in batches, under PyG's names.
import os
import pathlib
import subprocess

import pytest
import salient_gnn
import torch

NODES, EDGES, WIDTH = 60, 400, 3
programs = pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-train").exists(), reason="SALIENT_BIN has none"
)


@pytest.fixture(scope="module")
def arrays():
    generator = torch.Generator().manual_seed(1)
    edge_index = torch.randint(0, NODES, (2, EDGES), generator=generator)
    return edge_index, torch.rand(EDGES, WIDTH, generator=generator), torch.rand(NODES, 4, generator=generator)


@pytest.fixture(scope="module")
def dataset(arrays, tmp_path_factory):
    edge_index, edge_attr, x = arrays
    y = torch.arange(NODES) % 2
    return salient_gnn.Dataset.from_arrays(tmp_path_factory.mktemp("edges") / "data", edge_index, x, y,
                                           train=range(NODES), edge_attr=edge_attr)  # fmt: skip


def triples(edge_index, edge_attr):
    """Each edge with its features, in an order of their own."""
    return sorted((int(s), int(d), tuple(row.tolist())) for (s, d), row in zip(edge_index.T, edge_attr))


def test_a_store_has_the_features_of_every_edge(dataset, arrays):
    edge_index, edge_attr, _ = arrays
    assert dataset.num_edges == EDGES  # the repeated ones, too
    assert dataset.edge_attr.shape == (EDGES, WIDTH) and dataset.edge_attr.dtype == torch.float32
    assert triples(dataset.edge_index, dataset.edge_attr) == triples(edge_index, edge_attr)


@pytest.mark.parametrize("asked", [True, "edge_attr"])
@pytest.mark.parametrize("draw", ["uniform", "labor", "with-replacement"])
def test_batches_have_those_of_their_edges(dataset, asked, draw):
    of_entry = dataset.edge_attr
    for batch in salient_gnn.NeighborLoader(dataset, "all", [4, 3], batch_size=20, edge_attr=asked, draw=draw):
        assert torch.equal(batch.edge_attr, of_entry[batch.e_id]) and len(batch.edge_attr) == batch.num_edges
        assert torch.equal(dataset.edge_index[:, batch.e_id], batch.nodes.long()[batch.edge_index])
        for layer in batch.layers:
            known = set(triples(dataset.edge_index, of_entry))
            assert set(triples(batch.nodes.long()[layer.edge_index], layer.edge_attr)) <= known
        assert "edge_attr" in batch and torch.equal(batch.to_pyg().edge_attr, batch.edge_attr)


def test_batches_are_the_same_without(dataset):
    plain = salient_gnn.NeighborLoader(dataset, "all", [4, 3], batch_size=20)
    for one, other in zip(plain, salient_gnn.NeighborLoader(dataset, "all", [4, 3], batch_size=20, edge_attr=True),
                          strict=True):  # fmt: skip
        assert torch.equal(one.edge_index, other.edge_index) and torch.equal(one.x, other.x)
        assert "edge_attr" not in one and one.layers[0].edge_attr is None
        with pytest.raises(AttributeError, match="a Batch has no 'edge_attr'"):
            one.edge_attr


def test_dtype_is_the_loaders(dataset):
    batch = next(iter(salient_gnn.NeighborLoader(dataset, "all", [4], edge_attr=True, dtype=torch.float64)))
    assert batch.edge_attr.dtype == batch.layers[0].edge_attr.dtype == torch.float64


def test_pygs_convolutions_take_them(dataset):
    nn = pytest.importorskip("torch_geometric.nn")
    conv = nn.GATv2Conv(4, 2, edge_dim=WIDTH)
    for batch in salient_gnn.NeighborLoader(dataset, "all", [4], batch_size=20, edge_attr=True):
        (layer,) = batch.layers
        assert conv((batch.x, batch.x[: layer.num_dst]), layer.edge_index, edge_attr=layer.edge_attr).shape == (20, 2)


def test_pygs_data_brings_its_own(arrays, tmp_path):
    """dgl#7591: features are by the source's order of edges, and those that are sampled are numbered otherwise."""
    data = pytest.importorskip("torch_geometric.data")
    edge_index, edge_attr, x = arrays
    given = data.Data(x=x, edge_index=edge_index, edge_attr=edge_attr, y=torch.arange(NODES) % 2)
    stored = salient_gnn.Dataset.from_pyg(given, tmp_path / "data")
    assert triples(stored.edge_index, stored.edge_attr) == triples(edge_index, edge_attr)
    for asked in (None, True):  # as it has without, too
        batch = next(iter(salient_gnn.NeighborLoader(given, [4], input_nodes=None, edge_attr=asked)))
        assert torch.equal(batch.edge_attr, edge_attr[batch.e_id])


def prepared(folder, lines, *options):
    """A store of the edges source,target,value,number, whose feature is their number."""
    (folder / "edges.csv").write_text("source,target,value,number\n" + "".join(lines))
    prepare = pathlib.Path(os.environ["SALIENT_BIN"]) / "salient-prepare"
    words = ["--edges", folder / "edges.csv", "--edge-feature-columns", "number", "--scale-features", "none",
             "--feature-dtype", "f32", "--symmetric", "no", "--make-features", "degree", *options]  # fmt: skip
    subprocess.run([prepare, "edges", *words, "--out", folder / "data", "--progress", "none"], check=True)
    return salient_gnn.Dataset.open(folder / "data")


@programs
def test_a_hub_keeps_neighbours_that_count(tmp_path):
    """pyg#5345: a node with many more edges than its fanout, of which few have a weight; no other is drawn."""
    lines = [f"{1 + m},0,{int(m % 97 == 5)},{m}\n" for m in range(1000)]
    dataset = prepared(tmp_path, lines, "--weight-column", "value")
    drawn = set()
    for seed in range(20):
        (batch,) = salient_gnn.NeighborLoader(dataset, [0], [4], draw="weighted", edge_attr=True, seed=seed)
        numbers = batch.edge_attr.flatten().long().tolist()
        assert len(numbers) == 4 and all(number % 97 == 5 for number in numbers)
        drawn.update(numbers)
    assert len(drawn) > 6  # of the eleven there are


@programs
def test_edges_with_times_know_their_places(tmp_path):
    lines = [f"{m * 7 % 30},{m * 11 % 30},{m % 5},{m}\n" for m in range(200)]
    dataset = prepared(tmp_path, lines, "--time-column", "value")
    batch = next(iter(salient_gnn.NeighborLoader(dataset, "all", [3], edge_attr=True)))
    number = batch.edge_attr.flatten().long()
    assert torch.equal(batch.nodes[batch.edge_index[0]].long(), number * 7 % 30)
    assert torch.equal(batch.nodes[batch.edge_index[1]].long(), number * 11 % 30)
    assert torch.equal(dataset.edge_times[batch.e_id], number % 5)


@programs
@pytest.mark.parametrize("options", [{"model": "sage"}, {"model": "sage", "aggr": "max", "jk": "cat"},
                                     {"model": "gat", "heads": 2}, {"model": "gatv2", "heads": 2},
                                     {"model": "transformer", "heads": 2}, {"model": "gine"}])  # fmt: skip
def test_a_runs_model_in_pyg_gives_the_programs_logits(dataset, tmp_path, options):
    pytest.importorskip("torch_geometric")
    common = {"quiet": True, "device": "cpu"}
    run = salient_gnn.train(dataset, out=tmp_path / "run", hidden=8, layers=2, fanout=[5, 5], epochs=2, **common,
                            **options)  # fmt: skip
    predicted = salient_gnn.predict(run, "all", exact=True, **common)
    model = salient_gnn.load_model(run)
    batch = next(iter(salient_gnn.NeighborLoader(dataset, "all", [-1, -1], NODES, edge_attr=True)))
    with torch.no_grad():
        whole = model(dataset.x, dataset.edge_index, dataset.edge_attr)
        logits = model(batch.x, batch.layers)
    assert torch.allclose(whole, predicted.logits, atol=1e-4, rtol=1e-4)
    assert torch.allclose(logits, predicted.logits, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="reads 3 features of each edge: edge_attr of the whole graph"):
        model(dataset.x, dataset.edge_index)


def test_what_cannot_be_is_said(dataset, arrays, tmp_path):
    edge_index, edge_attr, x = arrays
    plain = salient_gnn.Dataset.from_arrays(tmp_path / "plain", edge_index, x)
    with pytest.raises(ValueError, match="edge_attr: the edges of plain have no features"):
        salient_gnn.NeighborLoader(plain, "all", [3], edge_attr=True)
    with pytest.raises(ValueError, match="edge_attr: 'weight'; True, or 'edge_attr'"):
        salient_gnn.NeighborLoader(dataset, "all", [3], edge_attr="weight")
    with pytest.raises(ValueError, match=r"edge_attr: has shape \[399, 3\], not \[400, D\]"):
        salient_gnn.Dataset.from_arrays(tmp_path / "short", edge_index, x, edge_attr=edge_attr[1:])
    bad = edge_attr.clone()
    bad[7, 1] = float("nan")
    with pytest.raises(salient_gnn.Error, match="edge_attr: row 7, column 1 is nan"):
        salient_gnn.Dataset.from_arrays(tmp_path / "nan", edge_index, x, edge_attr=bad)
