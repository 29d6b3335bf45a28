# tests/python/typed_loader_test.py - typed stores open in Python, and NeighborLoader makes PyG's batches of them.
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import salient_gnn
import torch
from salient_gnn import Dataset, NeighborLoader
from salient_gnn.placement import Placement

PREPARE = pathlib.Path(os.environ.get("SALIENT_BIN", ""), "salient-prepare")
NUM_NODES = {"paper": 60, "author": 40, "subject": 7}
WRITES, CITES, ABOUT = ("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "about", "subject")
REVERSES = {WRITES: ("paper", "rev_writes", "author"), CITES: ("paper", "rev_cites", "paper"),
            ABOUT: ("subject", "rev_about", "paper")}  # fmt: skip
CLASSES = 3


def made_arrays():
    """Papers of three classes, which the features of papers and of authors follow; subjects have no features."""
    draw = torch.Generator().manual_seed(1)
    y = torch.randint(CLASSES, (60,), generator=draw)
    written = torch.randint(60, (200,), generator=draw)
    authors = torch.randint(40 // CLASSES, (200,), generator=draw) * CLASSES + y[written]
    edges = {
        WRITES: torch.stack([authors, written]),
        CITES: torch.randint(60, (2, 150), generator=draw),
        ABOUT: torch.stack([torch.arange(60), torch.randint(7, (60,), generator=draw)]),
    }
    x = {
        "paper": torch.randn(60, 5, generator=draw) + torch.nn.functional.one_hot(y, 5),
        "author": torch.randn(40, 1000, generator=draw),  # stored sparse from 1,000 columns on
    }
    x["author"][:, :CLASSES] += 3 * torch.nn.functional.one_hot(torch.arange(40) % CLASSES, CLASSES)
    x["author"] = torch.where(x["author"] > 2, x["author"], 0).half()
    return edges, x, y


@pytest.fixture(scope="module")
def arrays():
    return made_arrays()


@pytest.fixture(scope="module")
def dataset(arrays, tmp_path_factory):
    edges, x, y = arrays
    # The target is not the first type, so that its rows are not the ids of its nodes.
    x = {"author": x["author"].to_sparse(), "paper": x["paper"]}
    return Dataset.from_typed_arrays(
        tmp_path_factory.mktemp("typed") / "graph", edges, x, y, target="paper", num_nodes=NUM_NODES,
        train=range(40), valid=range(40, 50), test=range(50, 60))  # fmt: skip


def pairs(edges):
    return sorted(set(map(tuple, edges.t().tolist())))


def expected_edges(edges):
    return {**edges, **{REVERSES[relation]: ends.flip(0) for relation, ends in edges.items()}}


def test_a_typed_store_opens(dataset, arrays):
    edges, x, y = arrays
    assert isinstance(dataset, salient_gnn.TypedDataset)
    assert sorted(dataset.node_types) == sorted(NUM_NODES) and dataset.node_types.index("paper") > 0
    assert set(dataset.edge_types) == {*REVERSES, *REVERSES.values()}
    assert dataset.metadata() == (dataset.node_types, dataset.edge_types)
    assert dataset.num_nodes_dict == NUM_NODES and dataset.num_nodes == sum(NUM_NODES.values())
    assert dataset.target_type == "paper"
    for relation, ends in expected_edges(edges).items():
        assert pairs(dataset[relation].edge_index) == pairs(ends)
        assert dataset[relation].num_edges == len(pairs(ends))
    paper = dataset["paper"]
    assert paper.x.equal(x["paper"]) and paper.y.equal(y.int())
    assert (paper.num_nodes, paper.num_features, paper.num_classes) == (60, 5, CLASSES)
    assert paper.train.tolist() == list(range(40))
    assert paper.val_mask.nonzero().flatten().tolist() == list(range(40, 50))
    author = dataset["author"]
    assert author.has_sparse_features and author.feature_dtype == torch.float16
    assert author.x.to_dense().equal(x["author"])
    assert dataset["subject"].num_features == 0 and dataset["subject"].num_nodes == 7
    for nodes, name in ((author, "y"), (author, "train"), (dataset["subject"], "x")):
        assert not hasattr(nodes, name)
    assert "60 paper" in repr(dataset)
    again = pickle.loads(pickle.dumps(dataset))
    assert again["paper"].x.equal(x["paper"])
    for key in ("venue", ("paper", "writes", "author")):
        with pytest.raises(KeyError, match="is none of 'author'"):
            dataset[key]


def test_a_generated_one_has_rows_for_ids():
    dataset = Dataset.open("synthetic:mag:0.0005")
    assert set(dataset.node_types) == {"paper", "author", "institution", "field_of_study"}
    assert (dataset["author"].source_ids == np.arange(dataset["author"].num_nodes)).all()
    assert dataset["author"].rows_of([3, 0]).tolist() == [3, 0]
    with pytest.raises(ValueError, match="ids: item 0"):
        dataset["institution"].rows_of([dataset["institution"].num_nodes])
    batch = next(iter(NeighborLoader(dataset, [5, 5], input_nodes="train", batch_size=8, workers=1)))
    for name, rows in batch.x_dict.items():
        assert rows.equal(dataset[name].x[batch[name].n_id].float())


@pytest.mark.skipif(not PREPARE.exists(), reason="SALIENT_BIN has no salient-prepare")
def test_own_ids_are_of_their_type(tmp_path):
    (tmp_path / "users.csv").write_text("id,age,sex,label\nann,1,0,x\nbob,0,1,y\neve,1,1,x\n")
    (tmp_path / "items.csv").write_text("id\nbob\npen\n")
    (tmp_path / "buys.csv").write_text("ann,pen\neve,bob\nbob,pen\n")
    users = f"user={tmp_path / 'users.csv'}"
    command = [PREPARE, "typed", "--nodes", f"item={tmp_path / 'items.csv'}", "--nodes", users, "--labels", users,
               "--edges", f"user:buys:item={tmp_path / 'buys.csv'}", "--split", "0.4,0.3,0.3",
               "--out", tmp_path / "shop"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    dataset = Dataset.open(tmp_path / "shop")
    user, item = dataset["user"], dataset["item"]
    assert user.source_ids.tolist() == ["ann", "bob", "eve"] and item.source_ids.tolist() == ["bob", "pen"]
    assert user.rows_of(["bob"]).tolist() == [1] and item.rows_of(["pen", "bob"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="ids: item 0 is 'eve'"):
        item.rows_of(["eve"])
    (batch,) = NeighborLoader(dataset, num_neighbors=[-1], input_nodes=("item", ["pen"]), workers=1)
    assert sorted(user.source_ids[batch["user"].n_id]) == ["ann", "bob"]


def test_features_in_fp8_come_as_their_products(arrays, tmp_path):
    edges, x, y = arrays
    dataset = Dataset.from_typed_arrays(tmp_path / "g", edges, {"paper": x["paper"]}, y, target="paper", fp8=True,
                                        num_nodes=NUM_NODES)  # fmt: skip
    stored = dataset["paper"].x.float() * dataset["paper"].fp8_scale
    assert (stored - x["paper"]).abs().max() < 0.1 * x["paper"].abs().max()
    (batch,) = NeighborLoader(dataset, num_neighbors=[2], input_nodes=("author", None), workers=1, dtype=None)
    assert batch["paper"].x.dtype == torch.float16 and batch["paper"].x.equal(stored[batch["paper"].n_id].half())


@pytest.mark.parametrize("fp8", [False, True])
def test_dense_rows_that_a_device_holds_are_those_of_the_batch(arrays, tmp_path, monkeypatch, fp8):
    """As on a GPU: the CPU plays the device, and batches come without their dense rows."""
    edges, x, y = arrays
    x = {"paper": x["paper"]} if fp8 else {"author": x["author"].to_sparse(), "paper": x["paper"]}
    dataset = Dataset.from_typed_arrays(tmp_path / "g", edges, x, y, target="paper", fp8=fp8, num_nodes=NUM_NODES)
    options = {"num_neighbors": [3, 2], "input_nodes": "all", "batch_size": 7, "workers": 2, "dtype": None}
    expected = list(NeighborLoader(dataset, **options))
    monkeypatch.setattr(Placement, "_decide", lambda *request: ("device", "host", 0))
    found = list(NeighborLoader(dataset, **options))
    assert len(found) == len(expected)
    for there, here in zip(found, expected):
        assert values_of(there) == values_of(here)
        assert len(there._memory) < len(here._memory)


def global_edges(batch):
    return {
        relation: torch.stack([batch[relation[0]].n_id[ends[0]], batch[relation[2]].n_id[ends[1]]])
        for relation, ends in batch.edge_index_dict.items()
    }


def test_a_batch_of_all_neighbours_is_what_the_arrays_say(dataset, arrays):
    edges, x, y = arrays
    edges = {relation: set(map(tuple, ends.t().tolist())) for relation, ends in expected_edges(edges).items()}
    loader = NeighborLoader(dataset, num_neighbors=[-1, -1], input_nodes="train", batch_size=3, workers=1)
    assert len(loader) == 14
    for number, batch in enumerate(loader):
        seeds = list(range(3 * number, min(3 * number + 3, 40)))
        seen = {("paper", seed) for seed in seeds}
        reached = {relation: set() for relation in edges}
        for _ in range(2):
            for relation, ends in edges.items():
                reached[relation] |= {(u, v) for u, v in ends if (relation[2], v) in seen}
            seen |= {(relation[0], u) for relation, ends in reached.items() for u, _ in ends}
        for relation, ends in global_edges(batch).items():
            assert len(pairs(ends)) == ends.shape[1] == batch[relation].num_edges  # each once
            assert set(pairs(ends)) == reached[relation]
        for name in NUM_NODES:
            assert sorted(batch[name].n_id.tolist()) == sorted(row for type, row in seen if type == name)
            assert batch[name].num_nodes == len(batch[name].n_id)
        assert batch["paper"].batch_size == len(batch) == len(seeds)
        assert batch["paper"].n_id[: len(seeds)].tolist() == batch["paper"].input_id.tolist() == seeds
        assert batch["paper"].y.equal(y[batch["paper"].n_id])
        assert batch["paper"].train_mask.equal(batch["paper"].n_id < 40)
        assert list(batch.x_dict) == ["author", "paper"] and "x" not in batch["subject"]
        for name, rows in batch.x_dict.items():
            assert rows.dtype == torch.float32 and rows.equal(x[name][batch[name].n_id].float())
        assert batch["author"].x_sparse.to_dense().equal(x["author"][batch["author"].n_id])
        check_hops(batch)


def check_hops(batch):
    """The counts of trim_to_layer()."""
    for part in map(batch.__getitem__, batch.node_types):
        assert sum(part.num_sampled_nodes) == part.num_nodes and len(part.num_sampled_nodes) == 3
    for relation in batch.edge_types:
        part, begin = batch[relation], 0
        known = batch[relation[2]].num_sampled_nodes
        for hop, count in enumerate(part.num_sampled_edges):
            new = part.edge_index[1, begin : begin + count]
            first = sum(known[:hop])
            assert ((new >= first) & (new < first + known[hop])).all()
            begin += count
        assert begin == part.num_edges


def values_of(batch):
    parts = map(batch.__getitem__, [*batch.node_types, *batch.edge_types])
    values = [part[name] for part in parts for name in part.keys()]
    return [(value.to_dense() if torch.is_tensor(value) else torch.tensor(value)).tolist() for value in values]


def test_fanouts_of_relations_and_any_number_of_workers(dataset):
    fanouts = {relation: [2, 1] for relation in dataset.edge_types} | {CITES: [0, 3], WRITES: [-1, 0]}
    epochs = []
    for workers in (0, 1, 3):
        loader = NeighborLoader(dataset, fanouts, ("paper", dataset["paper"].val_mask), batch_size=4, shuffle=True,
                                workers=workers)  # fmt: skip
        epochs.append(list(loader))
    for others in zip(*epochs, strict=True):
        assert all(values_of(batch) == values_of(others[0]) for batch in others[1:])
    for batch in epochs[0]:
        check_hops(batch)
        for relation, ends in global_edges(batch).items():
            assert set(pairs(ends)) <= set(pairs(dataset[relation].edge_index))
        assert batch[CITES].num_sampled_edges[0] == batch[WRITES].num_sampled_edges[1] == 0
        degrees = batch[REVERSES[WRITES]].edge_index[1].bincount()
        assert degrees.numel() == 0 or degrees.max() <= 1  # authors are first met at the second hop
    assert max(batch[CITES].edge_index[1].bincount().max() for batch in epochs[0] if batch[CITES].num_edges) <= 3
    again = pickle.loads(pickle.dumps(loader))
    assert again.fanouts == fanouts and len(again) == len(loader)


@pytest.mark.parametrize(
    "nodes, node_type, rows",
    [
        (None, "paper", range(60)),
        ("all", "paper", range(60)),
        ("val", "paper", range(40, 50)),
        (("paper", "test"), "paper", range(50, 60)),
        ([7, 3], "paper", [7, 3]),
        ("author", "author", range(40)),
        (("author", None), "author", range(40)),
        (("author", [5, 39, 0]), "author", [5, 39, 0]),
        (("subject", torch.arange(7) == 4), "subject", [4]),
    ],
)
def test_seeds_are_of_any_type(dataset, arrays, nodes, node_type, rows):
    batches = list(NeighborLoader(dataset, num_neighbors=[3], input_nodes=nodes, batch_size=16, workers=1))
    seeds = torch.cat([batch[node_type].n_id[: batch[node_type].batch_size] for batch in batches])
    assert seeds.tolist() == list(rows)
    assert torch.cat([batch[node_type].input_id for batch in batches]).tolist() == (
        list(range(len(seeds))) if isinstance(rows, list) else [row - rows[0] for row in rows]
    )
    for batch in batches:
        assert list(batch.batch_size_dict) == [node_type]
        assert batch["paper"].y.equal(arrays[2][batch["paper"].n_id])
    for batch in NeighborLoader(dataset, nodes or "all", [3], batch_size=16, workers=1):  # y_of="seeds"
        assert ("y" in batch["paper"]) == (node_type == "paper")
        if node_type == "paper":
            assert batch["paper"].y.equal(arrays[2][batch["paper"].n_id[: batch.batch_size]])


def test_seeds_that_no_relation_leads_to_are_said(tmp_path):
    """pyg-team/pytorch_geometric#7280: relations lead from authors, seeds are authors, and batches have no edges."""
    relation, ends = ("author", "to", "paper"), torch.tensor([[0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5]])
    given = {"edges": {relation: ends}, "x": {"author": torch.ones(2, 10), "paper": torch.ones(6, 10)}, "y": None}
    one_way = Dataset.from_typed_arrays(tmp_path / "one", **given, reverse=False)
    with pytest.warns(UserWarning, match="no relation leads to 'author': its nodes have no neighbours.*reverse=False"):
        (batch,) = NeighborLoader(one_way, [-1], input_nodes="author", workers=1)
    assert batch.num_nodes_dict == {"author": 2, "paper": 0} and batch[relation].edge_index.shape == (2, 0)
    (batch,) = NeighborLoader(one_way, [-1], input_nodes="paper", workers=1)
    assert pairs(global_edges(batch)[relation]) == pairs(ends)
    both = Dataset.from_typed_arrays(tmp_path / "both", **given)
    (batch,) = NeighborLoader(both, [-1], input_nodes="author", workers=1)
    assert pairs(global_edges(batch)["paper", "rev_to", "author"]) == pairs(ends.flip(0))


BATCHES = """
import hashlib, sys, torch
from salient_gnn import Dataset, NeighborLoader
torch.manual_seed(int(sys.argv[3]))  # nothing of a loader
found = hashlib.sha256()
for batch in NeighborLoader(Dataset.open(sys.argv[1]), [2, 2], input_nodes="train", batch_size=2, shuffle=False,
                            workers=int(sys.argv[2]), seed=int(sys.argv[4])):
    for part in map(batch.__getitem__, [*batch.node_types, *batch.edge_types]):
        found.update((part.n_id if "n_id" in part else part.edge_index).numpy().tobytes())
print(found.hexdigest())
"""


def test_batches_are_the_same_each_time_a_script_is_started(dataset):
    """pyg-team/pyg-lib#527: a fixed seed, and other subgraphs of a typed graph in each process."""

    def batches(workers, torch_seed, seed, hash_seed):
        done = subprocess.run(
            [sys.executable, "-c", BATCHES, dataset.directory, str(workers), str(torch_seed), str(seed)],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            capture_output=True, text=True, check=True)  # fmt: skip
        return done.stdout

    first = batches(0, 0, 1, 0)
    assert first == batches(0, 0, 1, 1) == batches(3, 5, 1, 2)
    assert first != batches(0, 0, 2, 0)


def test_memory_is_free_when_the_last_of_a_batch_is_gone(dataset):
    gc.disable()
    try:
        (batch,) = NeighborLoader(dataset, [2], input_nodes=[1], workers=1)
        kept, known = values_of(batch), weakref.ref(batch)
        assert batch.x_dict["paper"] is batch["paper"].x  # made once
        x = batch["paper"].x
        del batch
        assert known() is None and x.tolist() in kept
    finally:
        gc.enable()


def test_a_batch_is_pygs_hetero_data(dataset):
    pytest.importorskip("torch_geometric")
    (batch,) = NeighborLoader(dataset, [4, 4], input_nodes=[1, 2, 3], batch_size=3, workers=1)
    data = batch.to_pyg()
    assert data.validate() and data.metadata() == batch.metadata()
    assert data["paper"].batch_size == 3 and data["subject"].num_nodes == batch["subject"].num_nodes
    for relation in batch.edge_types:
        assert data[relation].edge_index.equal(batch[relation].edge_index)
    assert batch.to("cpu") is batch and batch.cpu().device.type == "cpu"
    (told,) = NeighborLoader(dataset, [4, 4], input_nodes=[1, 2, 3], workers=1, transform=lambda data: data.num_nodes)
    assert told == data.num_nodes
    with pytest.raises(AttributeError, match="no type and no relation of this batch has 'edge_attr'"):
        batch.edge_attr_dict
    with pytest.raises(AttributeError, match="'z' here; there are num_nodes, n_id"):
        batch["paper"].z
    with pytest.raises(KeyError, match="'venue' is none of 'author'"):
        batch["venue"]


def trained(model, dataset, embeddings):
    """The loss of each epoch."""
    loader = NeighborLoader(dataset, num_neighbors=[8, 8], input_nodes="train", batch_size=10, shuffle=True, workers=2)
    optimizer = torch.optim.Adam([*model.parameters(), embeddings.weight], lr=0.01)
    losses = []
    for _ in range(15):
        sums = 0.0
        for batch in loader:
            optimizer.zero_grad()
            x = {**batch.x_dict, "subject": embeddings(batch["subject"].n_id)}
            out = model(x, batch.edge_index_dict)["paper"][: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch["paper"].y[: batch.batch_size])
            loss.backward()
            optimizer.step()
            sums += float(loss.detach())
        losses.append(sums / len(loader))
    return losses


@pytest.mark.parametrize("kind", ["to_hetero", "HeteroConv"])
def test_pygs_models_learn_from_its_batches(dataset, kind):
    nn = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    if kind == "to_hetero":
        model = nn.to_hetero(nn.GraphSAGE((-1, -1), 16, 2, CLASSES), dataset.metadata())
    else:

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.convs = torch.nn.ModuleList(
                    nn.HeteroConv({relation: nn.SAGEConv((-1, -1), width) for relation in dataset.edge_types})
                    for width in (16, CLASSES)
                )

            def forward(self, x, edge_index):
                x = {name: rows.relu() for name, rows in self.convs[0](x, edge_index).items()}
                return self.convs[1](x, edge_index)

        model = Model()
    embeddings = torch.nn.Embedding(7, 6)
    (batch,) = NeighborLoader(dataset, num_neighbors=[2, 2], input_nodes=[0], workers=1)
    with torch.no_grad():  # lazy widths
        model({**batch.x_dict, "subject": embeddings(batch["subject"].n_id)}, batch.edge_index_dict)
    losses = trained(model, dataset, embeddings)
    assert losses[-1] < losses[0] / 3, losses


@pytest.mark.parametrize("options", [{"model": "rgcn"}, {"model": "rsage", "residual": True}, {"model": "hgt"}])
def test_a_model_says_of_a_batch_of_all_neighbours_what_it_says_of_the_graph(dataset, options):
    pytest.importorskip("torch_geometric")
    from salient_gnn.typed_models import TypedModel

    number = dataset.node_types.index
    nodes = [(name, dataset[name].num_nodes, dataset[name].num_features) for name in dataset.node_types]
    relations = [(number(src), name, number(dst)) for src, name, dst in dataset.edge_types]
    torch.manual_seed(0)
    model = TypedModel({"hidden_dim": 8, "num_layers": 2, "num_classes": CLASSES, "norm": "layer", "residual": False,
                        "jk": "none", "heads": 2, "types": {"nodes": nodes, "relations": relations}, **options})
    model.eval()
    with torch.no_grad():
        x = {name: dataset[name].x.to_dense().float() for name in ("author", "paper")}
        whole = model(x, {relation: dataset[relation].edge_index for relation in dataset.edge_types})["paper"]
        for batch in NeighborLoader(dataset, num_neighbors=[-1, -1], input_nodes="test", batch_size=4, workers=1):
            found = model(batch.x_dict, batch.edge_index_dict, batch.n_id_dict)["paper"][: batch.batch_size]
            torch.testing.assert_close(found, whole[batch["paper"].n_id[: batch.batch_size]])


@pytest.mark.parametrize(
    "options, words",
    [
        ({"num_neighbors": {("a", "b", "c"): [1]}}, "('a', 'b', 'c') is none of the relations ('author', 'writes'"),
        ({"num_neighbors": {CITES: [1]}}, "num_neighbors: has no ('author', 'writes', 'paper')"),
        ({"num_neighbors": {CITES: [1, 2]}, "others": [1]}, "num_neighbors: of 1, 2 hops"),
        ({"num_neighbors": {}, "others": []}, "num_neighbors: of 0 hops"),
        ({"num_neighbors": {CITES: [-2]}, "others": [1]}, "[-2] of ('paper', 'cites', 'paper'); a list"),
        ({"num_neighbors": {CITES: 3}, "others": [1]}, "3 of ('paper', 'cites', 'paper'); a list"),
        ({"num_neighbors": [0]}, "[0]; a list"),
        ({"input_nodes": "venue"}, "nodes: 'venue' is none of the types 'author'"),
        ({"input_nodes": ("venue", [1])}, "nodes: 'venue' is none of the types"),
        ({"input_nodes": ("author", "train")}, "nodes: 'train' are nodes of the type 'paper', not of 'author'"),
        ({"input_nodes": ("author", torch.ones(60, dtype=torch.bool))}, "nodes: a mask of shape [60], not [40]"),
        ({"input_nodes": ("subject", [7])}, "nodes: item 0 is 7, ids are 0 to 6"),
        ({"input_nodes": ("subject", [1, 1])}, "nodes: an id is there more than once"),
        ({"features": "device"}, "features: 'device' is not possible, batches are on cpu"),
        ({"sampler": "device"}, "sampler: 'device' is not possible, batches are on cpu"),
    ],
)
def test_what_does_not_fit_is_refused(dataset, options, words):
    options = {"num_neighbors": [2], "input_nodes": "train", **options}
    if "others" in options:
        fanouts = options.pop("others")
        options["num_neighbors"] = {r: fanouts for r in dataset.edge_types} | options["num_neighbors"]
    with pytest.raises(ValueError) as refused:
        NeighborLoader(dataset, workers=1, **options)
    assert words in str(refused.value) and "\n" not in str(refused.value)
