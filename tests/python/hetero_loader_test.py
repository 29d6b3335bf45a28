# tests/python/hetero_loader_test.py - NeighborLoader takes PyG's HeteroData: its relations, attributes and masks.
import pathlib
import pickle
import tempfile
import warnings

import pytest
import salient_gnn
import torch
from salient_gnn import NeighborLoader

pyg = pytest.importorskip("torch_geometric.data")
WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
BACK = ("paper", "rev_writes", "author")
CLASSES = 3


def made_data():
    """60 papers with features and classes, 40 authors whose features are whole numbers, an edge of each relation
    twice."""
    draw = torch.Generator().manual_seed(2)
    data = pyg.HeteroData()
    y = torch.randint(CLASSES, (60,), generator=draw)
    data["paper"].x = torch.randn(60, 5, generator=draw) + 2 * torch.nn.functional.one_hot(y, 5)
    data["paper"].y = y
    data["paper"].year = torch.randint(1990, 2020, (60,), generator=draw)
    data["paper"].train_mask = torch.arange(60) < 40
    data["paper"].source = "by hand"
    data["author"].x = torch.randint(9, (40, 2), generator=draw)
    written = torch.randint(60, (200,), generator=draw)
    writes = torch.stack([torch.randint(40, (200,), generator=draw), written])
    data[WRITES].edge_index = torch.cat([writes, writes[:, :1]], 1)
    data[WRITES].edge_attr = torch.arange(402.0).view(201, 2)
    data[CITES].edge_index = torch.randint(60, (2, 150), generator=draw)
    data[BACK].edge_index = writes.flip(0)
    return data


@pytest.fixture
def data():
    return made_data()


def kept(edges):
    return sorted(set(map(tuple, edges.t().tolist())))


def test_batches_have_the_relations_and_attributes_of_the_data(data):
    ids = [3, 17, 40]
    (batch,) = NeighborLoader(data, [-1], input_nodes=("paper", torch.tensor(ids)), batch_size=3, workers=1)
    assert batch.metadata() == data.metadata() and batch["paper"].n_id[:3].tolist() == ids
    assert batch["paper"].batch_size == 3 and batch["paper"].input_id.tolist() == [0, 1, 2]
    for relation in data.edge_types:
        edges, part = data[relation].edge_index, batch[relation]
        ends = torch.stack([batch[relation[0]].n_id[part.edge_index[0]], batch[relation[2]].n_id[part.edge_index[1]]])
        is_near = torch.isin(edges[1], torch.tensor(ids)) if relation[2] == "paper" else torch.zeros(0).long()
        assert kept(ends) == kept(edges[:, is_near])
        assert torch.equal(edges[:, part.e_id], ends)
    for name in ("x", "y", "year", "train_mask"):
        assert torch.equal(batch["paper"][name], data["paper"][name][batch["paper"].n_id]), name
    assert batch["paper"].source == "by hand"
    assert torch.equal(batch["author"].x, data["author"].x[batch["author"].n_id]), "whole numbers, as they are"
    assert torch.equal(batch[WRITES].edge_attr, data[WRITES].edge_attr[batch[WRITES].e_id])
    first = (batch[WRITES].e_id == 0).nonzero()
    assert len(first) == (0 if data[WRITES].edge_index[1, 0] not in ids else 1) and 200 not in batch[WRITES].e_id
    as_pyg = batch.to_pyg()
    assert as_pyg.validate() and as_pyg.metadata() == data.metadata()
    for key in (*data.node_types, *data.edge_types):
        assert set(data[key].keys()) <= {*as_pyg[key].keys(), "num_nodes"}, key


