# tests/python/edge_weight_test.py - weights of edges: into a store, in batches and in draws, under PyG's names.
import pickle

import pytest
import salient_gnn
import torch

NODES, EDGES = 60, 400


@pytest.fixture(scope="module")
def arrays():
    """Distinct edges with distinct weights, and features."""
    generator = torch.Generator().manual_seed(1)
    keys = torch.randperm(NODES * NODES, generator=generator)[:EDGES]
    edge_index = torch.stack([keys // NODES, keys % NODES])
    return edge_index, 0.1 + torch.rand(EDGES, generator=generator), torch.rand(NODES, 4, generator=generator)


@pytest.fixture(scope="module")
def dataset(arrays, tmp_path_factory):
    edge_index, edge_weight, x = arrays
    return salient_gnn.Dataset.from_arrays(tmp_path_factory.mktemp("weights") / "data", edge_index, x,
                                           edge_weight=edge_weight)  # fmt: skip


def weight_of(edge_index, edge_weight):
    return {(int(s), int(d)): float(w) for (s, d), w in zip(edge_index.T, edge_weight, strict=True)}


def test_a_store_has_the_weight_of_every_edge(dataset, arrays):
    edge_index, edge_weight, _ = arrays
    assert dataset.edge_weight.dtype == torch.float32
    assert weight_of(dataset.edge_index, dataset.edge_weight) == weight_of(edge_index, edge_weight)


@pytest.mark.parametrize("draw", ["uniform", "labor", "weighted", "with-replacement"])
def test_batches_have_those_of_their_edges(dataset, arrays, draw):
    known = weight_of(*arrays[:2])
    for batch in salient_gnn.NeighborLoader(dataset, "all", [4, 3], 20, edge_weight=True, draw=draw):
        ends = batch.n_id[batch.edge_index]
        assert [known[int(s), int(d)] for s, d in ends.T] == batch.edge_weight.tolist()
        assert torch.equal(batch.edge_weight, dataset.edge_weight[batch.e_id])
        for layer in batch.layers:
            ends = batch.n_id[layer.edge_index]
            assert [known[int(s), int(d)] for s, d in ends.T] == layer.edge_weight.tolist()
        assert "edge_weight" in batch and torch.equal(batch.to_pyg().edge_weight, batch.edge_weight)


def test_only_where_they_are_asked_for(dataset):
    plain = next(iter(salient_gnn.NeighborLoader(dataset, "all", [4], 20)))
    with_weights = next(iter(salient_gnn.NeighborLoader(dataset, "all", [4], 20, edge_weight=True)))
    assert torch.equal(plain.edge_index, with_weights.edge_index) and plain.layers[0].edge_weight is None
    with pytest.raises(AttributeError, match="a Batch has no 'edge_weight'"):
        plain.edge_weight
    drawn = salient_gnn.NeighborLoader(dataset, [4], input_nodes=None, weight_attr="edge_weight")
    assert "edge_weight" in next(iter(pickle.loads(pickle.dumps(drawn)))), "as PyG's batches have it"


def test_pygs_models_give_the_numbers_of_the_whole_graph(dataset, arrays):
    nn = pytest.importorskip("torch_geometric.nn")
    edge_index, edge_weight, x = arrays
    torch.manual_seed(0)
    for conv in (nn.GraphConv(4, 3), nn.GCNConv(4, 3, normalize=False)):
        with torch.no_grad():
            whole = conv(x, edge_index, edge_weight)
            for batch in salient_gnn.NeighborLoader(dataset, "all", [-1], 20, edge_weight=True):
                found = conv(batch.x, batch.edge_index, batch.edge_weight)[: batch.batch_size]
                torch.testing.assert_close(found, whole[batch.n_id[: batch.batch_size]], rtol=1e-5, atol=1e-5)
    norm = nn.GCNConv(4, 3)
    with torch.no_grad():  # all nodes: the rows, and so the normalisation, are those of the graph
        (batch,) = salient_gnn.NeighborLoader(dataset, "all", [-1], NODES, edge_weight=True)
        found = norm(batch.x, batch.edge_index, batch.edge_weight)
        torch.testing.assert_close(found, norm(x, edge_index, edge_weight)[batch.n_id], rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def data(arrays):
    """PyG's, with edges that are there twice, some of weight 0, and times of nodes."""
    pyg = pytest.importorskip("torch_geometric.data")
    edge_index, edge_weight, x = arrays
    twice = torch.cat([edge_index, edge_index[:, :50]], 1)
    weights = torch.cat([edge_weight, 2 + torch.arange(50.0)])
    weights[100:120] = 0
    times = torch.arange(NODES) * 7 % 40
    return pyg.Data(x=x, edge_index=twice, amount=weights, edge_weight=weights, time=times,
                    day=torch.arange(len(weights)) * 11 % 40)  # fmt: skip


def test_from_pyg_keeps_them(data, tmp_path):
    stored = salient_gnn.Dataset.from_pyg(data, tmp_path / "d")
    assert stored.num_edges == EDGES, "repeated edges are one, of the sum of their weights"
    assert float(stored.edge_weight.double().sum()) == pytest.approx(float(data.edge_weight.double().sum()), rel=1e-6)


def test_pygs_data_is_drawn_from_by_its_own_weights(data):
    loader = salient_gnn.NeighborLoader(data, [3, 2], input_nodes=None, batch_size=16, weight_attr="amount", workers=1)
    for batch in (*loader, *pickle.loads(pickle.dumps(loader))):
        ends = batch.n_id[batch.edge_index]
        assert torch.equal(data.edge_index[:, batch.e_id], ends), "also of edges that are there twice"
        assert torch.equal(batch.amount, data.amount[batch.e_id]) and (batch.amount > 0).all()
    (whole,) = salient_gnn.NeighborLoader(data, [-1], input_nodes=None, batch_size=NODES, weight_attr="amount")
    assert sorted(whole.e_id.tolist()) == (data.amount > 0).nonzero().flatten().tolist()


def test_pygs_data_is_drawn_from_by_the_times_of_nodes(data):
    loader = salient_gnn.NeighborLoader(data, [-1, -1], input_nodes=None, batch_size=16, time_attr="time", workers=1)
    for batch in (*loader, *pickle.loads(pickle.dumps(loader))):
        now = data.time[batch.n_id[: batch.batch_size]]
        assert (batch.time <= now[batch.batch])[batch.batch_size :].all()
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        seeds = batch.n_id[: batch.batch_size]
        rows = batch.edge_index[1] < batch.batch_size
        expected = sum(int((data.time[data.edge_index[0, data.edge_index[1] == v]] <= data.time[v]).sum())
                       for v in seeds)  # fmt: skip
        assert int(rows.sum()) == expected


def test_pygs_data_is_drawn_from_by_the_times_of_edges(data):
    nodes, times = torch.arange(20), torch.arange(20) + 15
    loader = salient_gnn.NeighborLoader(data, [-1], input_nodes=nodes, input_time=times, batch_size=7, time_attr="day")
    for batch in loader:
        assert torch.equal(batch.day, data.day[batch.e_id])
        now = times[batch.n_id[: batch.batch_size]]
        assert (batch.day <= now[batch.batch[batch.edge_index[1]]]).all()
        expected = sum(int(((data.edge_index[1] == v) & (data.day <= times[v])).sum())
                       for v in batch.n_id[: batch.batch_size])  # fmt: skip
        assert batch.num_edges == expected


def test_what_cannot_be_is_said(dataset, data, arrays, tmp_path):
    edge_index, edge_weight, x = arrays
    plain = salient_gnn.Dataset.from_arrays(tmp_path / "plain", edge_index, x)

    def refuse(words, of=data, **options):
        with pytest.raises((ValueError, salient_gnn.Error), match=words):
            salient_gnn.NeighborLoader(of, [2], input_nodes=[1, 2], **options)

    refuse("edge_weight: the edges of plain have no weights", of=plain, edge_weight=True)
    refuse("edge_weight: 'w'; True, or 'edge_weight'", of=dataset, edge_weight="w")
    refuse("weight_attr: 'absent' is no attribute of the edges of data", weight_attr="absent")
    refuse("weight_attr: 'time' is no attribute of the edges of data", weight_attr="time")
    refuse("time_attr: 5 is no attribute of the nodes or edges of data", time_attr=5)
    refuse("time_attr: 'amount' has torch.float32, not whole numbers", time_attr="amount")
    refuse("has no times of nodes; input_time has those of the seeds", time_attr="day")
    for bad, words in ((-1.0, "item 3 is -1.0, weights are finite and 0 or more"), (float("nan"), "item 3 is nan"),
                       (float("inf"), "item 3 is inf")):  # fmt: skip
        weights = edge_weight.clone()
        weights[3] = bad
        with pytest.raises(ValueError, match=words):
            salient_gnn.Dataset.from_arrays(tmp_path / "bad", edge_index, x, edge_weight=weights)
    with pytest.raises(ValueError, match=r"edge_weight: has shape \[399\], not \[400\]"):
        salient_gnn.Dataset.from_arrays(tmp_path / "bad", edge_index, x, edge_weight=edge_weight[1:])
    with pytest.raises(ValueError, match="edge_times: torch.float32 are no whole numbers"):
        salient_gnn.Dataset.from_arrays(tmp_path / "bad", edge_index, x, edge_times=edge_weight)


def test_batches_of_links_have_them_too(dataset, data):
    loader = salient_gnn.LinkNeighborLoader(data, [2, 2], data.edge_index[:, :40], neg_sampling="binary", batch_size=8,
                                            weight_attr="amount", workers=1)  # fmt: skip
    for batch in (*loader, *pickle.loads(pickle.dumps(loader))):
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(batch.amount, data.amount[batch.e_id])
    batch = next(iter(salient_gnn.LinkNeighborLoader(dataset, [3], batch_size=8, edge_weight=True, workers=1)))
    assert batch.num_edges > 0 and torch.equal(batch.edge_weight, dataset.edge_weight[batch.e_id])
