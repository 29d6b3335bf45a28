# tests/python/loader_test.py - batches are those of the reference, whole and unchanging, however a loop ends.
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import salient_gnn
import torch
from conftest import FANOUTS
from salient_gnn import _core


def key_of(batch, seed=0):
    return [seed, batch.epoch, batch.index]


def same_as_reference(dataset, batch, seeds, replacement=_core.Replacement.WITHOUT, seed=0):
    nodes, hops = _core.reference_sample(dataset._core, FANOUTS, seeds.numpy(), key_of(batch, seed), replacement)
    assert batch.nodes.tolist() == nodes
    assert len(batch.layers) == len(hops)
    for layer, (num_dst, num_src, indptr, indices) in zip(batch.layers, hops):
        assert layer.size == (num_src, num_dst)
        assert layer.indptr.tolist() == indptr and layer.indices.tolist() == indices
    ids = batch.nodes.long()
    assert torch.equal(batch.x, dataset.x[ids].float())
    assert torch.equal(batch.y, dataset.y[ids[: batch.batch_size]].long())


@pytest.mark.parametrize(
    "options, replacement",
    [({}, "WITHOUT"), ({"replace": True}, "WITH"), ({"draw": "labor"}, "LABOR")],
)
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_every_batch_is_the_references(dataset, workers, options, replacement):
    nodes = dataset.valid.long()[:300]
    loader = salient_gnn.NeighborLoader(dataset, nodes, FANOUTS, 64, workers=workers, seed=7, **options)
    batches = list(loader)
    assert [batch.index for batch in batches] == list(range(5)) and len(loader) == 5
    for batch, seeds in zip(batches, nodes.split(64)):
        same_as_reference(dataset, batch, seeds, _core.Replacement[replacement], seed=7)


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


def test_threads_that_share_a_loader_end(dataset):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 128, shuffle=True, workers=2)
    threads = [threading.Thread(target=lambda: [list(loader) for _ in range(20)], daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert sum(batch.batch_size for batch in loader) == len(dataset.train), "a loop of its own is whole again"


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
    ],
)
def test_wrong_arguments_are_named(dataset, wrong):
    arguments = {"nodes": "train", "fanouts": FANOUTS, **wrong}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        salient_gnn.NeighborLoader(dataset, **arguments)


@pytest.mark.parametrize("epoch", [-1, 1.5])
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


def run_program(text, **options):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, **options)


PROGRAM = """
import os, sys, torch, salient_gnn
dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=2)
"""


def test_a_forked_child_is_told_so():
    done = run_program(PROGRAM + """
iterator = iter(loader)
next(iterator)
child = os.fork()
if child == 0:
    for use in (lambda: next(iterator), lambda: iter(loader), lambda: salient_gnn.Dataset.open("synthetic:arxiv:0.01")):
        try:
            use()
        except RuntimeError as error:
            print("spawn" in str(error), flush=True)
    del iterator, loader
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sum(map(len, iterator)) > 0)
""")
    assert done.stdout.split() == ["True", "True", "True", "5", "True"], done.stderr


def test_a_loader_goes_to_a_spawned_process(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text("""
import multiprocessing, salient_gnn
def total(loader):
    return sum(int(batch.nodes.long().sum()) for batch in loader)
if __name__ == "__main__":
    dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=1, shuffle=True)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(total, [loader, loader]) == [total(loader)] * 2)
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True", done.stderr


def test_control_c_ends_a_loop_at_once():
    endless = PROGRAM + "print('go', flush=True)\nwhile True:\n    for batch in loader: batch.x\n"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", endless], text=True, **pipes)
    assert process.stdout.readline() == "go\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and errors.rstrip().endswith("KeyboardInterrupt")


def test_after_control_c_the_next_loop_is_whole():
    done = run_program(PROGRAM + """
import signal
try:
    for batch in loader:
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print(sum(map(len, loader)) == len(dataset.train))
""")
    assert done.stdout == "True\n", done.stderr


PINNED = """
import time
from salient_gnn import _core
options = _core.StreamOptions()
options.fanouts, options.num_workers = [4, 3], 2
"""


def test_a_stream_may_go_while_its_workers_pin_memory():
    done = run_program(PROGRAM + PINNED + """
stream = _core.make_stream(dataset._core, None, options, lambda *_: time.sleep(0.2), lambda _: None)
stream.start(loader._order, 1, 0)
time.sleep(0.1)
del stream  # a worker waits for Python's lock, which this line holds
print("gone")
""")
    assert done.stdout == "gone\n", done.stderr


def test_what_fails_in_a_worker_is_raised_in_the_loop():
    done = run_program(PROGRAM + PINNED + """
def pin(address, size):
    raise RuntimeError("no more of it")
stream = _core.make_stream(dataset._core, None, options, pin, lambda _: None)
stream.start(loader._order, 1, 0)
try:
    stream.next()
except salient_gnn.Error as error:
    print(error.code, "no more of it" in str(error))
""")
    assert done.stdout == "71 True\n", done.stderr


def test_processes_may_fork_before_the_first_data_set():
    done = run_program("""
import os, sys, salient_gnn
child = os.fork()
dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
count = sum(map(len, salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=2)))
if child == 0:
    os._exit(count == len(dataset.train))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count == len(dataset.train))
""")
    assert done.stdout == "1 True\n", done.stderr


def test_a_program_may_end_in_the_middle_of_an_epoch():
    done = run_program(PROGRAM + "iterator = iter(loader)\nnext(iterator)\nprint('end')\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


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
