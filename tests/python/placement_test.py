# tests/python/placement_test.py - where features and graph of a loader are: the plan, and batches of cached rows. The
# CPU plays the GPU; loader_gpu_test.py has one.
import pytest
import salient_gnn
import torch
from conftest import FANOUTS
from salient_gnn import Dataset, LinkNeighborLoader, NeighborLoader, _core
from salient_gnn.placement import Placement


def decide(monkeypatch, *decision):
    monkeypatch.setattr(Placement, "_decide", lambda *request: decision)


def stored(dataset, folder, kind):
    """The same graph with features as they may be stored."""
    if kind == "f16":
        return Dataset.open("synthetic:arxiv:0.02")  # which shares no cache with other tests
    x = {"f32": dataset.x.float() * 1.001, "fp8": dataset.x}[kind]
    return Dataset.from_arrays(folder / kind, dataset.edge_index, x, dataset.y, fp8=kind == "fp8")


@pytest.mark.parametrize("kind", ["f16", "f32", "fp8"])
@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_batches_of_cached_rows_are_those_of_the_host(dataset, tmp_path, monkeypatch, kind, share):
    data = stored(dataset, tmp_path, kind)
    options = {"nodes": range(700), "fanouts": FANOUTS, "batch_size": 64, "shuffle": True, "workers": 2, "dtype": None}
    expected = list(NeighborLoader(data, **options))
    count = int(share * data.num_nodes)
    decide(monkeypatch, "cached", "host", count)
    loader = NeighborLoader(data, **options)
    assert loader.features_on == "cached"
    cache = data._on_device["cache", loader.device]
    assert len(cache.rows) == len(torch.from_dlpack(cache.nodes.ids)) == count
    found = list(loader)
    assert len(found) == len(expected)
    for there, here in zip(found, expected):
        assert torch.equal(there.nodes, here.nodes)
        assert there.x.dtype == here.x.dtype and torch.equal(there.x, here.x)
        assert torch.equal(there.y, here.y) and torch.equal(there.edge_index, here.edge_index)
        hits = torch.isin(here.nodes, torch.from_dlpack(cache.nodes.ids)).float().mean().item()
        assert hits >= share, "rows that batches meet most are the cached ones"
        if share == 1:
            assert there._core.num_bytes < here._core.num_bytes


def test_loaders_of_a_data_set_share_its_cache(arrays, tmp_path, monkeypatch):
    data = Dataset.from_arrays(tmp_path / "ring", **arrays)
    decide(monkeypatch, "cached", "host", 3)
    loaders = [NeighborLoader(data, nodes, [2], workers=0, dtype=None) for nodes in ([0, 1], [4], "all")]
    rows = [loader._facts["cache"].rows.data_ptr() for loader in loaders]
    assert rows == [rows[0]] * 3
    for loader in loaders:
        for batch in loader:
            assert torch.equal(batch.x, data.x[batch.nodes])
    links = LinkNeighborLoader(data, [2], batch_size=4, workers=0, neg_sampling="binary", dtype=None)
    for batch in links:
        assert torch.equal(batch.x, data.x[batch.nodes])


def test_a_cache_of_links_has_the_nodes_with_the_longest_rows(monkeypatch):
    decide(monkeypatch, "cached", "host", 50)
    fresh = Dataset.open("synthetic:arxiv:0.02")
    loader = LinkNeighborLoader(fresh, [3], torch.tensor([[1, 2], [3, 4]]), workers=0)
    ids = torch.from_dlpack(loader._facts["cache"].nodes.ids).long()
    degrees = fresh.indptr.diff()
    others = torch.ones(fresh.num_nodes, dtype=torch.bool).index_fill_(0, ids, False)
    assert degrees[ids].min() >= degrees[others].max()


def plan_of(dataset, features="auto", sampler="host", free=0, reserved=0, cache=0):
    request = _core.PlacementRequest()
    request.set_seeds(dataset.train.long().numpy())
    request.batch_size, request.features, request.sampler = 16, features, sampler
    request.free_bytes, request.reserved_bytes, request.cache_bytes = free, reserved, cache
    options = _core.StreamOptions()
    options.rule, options.num_workers = _core.SamplingRule([2, 2], "uniform"), 2
    return _core.plan_placement(dataset._core, options, request)


def test_the_plan_takes_the_best_that_fits():
    """Free memory from much to nothing: all rows, then fewer and fewer in a cache, then none."""
    dataset = Dataset.open("synthetic:arxiv:0.2")
    total = dataset._core.feature_bytes
    plans = [plan_of(dataset, free=total * percent // 100) for percent in range(120, -1, -4)]
    places = [plan[0] for plan in plans]
    assert places == sorted(places, key=["device", "cached", "host"].index) and set(places) == {
        "device", "cached", "host"}  # fmt: skip
    rows = [plan[2] for plan in plans if plan[0] == "cached"]
    assert rows == sorted(rows, reverse=True) and dataset.num_nodes > rows[0] > rows[-1] >= dataset.num_nodes // 50
    assert plan_of(dataset, free=2 * total, reserved=total * 6 // 5) == plan_of(dataset, free=total * 4 // 5)
    assert plan_of(dataset, "host", free=1 << 40) == ("host", "host", 0)
    assert plan_of(dataset, "device")[0] == "device", "what is asked for is not weighed"
    assert plan_of(dataset, "cached", free=1 << 40, cache=100 * total // dataset.num_nodes) == ("cached", "host", 100)
    assert plan_of(dataset, sampler="auto", free=1 << 40) == ("device", "device", 0)
    assert plan_of(dataset, sampler="auto", free=total * 6 // 5)[:2] == ("device", "host"), "never a part of the graph"


def test_what_cannot_be_is_refused(dataset, tmp_path, arrays):
    with pytest.raises(ValueError, match="features: 'cached' is not possible, batches are on cpu"):
        NeighborLoader(dataset, "train", FANOUTS, features="cached")
    with pytest.raises(ValueError, match="features: 'gpu' is none of auto, host, cached, device"):
        NeighborLoader(dataset, "train", FANOUTS, features="gpu")
    with pytest.raises(ValueError, match="sampler: 'cached' is none of auto, host, device"):
        NeighborLoader(dataset, "train", FANOUTS, sampler="cached")
    with pytest.raises(ValueError, match="cache_bytes"):
        NeighborLoader(dataset, "train", FANOUTS, cache_bytes=-1)
    with pytest.raises(salient_gnn.Error, match="sparse"):
        sparse = Dataset.from_arrays(tmp_path / "sparse", **{**arrays, "x": torch.eye(6).to_sparse()})
        plan_of(sparse, "cached", free=1 << 40)
