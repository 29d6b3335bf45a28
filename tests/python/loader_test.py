# tests/python/loader_test.py - batches are those of the reference, whole and unchanging, however a loop ends.
import gc
import threading

import pytest
import salient_gnn
import torch
from conftest import FANOUTS
from salient_gnn import _core


def key_of(batch, seed=0):
    return [seed, batch.epoch, batch.index]


def same_as_reference(dataset, batch, seeds, draw="uniform", seed=0):
    rule = _core.SamplingRule(FANOUTS, draw)
    nodes, hops = _core.reference_sample(dataset._core, rule, seeds.numpy(), key_of(batch, seed))
    assert batch.nodes.tolist() == nodes
    assert len(batch.layers) == len(hops)
    for layer, (num_dst, num_src, indptr, indices) in zip(batch.layers, hops):
        assert layer.size == (num_src, num_dst)
        assert layer.indptr.tolist() == indptr and layer.indices.tolist() == indices
    ids = batch.nodes.long()
    assert torch.equal(batch.x, dataset.x[ids].float())
    assert torch.equal(batch.y, dataset.y[ids[: batch.batch_size]].long())


@pytest.mark.parametrize(
    "options, draw",
    [({}, "uniform"), ({"replace": True}, "with-replacement"), ({"draw": "labor"}, "labor")],
)
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_every_batch_is_the_references(dataset, workers, options, draw):
    nodes = dataset.valid.long()[:300]
    loader = salient_gnn.NeighborLoader(dataset, nodes, FANOUTS, 64, workers=workers, seed=7, **options)
    batches = list(loader)
    assert [batch.index for batch in batches] == list(range(5)) and len(loader) == 5
    for batch, seeds in zip(batches, nodes.split(64)):
        same_as_reference(dataset, batch, seeds, draw, seed=7)


def test_shuffles_each_epoch_anew_and_repeats_from_the_seed(dataset, loader):
    first, second = (torch.cat([batch.nodes[: len(batch)] for batch in loader]) for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(first.sort().values, second.sort().values)
    again = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 128, shuffle=True, workers=0)
    again.set_epoch(2)
    assert torch.equal(torch.cat([batch.nodes[: len(batch)] for batch in again]), second)


def test_ranks_share_each_global_batch(dataset):
    def seeds(rank, ranks, batch_size):
        loader = salient_gnn.NeighborLoader(
            dataset, "train", FANOUTS, batch_size, shuffle=True, workers=1, rank=rank, world_size=ranks
        )
        return [batch.nodes[: len(batch)] for batch in loader]

    whole, shares = seeds(0, 1, 256), [seeds(rank, 2, 128) for rank in range(2)]
    assert len(whole) == len(shares[0]) == len(shares[1])
    for batch, *parts in zip(whole, *shares):
        assert torch.equal(batch, torch.cat(parts))


def test_drop_last_leaves_out_the_short_batch(dataset):
    nodes = dataset.train.long()[:300]
    loader = salient_gnn.NeighborLoader(dataset, nodes, FANOUTS, 128, workers=1, drop_last=True)
    assert [len(batch) for batch in loader] == [128, 128] and len(loader) == 2


def test_layers_agree_in_all_their_forms(loader):
    batch = next(iter(loader))
    for layer in batch.layers:
        sources, destinations = layer.edge_index
        dense = torch.zeros(layer.num_dst, layer.num_src)
        dense.index_put_((destinations, sources), torch.ones(len(sources)), accumulate=True)
        assert torch.equal(layer.adj.to_dense(), dense)


def test_the_one_graph_has_every_node_sampled_once_by_hop(dataset, loader):
    batch = next(iter(loader))
    edges, known = batch.edge_index, [0, *torch.tensor(batch.num_sampled_nodes).cumsum(0).tolist()]
    assert known[-1] == batch.num_nodes and sum(batch.num_sampled_edges) == edges.shape[1]
    for hop, (layer, part) in enumerate(zip(reversed(batch.layers), edges.split(batch.num_sampled_edges, 1))):
        own = layer.edge_index[:, layer.edge_index[1] >= known[hop]]  # of the nodes that the hop before added
        assert torch.equal(part, own)
    ids = batch.nodes.long()
    indptr, indices = dataset.indptr, dataset.indices
    for source, destination in ids[edges].T[::97].tolist():
        assert source in indices[indptr[destination] : indptr[destination + 1]]


def test_kept_tensors_never_change(loader):
    kept = []
    for batch in loader:
        kept.append((batch.nodes, batch.nodes.clone(), batch.layers[0].indices, batch.layers[0].indices.clone()))
    for _ in loader:  # more batches than there are slabs
        pass
    del loader, batch
    gc.collect()
    for nodes, nodes_then, indices, indices_then in kept:
        assert torch.equal(nodes, nodes_then) and torch.equal(indices, indices_then)


