# tests/python/times_test.py - loaders that show each seed its past alone, by the times of a store's edges and nodes.
import os
import pathlib
import pickle
import random
import subprocess

import pytest
import salient_gnn
import torch

NODES, EDGES, DAYS = 80, 700, 50
LOADER = salient_gnn.NeighborLoader


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """A store of 80 nodes and directed edges, and its edges as {(source, destination): days}."""
    folder, draw, days = tmp_path_factory.mktemp("timed"), random.Random(2), {}
    rows = [(draw.randrange(NODES), draw.randrange(NODES), draw.randrange(DAYS)) for _ in range(EDGES)]
    rows = [(s, d, t) for s, d, t in rows if s != d]
    for s, d, t in rows:
        days.setdefault((s, d), []).append(t)
    lines = "".join(f"{s},{d},{t},{t % 5}\n" for s, d, t in rows)
    (folder / "edges.csv").write_text("source,target,day,amount\n" + lines)
    (folder / "nodes.csv").write_text(
        "id,x,born,label\n" + "".join(f"{v},{v},{draw.randrange(DAYS)},{v % 2}\n" for v in range(NODES))
    )
    prepare = pathlib.Path(os.environ["SALIENT_BIN"]) / "salient-prepare"
    words = ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--symmetric", "no"]
    times = ["--time-column", "day", "--node-time-column", "born", "--split", "0.6,0.2,0.2"]
    weights = ["--weight-column", "amount"]
    out = ["--out", folder / "store", "--progress", "none"]
    subprocess.run([prepare, "edges", *words, *times, *weights, *out], check=True)
    return salient_gnn.Dataset.open(folder / "store"), days


def edges_of(layer, nodes):
    sources, destinations = layer.edge_index
    return sorted(zip(nodes[sources].tolist(), nodes[destinations].tolist(), strict=True))


def past_of(days, node, admits):
    return sorted((s, d) for (s, d), times in days.items() if d == node for t in times if admits(t))


RULES = {
    ("lt", None): lambda t, now: t < now,
    ("le", None): lambda t, now: t <= now,
    ("lt", 9): lambda t, now: now - 9 <= t < now,
    ("le", 9): lambda t, now: now - 9 < t <= now,
}


@pytest.mark.parametrize("rule, window", RULES)
def test_a_seed_sees_what_its_time_admits(timed, rule, window):  # pyg#7794, pyg#10593
    dataset, days = timed
    loader = LOADER(dataset, "all", [-1], 1, time_rule=rule, time_window=window, workers=0)
    for batch in loader:
        seed = int(batch.nodes[0])
        now = int(dataset.node_times[seed])
        admitted = past_of(days, seed, lambda t: RULES[rule, window](t, now))
        assert edges_of(batch.layers[0], batch.nodes) == admitted


def test_all_hops_have_the_seeds_time(timed):
    dataset, days = timed
    for batch in LOADER(dataset, [5, 6, 7], [-1, -1], 1, time_rule="lt", input_time=[40, 30, 20], workers=1):
        now = {5: 40, 6: 30, 7: 20}[int(batch.nodes[0])]
        assert len(batch.nodes.unique()) == batch.num_nodes, "of one time a node is there once"
        for layer in batch.layers:
            expected = [past_of(days, int(v), lambda t: t < now) for v in batch.nodes[: layer.num_dst]]
            assert edges_of(layer, batch.nodes) == sorted(edge for row in expected for edge in row)


def test_trees_of_different_times_do_not_mix(timed):  # relgt#6
    dataset, _ = timed
    nodes, times = list(range(30)), [10 + v % 7 for v in range(30)]
    (together,) = LOADER(dataset, nodes, [-1, -1], 30, time_rule="lt", input_time=times, workers=2)
    assert len(together.nodes.unique()) < together.num_nodes, "some are seen at several times"
    alone = LOADER(dataset, nodes, [-1, -1], 1, time_rule="lt", input_time=times, workers=2)
    (layer,) = together.layers[-1:]
    found = [edges_of(batch.layers[-1], batch.nodes) for batch in alone]
    assert edges_of(layer, together.nodes) == sorted(edge for edges in found for edge in edges)
    assert torch.equal(together.x, dataset.x[together.nodes.long()].float())