def test_masks_types_and_the_data_s_own_names(data):
    data["paper"].n_id = torch.arange(60) + 1000
    batches = list(NeighborLoader(data, [4, 4], ("paper", data["paper"].train_mask), batch_size=16, workers=2))
    assert torch.cat([batch["paper"].n_id[: batch.batch_size] for batch in batches]).tolist() == list(range(1000, 1040))
    for batch in batches:
        assert torch.equal(batch["paper"].x, data["paper"].x[batch["paper"].n_id - 1000])
    authors = list(NeighborLoader(data, [2], input_nodes="author", batch_size=40, workers=1))
    assert authors[0]["author"].n_id[:40].tolist() == list(range(40)) and "y" not in authors[0]["author"]
    few = {relation: [0] for relation in data.edge_types} | {CITES: [2]}
    (batch,) = NeighborLoader(data, few, input_nodes=("paper", None), batch_size=60, workers=1)
    assert batch[WRITES].num_edges == 0 and batch[CITES].num_edges > 0 and batch["author"].num_nodes == 0
    alone = next(iter(NeighborLoader(data, [2], input_nodes="paper", batch_size=8, workers=1, y_of="seeds")))
    assert torch.equal(alone["paper"].y, data["paper"].y[:8])


def test_pygs_way_of_training_with_one_import_changed(data):
    from torch_geometric import nn

    torch.manual_seed(0)
    loader = NeighborLoader(data, num_neighbors=[8, 8], input_nodes=("paper", data["paper"].train_mask), batch_size=10,
                            shuffle=True, transform=lambda batch: batch)  # fmt: skip
    model = nn.to_hetero(nn.GraphSAGE((-1, -1), 16, 2, CLASSES), data.metadata())
    rows = {"paper": data["paper"].x, "author": data["author"].x.float()}
    with torch.no_grad():  # lazy widths
        model(rows, data.edge_index_dict)
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
    for _ in range(12):
        for batch in loader:
            assert isinstance(batch, pyg.HeteroData)
            optimizer.zero_grad()
            x = {name: x.float() for name, x in batch.x_dict.items()}
            out = model(x, batch.edge_index_dict)["paper"][: batch["paper"].batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch["paper"].y[: batch["paper"].batch_size])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert sum(losses[-4:]) < sum(losses[:4]) / 3, losses


def test_one_store_for_all_loaders_is_gone_with_the_tensors(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = made_data()
    first = NeighborLoader(data, [2], input_nodes="paper", workers=1)
    second = NeighborLoader(data, [3], input_nodes="author", workers=1)
    assert first.dataset is second.dataset and len(list(pathlib.Path(tmp_path).iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = pickle.loads(pickle.dumps(first))
    assert [b["paper"].n_id.tolist() for b in again] == [b["paper"].n_id.tolist() for b in first]
    data[CITES].edge_index[0, 0] = 59 - data[CITES].edge_index[0, 0]  # another version of the tensor
    third = NeighborLoader(data, [2], input_nodes="paper", workers=1)
    assert third.dataset is not first.dataset
    del first, second, third, again, data
    assert list(pathlib.Path(tmp_path).iterdir()) == []


def test_what_cannot_be_is_refused(data):
    with pytest.raises(ValueError, match="data: has no edge_index of any relation"):
        NeighborLoader(pyg.HeteroData(), [3], input_nodes=None)
    with pytest.raises(ValueError, match="'venue' is none of the types"):
        NeighborLoader(data, [3], input_nodes=("venue", None))
    with pytest.raises(ValueError, match="weight_attr: .*of several types"):
        NeighborLoader(data, [3], input_nodes="paper", weight_attr="weight")
    del data[CITES].edge_index
    data[CITES].adj_t = torch.eye(60).to_sparse_csr()
    with pytest.raises(ValueError, match="has no edge_index; HeteroData with adj_t alone"):
        NeighborLoader(data, [3], input_nodes="paper")


def test_a_typed_store_knows_its_edges(tmp_path):
    typed = salient_gnn.Dataset.from_pyg(made_data_of_floats(), tmp_path / "store")
    (batch,) = NeighborLoader(typed, [3, 3], input_nodes=[5, 9], batch_size=2, workers=1)
    for relation in typed.edge_types:
        part = batch[relation]
        ends = torch.stack([batch[relation[0]].n_id[part.edge_index[0]], batch[relation[2]].n_id[part.edge_index[1]]])
        assert torch.equal(typed[relation].edge_index[:, part.e_id], ends)


def made_data_of_floats():
    data = made_data()
    del data["paper"].year, data["paper"].source, data[WRITES].edge_attr
    return data