def test_a_view_without_conversion_shares_the_slab(dataset):
    batch = next(iter(salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, workers=1, dtype=None)))
    assert batch.x.dtype == torch.float16
    assert batch.x.untyped_storage().data_ptr() == batch.nodes.untyped_storage().data_ptr()


def test_loops_may_end_in_any_way(loader):
    for _ in loader:
        break
    with pytest.raises(KeyError):
        for _ in loader:
            raise KeyError
    first, second = iter(loader), iter(loader)
    next(second)
    assert next(first, None) is None  # it ended when the second began
    loader.close()
    assert next(second, None) is None
    assert sum(len(batch) for batch in loader) == len(loader.dataset.train)


def test_two_loaders_at_once_and_in_threads(dataset):
    def count(seed, sums):
        loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, shuffle=True, workers=2, seed=seed)
        sums[seed] = sum(int(batch.nodes.long().sum()) for batch in loader)

    alone, together = {}, {}
    for seed in range(3):
        count(seed, alone)
    threads = [threading.Thread(target=count, args=(seed, together)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == together
    pairs = zip(*(salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, workers=1) for _ in range(2)))
    assert all(torch.equal(a.nodes, b.nodes) for a, b in pairs)


def test_memory_is_flat_over_many_batches(dataset):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    loader, taken = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 16, shuffle=True, workers=2), 0
    while taken < 1200:
        for batch in loader:
            taken += 1
            if taken == 200:
                settled = resident()
        del batch
    assert resident() - settled < 16e6


@pytest.mark.parametrize(
    "wrong",
    [
        {"fanouts": []},
        {"fanouts": [0]},
        {"fanouts": [10.0]},
        {"fanouts": "10,5"},
        {"fanouts": 10},
        {"fanouts": [1 << 40]},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"seed": -1},
        {"nodes": "trian"},
        {"nodes": [3, 3]},
        {"nodes": [-1]},
        {"nodes": [0.5]},
        {"nodes": torch.ones(5, dtype=torch.bool)},
        {"nodes": [1 << 40]},
        {"nodes": torch.ones(3)},
        {"features": "gpu"},
        {"features": "device"},
        {"draw": "laber"},
        {"replace": True, "draw": "labor"},
        {"workers": -1},
        {"workers": 1 << 31},
        {"rank": 0.5, "world_size": 2},
        {"rank": 2, "world_size": 2},
        {"device": "meta"},
        {"nodes": torch.tensor([1, 2], dtype=torch.cfloat)},
        {"nodes": [1 << 63]},
        {"nodes": None},
        {"nodes": ["0", "1"]},
        {"dtype": "float"},
        {"dtype": float},
        {"dtype": torch.complex64},
        {"dtype": torch.bool},
    ],
)
def test_wrong_arguments_are_named(dataset, wrong):
    arguments = {"nodes": "train", "fanouts": FANOUTS, **wrong}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        salient_gnn.NeighborLoader(dataset, **arguments)


def test_the_last_epoch_is_the_last(dataset):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 512, workers=1)
    loader.set_epoch(2**32 - 1)
    assert {batch.epoch for batch in loader} == {2**32 - 1}
    with pytest.raises(ValueError, match="epoch: 4294967296 is no integer from 0 to 4294967295"):
        iter(loader)
    loader.set_epoch(0)
    assert {batch.epoch for batch in loader} == {0}


@pytest.mark.parametrize("epoch", [-1, 1.5, None, 2**32])
def test_a_wrong_epoch_is_named(dataset, epoch):
    with pytest.raises(ValueError, match="epoch: "):
        salient_gnn.NeighborLoader(dataset, "train", FANOUTS).set_epoch(epoch)


def test_labor_draws_batches_of_fewer_nodes(dataset):
    nodes = {
        draw: sum(batch.x.shape[0] for batch in salient_gnn.NeighborLoader(dataset, "train", [5, 5], 256, draw=draw))
        for draw in ("uniform", "labor")
    }
    assert nodes["labor"] < 0.97 * nodes["uniform"]


def test_no_seeds_are_no_batches(dataset):
    assert list(salient_gnn.NeighborLoader(dataset, [], FANOUTS, workers=1)) == []


def test_torchrun_gives_each_process_its_share(torchrun, tmp_path):
    script = tmp_path / "ranks.py"
    script.write_text("""
import sys, torch, salient_gnn
torch.distributed.init_process_group("gloo")
dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 32, workers=1, shuffle=True)
seeds = torch.zeros(dataset.num_nodes)
for batch in loader:
    seeds[batch.nodes[:len(batch)].long()] += 1
torch.distributed.all_reduce(seeds)
assert torch.equal(seeds.nonzero().squeeze(1), dataset.train.long().sort().values) and seeds.max() == 1
torch.distributed.destroy_process_group()
""")
    torchrun(script)
