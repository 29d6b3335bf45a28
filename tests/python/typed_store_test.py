# tests/python/typed_store_test.py - PyG's HeteroData, and dicts of arrays, become typed stores that hold the same.
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import salient_gnn
import torch
from salient_gnn import Dataset

PREPARE = pathlib.Path(os.environ.get("SALIENT_BIN", ""), "salient-prepare")
pytestmark = pytest.mark.skipif(not PREPARE.exists(), reason="SALIENT_BIN has no salient-prepare")

RELATIONS = {
    ("author", "writes", "paper"): torch.tensor([[0, 2, 1, 1], [3, 0, 3, 3]]),
    ("paper", "cites", "paper"): torch.tensor([[0, 1], [2, 2]]),
}
X = {"paper": torch.arange(12, dtype=torch.float32).view(4, 3), "author": torch.ones(3, 2, dtype=torch.float16)}
Y = torch.tensor([1, -1, 0, 2])


def neighbours(folder):
    """{relation: set of (source, destination)} of a store, in the ids of their types."""
    schema = json.loads((folder / "dataset.json").read_text())
    indptr, indices = np.load(folder / "indptr.npy"), np.load(folder / "indices.npy")
    types = {t["name"]: t["count"] for t in schema["node_types"]}
    into = {name: [r for r in schema["relations"] if r["dst"] == name] for name in types}
    node_begin = dict(zip(types, np.cumsum([0, *types.values()])))
    found, row = {}, 0
    for name, count in types.items():
        for node in range(count):
            for relation in sorted(into[name], key=lambda r: r["slot"]):
                ends = found.setdefault((relation["src"], relation["name"], name), set())
                for source in indices[indptr[row] : indptr[row + 1]]:
                    ends.add((int(source) - int(node_begin[relation["src"]]), node))
                row += 1
    assert row == len(indptr) - 1
    return found


def expected(relations, reverse=True):
    pairs = {r: set(map(tuple, ends.t().tolist())) for r, ends in relations.items()}
    if reverse:
        pairs |= {(d, f"rev_{n}", s): {(v, u) for u, v in ends} for (s, n, d), ends in pairs.items()}
    return pairs


def verified(folder):
    done = subprocess.run([PREPARE, "verify", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([PREPARE, "describe", folder], capture_output=True, text=True).stdout


def hetero_data():
    data = pytest.importorskip("torch_geometric.data").HeteroData()
    for name, rows in X.items():
        data[name].x = rows
    data["paper"].y = Y
    data["paper"].train_mask = torch.tensor([True, False, False, False])
    data["paper"].val_mask = torch.tensor([False, False, True, False])
    data["paper"].test_mask = torch.tensor([False, False, False, True])
    for relation, ends in RELATIONS.items():
        data[relation].edge_index = ends
    return data


def test_hetero_data_becomes_a_typed_store(tmp_path):
    folder = Dataset.from_pyg(hetero_data(), tmp_path / "mag").directory
    assert neighbours(folder) == expected(RELATIONS)
    np.testing.assert_array_equal(np.load(folder / "features.0.npy"), X["paper"])
    np.testing.assert_array_equal(np.load(folder / "features.1.npy"), X["author"])
    np.testing.assert_array_equal(np.load(folder / "labels.npy"), Y)
    schema = json.loads((folder / "dataset.json").read_text())
    assert schema["target_type"] == "paper"
    assert [int(np.load(folder / f"{part}.npy")[0]) for part in ("train", "valid", "test")] == [0, 2, 3]
    assert "author" in verified(folder)
    with pytest.raises(salient_gnn.Error, match="exists"):
        Dataset.from_pyg(hetero_data(), folder)
    Dataset.from_pyg(hetero_data(), folder, force=True, reverse=False)
    assert neighbours(folder) == expected(RELATIONS, reverse=False)


def test_edges_that_are_there_both_ways_are_not_doubled(tmp_path):
    """dmlc/dgl#3511: an R-GCN fell behind the leaderboard, as "cites", made undirected there, had its reverse again."""
    undirected = pytest.importorskip("torch_geometric.transforms").ToUndirected
    cites, reverse = ("paper", "cites", "paper"), ("paper", "rev_cites", "paper")
    both = {(0, 2), (2, 0), (1, 2), (2, 1)}
    merged = neighbours(Dataset.from_pyg(undirected(merge=True)(hetero_data()), tmp_path / "merged").directory)
    assert merged == {**expected({r: ends for r, ends in RELATIONS.items() if r != cites}), cites: both}
    apart = neighbours(Dataset.from_pyg(undirected(merge=False)(hetero_data()), tmp_path / "apart").directory)
    assert apart == expected(RELATIONS) and apart[reverse] == {(2, 0), (2, 1)}
    verified(tmp_path / "merged")


def test_what_a_store_does_not_have_is_said(tmp_path):
    data = hetero_data()
    data["author", "writes", "paper"].edge_attr = torch.ones(4, 1)
    data["author"].y = torch.tensor([0, 1, 0])
    with pytest.warns(UserWarning, match=r"y of author, edge_attr of \('author', 'writes', 'paper'\) are left out"):
        Dataset.from_pyg(data, tmp_path / "a", target="paper")
    with pytest.warns(UserWarning, match="y of paper"):
        folder = Dataset.from_pyg(data, tmp_path / "b", target="author").directory
    assert json.loads((folder / "dataset.json").read_text())["target_type"] == "author"


def test_dicts_of_arrays_as_of_dgl(tmp_path):
    relations = {("a", "to", "b"): np.array([[0, 5], [1, 1]])}
    folder = Dataset.from_typed_arrays(tmp_path / "g", relations, {"b": np.eye(3)}, [1, 0, -1], target="b",
                                       train=[0], num_nodes={"c": 2}).directory  # fmt: skip
    schema = json.loads((folder / "dataset.json").read_text())
    assert {t["name"]: t["count"] for t in schema["node_types"]} == {"a": 6, "b": 3, "c": 2}
    assert neighbours(folder) == expected({("a", "to", "b"): torch.tensor([[0, 5], [1, 1]])})
    verified(folder)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"edges": {("a", "b"): [[0], [0]]}}, "is no (type of sources, name, type of destinations)"),
        ({"num_nodes": {"a": 1}}, "edge_index of (a, to, b)[0]: item 1 is node 5; nodes are 0 to 0"),
        ({"target": None}, "target: is needed"),
        ({"target": "d"}, "'d' is none of the types"),
        ({"x": {"a b": np.eye(3), "b": np.eye(3)}}, "'a b'"),
        ({"y": [0.5, 0, 0]}, "task='regression'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, change, words):
    given = {"edges": {("a", "to", "b"): [[0, 5], [1, 1]]}, "x": {"b": np.eye(3)}, "y": [1, 0, -1], "target": "b"}
    with pytest.raises((ValueError, salient_gnn.Error)) as refused:
        Dataset.from_typed_arrays(tmp_path / "g", **{**given, **change})
    assert words in str(refused.value)
    assert not (tmp_path / "g").exists()
