# tests/python/pyg_batch_test.py - a batch has PyG's names and values; of PyG's Data it is what PyG's own filter gives.
import copy
import gc
import os
import pathlib
import pickle
import tempfile
import warnings

import pytest
import salient_gnn
import torch
from conftest import FANOUTS
from salient_gnn import pyg_store


@pytest.fixture
def batch(dataset):
    loader = salient_gnn.NeighborLoader(
        dataset, num_neighbors=FANOUTS, input_nodes="val", batch_size=64, shuffle=True, workers=1
    )
    return next(iter(loader))


def test_labels_and_masks_are_those_of_all_nodes(dataset, batch):
    assert batch.n_id.dtype == torch.int64 and torch.equal(batch.n_id, batch.nodes.long())
    assert torch.equal(batch.y, dataset.y[batch.n_id].long())
    for name, part in (("train_mask", "train"), ("val_mask", "valid"), ("test_mask", "test")):
        mask = getattr(batch, name)
        assert mask.dtype == torch.bool and torch.equal(mask, torch.isin(batch.nodes, getattr(dataset, part)))
    assert batch.val_mask[: batch.batch_size].all() and not batch.val_mask.all()


def test_labels_are_of_the_seeds_or_of_all_nodes_as_asked(dataset):
    for options, has_all in (({}, False), ({"y_of": "nodes"}, True), ({"y_of": "seeds"}, False)):
        batch = next(iter(salient_gnn.NeighborLoader(dataset, "val", [4], 32, workers=1, **options)))
        assert len(batch.y) == (batch.num_nodes if has_all else 32)
        assert torch.equal(batch.y, dataset.y[batch.n_id[: len(batch.y)]].long())
    loader = salient_gnn.NeighborLoader(dataset, num_neighbors=[4], input_nodes="val", y_of="seeds", workers=1)
    batch = next(iter(loader))
    assert len(batch.y) == batch.batch_size
    with pytest.raises(ValueError, match="y_of: 'all' is none of seeds, nodes"):
        salient_gnn.NeighborLoader(dataset, "val", [4], y_of="all")


def test_edges_are_found_in_the_graph(dataset, batch):
    assert torch.equal(dataset.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
    assert len(batch.e_id) == batch.num_edges == sum(batch.num_sampled_edges)


@pytest.mark.parametrize("nodes", ["all", "val", [5, 3, 900, 17], "mask"])
def test_input_id_is_the_place_of_a_seed(dataset, nodes):
    given = dataset.val_mask if nodes == "mask" else nodes
    wanted = {"all": torch.arange(dataset.num_nodes), "val": dataset.valid}
    rows = dataset.val_mask.nonzero().squeeze(1) if nodes == "mask" else torch.as_tensor(
        wanted[nodes] if not isinstance(nodes, list) else nodes)  # fmt: skip
    for batch in salient_gnn.NeighborLoader(dataset, given, [2], 100, shuffle=True, workers=1):
        assert torch.equal(rows.long()[batch.input_id], batch.n_id[: batch.batch_size])


def test_items_are_attributes_by_name(batch):
    assert set(batch.keys()) == {
        "x", "edge_index", "y", "n_id", "e_id", "input_id", "batch_size", "num_sampled_nodes", "num_sampled_edges",
        "train_mask", "val_mask", "test_mask",
    }  # fmt: skip
    for name in batch.keys():
        assert name in batch and batch[name] is getattr(batch, name)
    assert "edge_attr" not in batch and 0 not in batch
    with pytest.raises(KeyError, match="edge_attr"):
        batch["edge_attr"]
    with pytest.raises(AttributeError, match="a Batch has no 'edge_attr'; it has x, edge_index"):
        batch.edge_attr
    with pytest.raises(TypeError, match="not iterable"):
        iter(batch)
    assert not hasattr(batch, "__array__") and copy.copy(batch).n_id is batch.n_id


def test_a_batch_moves_whole(batch):
    assert batch.to("cpu") is batch and batch.cpu() is batch and batch.to(torch.device("cpu"), "x", "y") is batch
    moved = batch.to("meta")
    assert moved.device.type == moved.x.device.type == moved.edge_index.device.type == "meta"
    assert moved.x.shape == batch.x.shape


def test_transform_gets_pygs_data(dataset):
    data = pytest.importorskip("torch_geometric.data")
    seen = []

    def transform(item):
        seen.append(item)
        item.double = 2 * item.x
        return item

    loader = salient_gnn.NeighborLoader(dataset, num_neighbors=[3], input_nodes="val", workers=1, transform=transform)
    items = list(loader)
    assert items == seen and len(items) == len(loader)
    assert all(isinstance(item, data.Data) and torch.equal(item.double, 2 * item.x) for item in items)
    assert "e_id" not in items[0] and len(items[0].train_mask) == items[0].num_nodes == len(items[0].y)


@pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-prepare").exists(), reason="SALIENT_BIN has none"
)
def test_ids_that_are_text_are_taken(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,eve\neve,ann\njoe,ann\n")
    data = salient_gnn.prepare(tmp_path / "store", tmp_path / "edges.csv", make_features="degree", quiet=True)
    (batch,) = salient_gnn.NeighborLoader(data, ["eve", "ann"], [2], workers=1)
    assert data.source_ids[batch.nodes[:2]].tolist() == ["eve", "ann"]
    with pytest.raises(ValueError, match="'jim'"):
        salient_gnn.NeighborLoader(data, ["eve", "jim"], [2])


# Of PyG's Data.


@pytest.fixture
def data(dataset):
    pyg = pytest.importorskip("torch_geometric.data")
    generator = torch.Generator().manual_seed(0)
    edges = dataset.edge_index
    edges = torch.cat([edges, edges[:, ::7]], 1)[:, torch.randperm(edges.shape[1] + len(edges[0, ::7]))]  # some twice
    return pyg.Data(
        x=dataset.x.float(), edge_index=edges, y=dataset.y.long().unsqueeze(1),
        edge_attr=torch.rand(edges.shape[1], 3, generator=generator), year=torch.arange(dataset.num_nodes),
        train_mask=dataset.train_mask, val_mask=dataset.val_mask, test_mask=dataset.test_mask, title="a graph",
    )  # fmt: skip


def same_as_pygs_filter(data, batch):
    from torch_geometric.loader.utils import filter_data

    wanted = filter_data(data, batch.n_id, *batch.edge_index, batch.e_id)
    for name in wanted.keys():
        value, own = wanted[name], batch[name] if name != "num_nodes" else batch.num_nodes
        assert torch.equal(own, value) if isinstance(value, torch.Tensor) else own == value, name
    assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])


