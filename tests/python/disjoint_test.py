# tests/python/disjoint_test.py - disjoint=True: every seed has a tree of its own, as PyG says it.
import pickle

import pytest
import salient_gnn
import torch
from conftest import FANOUTS

LOADER = salient_gnn.NeighborLoader


def edges_of(batch, tree=None):
    """Edges of edge_index by ids, of the whole batch or of one seed's tree."""
    edge_index = batch.edge_index if tree is None else batch.edge_index[:, batch.batch[batch.edge_index[1]] == tree]
    return sorted(map(tuple, batch.n_id[edge_index].T.tolist()))


@pytest.mark.parametrize("draw", ["uniform", "labor", "with-replacement"])
def test_a_tree_is_what_its_seed_has_alone(dataset, draw):
    nodes = dataset.train[:8].tolist()
    (together,) = LOADER(dataset, nodes, FANOUTS, 8, disjoint=True, draw=draw, workers=1)
    assert together.batch[:8].tolist() == list(range(8)) and len(together.batch) == together.num_nodes
    sources, destinations = together.batch[together.edge_index]
    assert torch.equal(sources, destinations), "no edge joins two trees"
    for tree, node in enumerate(nodes):
        (alone,) = LOADER(dataset, [node], FANOUTS, 8, draw=draw, workers=1)
        assert edges_of(together, tree) == edges_of(alone)
        assert sorted(together.n_id[together.batch == tree].tolist()) == sorted(alone.n_id.tolist())
    assert torch.equal(together.x, dataset.x[together.n_id].float())
    assert torch.equal(together.y, dataset.y[torch.tensor(nodes)].long())


def test_a_node_that_two_seeds_reach_is_there_twice(dataset):
    apart = next(iter(LOADER(dataset, "valid", [5, 5], 100, disjoint=True, workers=1)))
    shared = next(iter(LOADER(dataset, "valid", [5, 5], 100, workers=1)))
    assert len(apart.n_id.unique()) < apart.num_nodes and len(shared.n_id.unique()) == shared.num_nodes
    assert shared.batch is None and "batch" not in shared and "batch" in apart
    pairs = torch.stack([apart.batch, apart.n_id])
    assert pairs.unique(dim=1).shape[1] == apart.num_nodes, "in a tree it is there once"
    item = apart.to_pyg()
    assert torch.equal(item.batch, apart.batch) and item.validate()
    assert apart.num_sampled_nodes[0] == 100 and sum(apart.num_sampled_nodes) == apart.num_nodes


def test_workers_and_copies_change_nothing(dataset):
    loaders = [LOADER(dataset, "train", [4, 3], 64, disjoint=True, shuffle=True, workers=w) for w in (0, 1, 3)]
    loaders.append(pickle.loads(pickle.dumps(loaders[0])))
    first, *others = [[(b.n_id.tolist(), b.edge_index.tolist()) for b in loader] for loader in loaders]
    assert all(other == first for other in others)


def test_readouts_of_pyg_take_the_trees(dataset):
    nn = pytest.importorskip("torch_geometric.nn")
    batch = next(iter(LOADER(dataset, "train", [3, 2], 32, disjoint=True, workers=1)))
    means = nn.global_mean_pool(batch.x, batch.batch)
    assert means.shape == (32, dataset.num_features)
    torch.testing.assert_close(means[5], batch.x[batch.batch == 5].mean(0))


def test_with_times_every_seed_has_its_own_tree(tmp_path):
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(0, 40, (2, 500), generator=generator)
    data = salient_gnn.Dataset.from_arrays(
        tmp_path / "timed", edges, torch.rand(40, 2, generator=generator),
        edge_times=torch.randint(0, 30, (500,), generator=generator), node_times=torch.full((40,), 15))  # fmt: skip
    assert int(data.edge_times.max()) < 30 and data.node_times.tolist() == [15] * 40
    pygs = next(iter(LOADER(data, [-1, 4], input_nodes=range(20), time_attr="edge_time", workers=1)))
    own = next(iter(LOADER(data, range(20), [-1, 4], time_rule="le", disjoint=True, workers=1)))
    shared = next(iter(LOADER(data, range(20), [-1, 4], time_rule="le", workers=1)))
    said = next(iter(LOADER(data, [-1, 4], input_nodes=range(20), time_attr="edge_time", disjoint=False, workers=1)))
    assert torch.equal(pygs.n_id, own.n_id) and torch.equal(pygs.edge_index, own.edge_index)
    assert torch.equal(pygs.batch, own.batch) and shared.batch is None
    assert torch.equal(shared.n_id, said.n_id) and shared.num_nodes < own.num_nodes
    (admitted,) = LOADER(data, range(20), [-1], 20, time_rule="le", disjoint=True, edge_weight=False, workers=1)
    expected = ((data.edge_index[1] < 20) & (data.edge_times <= 15)).sum()
    assert admitted.num_edges == int(expected)


def test_what_has_no_trees_of_its_own_says_so(dataset, tmp_path):
    typed = salient_gnn.Dataset.from_typed_arrays(
        tmp_path / "typed", {("a", "r", "b"): torch.zeros(2, 1).long()}, {"b": torch.ones(1, 1)}, [0], target="b")
    with pytest.raises(ValueError, match="disjoint: True is not possible here: seeds of typed graphs"):
        LOADER(typed, "all", [2], disjoint=True)
    with pytest.raises(ValueError, match="disjoint: True is not possible here: the ends of links"):
        salient_gnn.LinkNeighborLoader(dataset, [2], disjoint=True)
    with pytest.raises(ValueError, match="sampler: 'device' is not possible"):
        LOADER(dataset, "all", [2], disjoint=True, sampler="device")