def test_the_last_are_the_latest(timed):
    dataset, days = timed
    loader = LOADER(dataset, "all", [2], 1, time_rule="le", time_strategy="last", input_time=[30] * NODES, workers=0)
    for batch in loader:
        seed = int(batch.nodes[0])
        latest = sorted((t for (_, d), times in days.items() if d == seed for t in times if t <= 30), reverse=True)[:2]
        kept = [days[edge] for edge in edges_of(batch.layers[0], batch.nodes)]
        assert len(kept) == len(latest) and all(set(latest) & set(times) for times in kept)


def slabs(loader):
    return [(batch.nodes.tolist(), [layer.indices.tolist() for layer in batch.layers]) for batch in loader]


def test_pygs_names_say_the_same(timed):
    dataset, _ = timed
    own = LOADER(dataset, [3, 1, 2], [4, 2], 2, time_rule="le", time_strategy="last", input_time=[9, 40, 20], workers=1)
    pygs = LOADER(dataset, [4, 2], torch.tensor([3, 1, 2]), batch_size=2, time_attr="edge_time",
                  input_time=torch.tensor([9, 40, 20]), temporal_strategy="last", disjoint=False,
                  workers=1)  # fmt: skip
    assert slabs(own) == slabs(pygs)
    assert slabs(pickle.loads(pickle.dumps(pygs))) == slabs(LOADER(
        dataset, [3, 1, 2], [4, 2], 2, time_rule="le", time_strategy="last", input_time=[9, 40, 20], workers=1))


def test_weights_have_pygs_name_too(timed):
    dataset, days = timed
    own = LOADER(dataset, "all", [3, 2], 16, draw="weighted", time_rule="lt", workers=1)
    pygs = LOADER(dataset, [3, 2], input_nodes=None, batch_size=16, weight_attr="edge_weight", time_rule="lt",
                  workers=2)  # fmt: skip
    assert slabs(own) == slabs(pygs)
    assert slabs(own) != slabs(LOADER(dataset, "all", [3, 2], 16, time_rule="lt", workers=1))
    weightless = {edge for edge, times in days.items() if all(t % 5 == 0 for t in times)}
    (batch,) = LOADER(dataset, "all", [-1], NODES, weight_attr="edge_weight", workers=1)
    assert weightless and not weightless & set(edges_of(batch.layers[0], batch.nodes)), "pyg-lib draws weights of 0"
    with pytest.raises(ValueError, match="weight_attr: 'amount'; the weights of a store's edges are 'edge_weight'"):
        LOADER(dataset, [1], [2], weight_attr="amount")
    with pytest.raises(ValueError, match="say one of them"):
        LOADER(dataset, [1], [2], draw="labor", weight_attr="edge_weight")


def test_workers_change_nothing(timed):
    dataset, _ = timed
    loaders = [LOADER(dataset, "all", [3, 2], 16, time_rule="lt", shuffle=True, workers=w) for w in (0, 1, 3)]
    first, *others = [slabs(loader) for loader in loaders]
    assert all(other == first for other in others)


def test_what_cannot_be_is_said(timed, dataset):
    store, _ = timed

    def refuse(words, data=store, **options):
        with pytest.raises((ValueError, salient_gnn.Error), match=words):
            LOADER(data, [1, 2], [2], **options)

    refuse("time_rule: 'gt' is none of lt, le", time_rule="gt")
    refuse("time_window: 0", time_rule="lt", time_window=0)
    refuse("time_window: only with a time_rule", time_window=3)
    refuse("input_time: only with a time_rule", input_time=[1, 2])
    refuse("input_time: .3. times, of 2 seeds", time_rule="lt", input_time=[1, 2, 3])
    refuse("input_time: torch.float", time_rule="lt", input_time=[1.5, 2.5])
    refuse("time_strategy: 'last' draws nothing, and so not by labor", time_rule="lt", time_strategy="last",
           draw="labor")  # fmt: skip
    refuse("time_attr: 'time'", time_attr="time")
    refuse("has no times of edges", data=dataset, time_rule="lt")
    refuse("sampler: 'device' is not possible", time_rule="lt", sampler="device")
    (batch,) = LOADER(store, [1, 2], [2], time_rule="lt")
    with pytest.raises(ValueError, match="e_id: rows of store are in the order of times"):
        _ = batch.e_id