def test_a_batch_of_data_is_what_pygs_filter_gives(data):
    loader = salient_gnn.NeighborLoader(data, [5, 3], data.train_mask, batch_size=64, shuffle=True, workers=1)
    assert loader.data is data
    for batch in loader:
        same_as_pygs_filter(data, batch)
    item = batch.to_pyg()
    assert torch.equal(item.edge_attr, batch.edge_attr) and torch.equal(item.y, batch.y) and item.validate()


CHANGES = ["whole numbers", "no features", "float64", "half", "sparse", "own ids", "regression"]


@pytest.mark.parametrize("change", CHANGES)
def test_attributes_that_a_store_has_not_come_as_they_are(data, change):
    if change == "whole numbers":
        data.x = torch.arange(data.num_nodes)
    elif change == "no features":
        data.num_nodes, data.x = data.num_nodes, None
    elif change == "own ids":
        data.n_id = torch.arange(data.num_nodes) + 10**9
    elif change == "regression":
        data.y = torch.rand(data.num_nodes)
    else:
        data.x = {"float64": data.x.double, "half": data.x.half, "sparse": data.x.to_sparse}[change]()
    batch = next(iter(salient_gnn.NeighborLoader(data, [3], data.val_mask, batch_size=50, workers=1)))
    x = batch.x
    if change == "no features":
        assert x is None
    elif change == "sparse":
        assert torch.equal(x.to_dense(), data.x.to_dense()[batch.nodes])
    else:
        assert torch.equal(x, data.x[batch.nodes].to(x.dtype))
        assert x.dtype == (torch.float32 if change == "half" else data.x.dtype)
    assert torch.equal(batch.y, data.y[batch.nodes])
    if change == "own ids":
        assert torch.equal(batch.n_id, data.n_id[batch.nodes])


def test_a_store_of_data_is_made_once_and_goes_with_it(data, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    options = {"num_neighbors": [3], "workers": 1}
    loaders = [
        salient_gnn.NeighborLoader(data, input_nodes=data.train_mask, **options),
        salient_gnn.NeighborLoader(copy.copy(data), input_nodes=None, **options),
    ]
    assert loaders[0].dataset is loaders[1].dataset and len(list(tmp_path.iterdir())) == 1
    del loaders[1].data.y, loaders[1].data.x
    assert next(iter(loaders[1])).x.shape[1] == loaders[0].dataset.num_features
    data.x[0] += 1  # in place
    changed = salient_gnn.NeighborLoader(data, input_nodes=[0], **options)
    assert torch.equal(next(iter(changed)).x[0], data.x[0]) and changed.dataset is not loaders[0].dataset
    del loaders, changed, data
    gc.collect()
    left = [path for path in tmp_path.iterdir() if (path / "data").exists()]
    assert left == [] or pyg_store._stores  # the fixture keeps the last one


def test_a_loader_of_data_can_be_sent(data):
    loader = salient_gnn.NeighborLoader(data, [3], data.val_mask, batch_size=50, workers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = pickle.loads(pickle.dumps(loader))
    assert [b.nodes.tolist() for b in again] == [b.nodes.tolist() for b in loader]


def test_data_that_has_no_edges_is_refused(data):
    data.edge_index = None
    with pytest.raises(ValueError, match="data: has no edge_index"):
        salient_gnn.NeighborLoader(data, [3], input_nodes=None)

