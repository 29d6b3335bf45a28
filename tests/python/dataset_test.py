# tests/python/dataset_test.py - stores from arrays, and the arrays of a store.
import json
import os
import pathlib
import pickle

import pytest
import salient_gnn
import torch
from salient_gnn import Dataset


def test_arrays_come_back_as_they_went_in(arrays, tmp_path):
    data = Dataset.from_arrays(tmp_path / "ring", **arrays)
    assert (data.name, data.num_nodes, data.num_edges, data.num_classes) == ("ring", 6, 13, 3)
    assert torch.equal(data.x, arrays["x"]) and data.x.dtype == torch.float32
    assert data.y.tolist() == arrays["y"].tolist()
    assert (data.train.tolist(), data.valid.tolist(), data.test.tolist()) == ([0, 1], [2], [4, 3])
    assert data.indices[data.indptr[3] : data.indptr[4]].tolist() == [0, 2, 4]  # messages go from [0] to [1]
    again = pickle.loads(pickle.dumps(data))
    assert torch.equal(again.indices, data.indices)


def test_halves_stay_halves_and_several_labels_are_flags(arrays, tmp_path):
    flags = torch.tensor([[1, 0], [0, 0], [1, 1], [0, -1], [0, 1], [-1, -1]])
    arrays.update(x=arrays["x"].half(), y=flags)
    data = Dataset.from_arrays(tmp_path / "ring", **arrays)
    assert data.x.dtype == torch.float16 and data.is_multi_label
    assert torch.equal(data.y.long(), flags)
    batch = next(iter(salient_gnn.NeighborLoader(data, "train", [2], 2, workers=1)))
    assert batch.y.tolist() == [[1, 0], [0, 0]]


def test_values_of_a_regression(arrays, tmp_path):
    none = float("nan")
    values = torch.tensor([[1.5, 2], [0, none], [-3, 4], [none, none], [5, 6], [7, 8]])
    wanted = {**arrays, "y": values, "task": "regression", "target_names": ["price", "weight"]}
    data = Dataset.from_arrays(tmp_path / "ring", **{**wanted, "test": [4]})
    assert (data.task, data.num_classes, data.class_names) == ("regression", 2, ["price", "weight"])
    assert data.y.dtype == torch.float32 and torch.equal(data.y.nan_to_num(-9), values.nan_to_num(-9))
    batch = next(iter(salient_gnn.NeighborLoader(data, "train", [2], 2, workers=1)))
    assert batch.y.dtype == torch.float32 and torch.equal(batch.y.nan_to_num(-9), values[:2].nan_to_num(-9))
    one = Dataset.from_arrays(tmp_path / "one", **{**arrays, "y": arrays["y"].double() / 2, "task": "regression"})
    assert one.y.shape == (6, 1) and "1 targets" in repr(one)
    for wrong, message in (
        ({"y": values * torch.inf}, "infinite"),
        ({"y": torch.full((6, 1), none)}, "without any value"),
        ({"task": "ranking"}, "is not 'regression'"),
        ({"target_names": ["price"]}, "has 2 targets"),
        ({"task": None}, "only with task='regression'"),
    ):
        with pytest.raises(ValueError, match=message):
            Dataset.from_arrays(tmp_path / "wrong", **{**wanted, **wrong})


def test_symmetric_adds_the_reverse_of_every_edge(arrays, tmp_path):
    data = Dataset.from_arrays(tmp_path / "ring", symmetric=True, **arrays)
    assert data.num_edges == 14 and data.is_symmetric


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int32, torch.bool])
def test_sparse_features_of_every_layout_and_type(arrays, tmp_path, layout, dtype):
    rows = torch.eye(6, 8).to(dtype)
    block = {"blocksize": (2, 2)} if layout == torch.sparse_bsr else {}
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, "x": rows.to_sparse(layout=layout, **block)})
    assert data.feature_dtype == (torch.float16 if dtype == torch.float16 else torch.float32)
    assert torch.equal(data.x.to_dense().to(dtype), rows)


def test_sparse_features_are_never_made_dense(arrays, tmp_path):
    places, values = torch.tensor([[0, 0, 0, 5], [7, 1 << 19, 7, 3]]), torch.tensor([1.0, 2.0, 3.0, 0.0])
    wide = torch.sparse_coo_tensor(places, values, (6, 1 << 20))  # 7 is there twice, and means the sum
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, "x": wide})
    assert data.x.col_indices().tolist() == [7, 1 << 19] and data.x.values().tolist() == [4.0, 2.0]
    for wrong, message in ((wide * torch.inf, "not|finite"), (torch.eye(5, 3).to_sparse(), "x: has shape")):
        with pytest.raises((ValueError, salient_gnn.Error), match=message):
            Dataset.from_arrays(tmp_path / "wrong", num_nodes=6, **{**arrays, "x": wrong})
    broken = torch.sparse_csr_tensor([0, 1, 1, 1, 1, 1, 1], [9], [1.0], (6, 3), check_invariants=False)
    with pytest.raises(salient_gnn.Error, match="rules of a sparse CSR"):
        Dataset.from_arrays(tmp_path / "wrong", **{**arrays, "x": broken})


def test_sparse_features_become_dense_batches(arrays, tmp_path):
    rows = torch.eye(6, 2000)
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, "x": rows.to_sparse()})
    assert data.has_sparse_features and torch.equal(data.x.to_dense(), rows)
    assert data.feature_dtype == data.x.dtype
    batch = next(iter(salient_gnn.NeighborLoader(data, [5, 0], [2], 2, workers=1)))
    assert torch.equal(batch.x, rows[batch.nodes.long()])
    assert torch.equal(batch.x_sparse.to_dense(), batch.x)


def test_fp8_features_become_half_batches(arrays, tmp_path):
    rows = torch.tensor([[0.0, 1.0], [0.5, -3.75], [7.0, 0.3], [0.02, 5.1], [1.0, 1.0], [-7.0, 0.0]])
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, "x": rows}, fp8=True)
    assert data.x.dtype == data.feature_dtype == torch.float8_e4m3fn and data.fp8_scale == 2**-6
    assert torch.equal(data.x.view(torch.uint8), (rows / data.fp8_scale).to(torch.float8_e4m3fn).view(torch.uint8))
    stored = data.x.float() * data.fp8_scale
    batch = next(iter(salient_gnn.NeighborLoader(data, [5, 0], [2], 2, workers=1, dtype=None)))
    assert batch.x.dtype == torch.float16 and torch.equal(batch.x.float(), stored[batch.nodes.long()])
    with pytest.raises(salient_gnn.Error, match="sparse features are not kept in fp8"):
        Dataset.from_arrays(tmp_path / "sparse", **{**arrays, "x": rows.to_sparse()}, fp8=True)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"edge_index": torch.tensor([[0, 6], [1, 1]])}, "item 1 is node 6"),
        ({"edge_index": torch.tensor([0, 1])}, "edge_index"),
        ({"edge_index": torch.tensor([[0.0, 1.9], [1.0, 1.0]])}, "edge_index: torch.float32"),
        ({"edge_index": torch.ones(2, 2, dtype=torch.bool)}, "edge_index: torch.bool"),
        ({"train": [0.5]}, "train: torch.float64"),
        ({"x": torch.full((6, 2), torch.nan)}, "x: row 0, column 0 is nan"),
        ({"x": torch.ones(6, 2, dtype=torch.cfloat)}, "x: torch.complex64"),
        ({"x": torch.full((6, 2), torch.inf).half()}, "not finite"),
        ({"x": torch.ones(5, 2), "num_nodes": 6}, "x: has shape"),
        ({"y": torch.tensor([0, 1, 2, 0, 1, -2])}, "labels are -1"),
        ({"y": torch.tensor([0, 1, 2, 0, 1, 0.5])}, "fractions"),
        ({"train": [0, 0]}, "train"),
        ({"train": [9]}, "train"),
        ({"train": [[0], [1]]}, r"train: has shape \[2, 1\]"),
        ({"x": torch.ones(6, 0)}, r"x: has shape \[6, 0\]"),
        ({"num_nodes": -1}, "num_nodes: -1"),
        ({"train": torch.ones(5, dtype=torch.bool)}, "train: a mask"),
        ({"name": "a/b"}, "name"),
        ({"edge_index": torch.ones(2, 2, dtype=torch.cfloat)}, "edge_index: torch.complex64"),
        ({"edge_index": torch.tensor([[2**63, 1], [1, 2]], dtype=torch.uint64)}, f"edge_index: item 0 is {2**63}"),
        ({"edge_index": None}, "edge_index: is None"),
        ({"train": None}, "train: is None"),
        ({"num_nodes": 6.0}, "num_nodes: 6.0"),
    ],
)
def test_wrong_arrays_are_refused(arrays, tmp_path, wrong, message):
    with pytest.raises((ValueError, salient_gnn.Error), match=message):
        Dataset.from_arrays(tmp_path / "ring", **{**arrays, **wrong})
    assert not (tmp_path / "ring").exists()


def test_labels_of_no_columns_are_refused(arrays, tmp_path):
    with pytest.raises(ValueError, match=r"y: has shape \[6, 0\], no labels"):
        Dataset.from_arrays(tmp_path / "ring", **{**arrays, "y": torch.zeros(6, 0)})


def test_masks_may_be_numbers(arrays, tmp_path):
    numbers = {part: torch.zeros(6, dtype=torch.uint8) for part in ("train", "valid", "test")}
    numbers["train"][[0, 1]] = numbers["valid"][2] = numbers["test"][[3, 4]] = 1
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, **numbers})
    assert [part.tolist() for part in (data.train, data.valid, data.test)] == [[0, 1], [2], [3, 4]]
    loader = salient_gnn.NeighborLoader(data, [0, 0, 1, 0, 0, 1], [2], 6, workers=1)
    assert next(iter(loader)).nodes[:2].tolist() == [2, 5]
    two = Dataset.from_arrays(tmp_path / "two", [[0], [1]], y=[0, 1], train=[1, 0])
    assert sorted(two.train.tolist()) == [0, 1]  # ids


def test_features_may_be_parameters(arrays, tmp_path):
    data = Dataset.from_arrays(tmp_path / "ring", **{**arrays, "x": torch.nn.Parameter(arrays["x"])})
    assert torch.equal(data.x, arrays["x"])


def test_a_store_that_is_there_is_replaced_on_request_alone(arrays, tmp_path):
    Dataset.from_arrays(tmp_path / "ring", **arrays)
    with pytest.raises(salient_gnn.Error) as refused:
        Dataset.from_arrays(tmp_path / "ring", **arrays)
    assert refused.value.code == 2
    arrays["y"] = arrays["y"].clamp(max=1)
    assert Dataset.from_arrays(tmp_path / "ring", force=True, **arrays).num_classes == 2


def test_a_missing_store_is_an_error_with_its_code(tmp_path):
    with pytest.raises(salient_gnn.Error, match="missing") as missing:
        Dataset.open(tmp_path / "nothing")
    assert missing.value.code == 66


def test_paths_need_not_be_utf8(arrays, tmp_path):
    folder = os.path.join(tmp_path, os.fsdecode(b"ring-\xff"))
    data = Dataset.from_arrays(folder, name="ring", **arrays)
    assert data.directory == pathlib.Path(folder) and Dataset.open(folder).num_nodes == 6
    with pytest.raises(salient_gnn.Error, match=r"absent-\\xff.* missing") as missing:
        Dataset.open(os.path.join(tmp_path, os.fsdecode(b"absent-\xff")))
    assert missing.value.code == 66


def test_names_are_below_the_folder_in_salient_data(arrays, tmp_path, monkeypatch):
    Dataset.from_arrays(tmp_path / "data/ring", **arrays)
    monkeypatch.chdir(tmp_path)
    for folder in ("", str(tmp_path / "data")):
        monkeypatch.setenv("SALIENT_DATA", folder)
        assert Dataset.open("ring").num_nodes == 6
        monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("SALIENT_DATA", str(tmp_path / "elsewhere"))
    assert Dataset.open("ring", data_root=tmp_path / "data").num_nodes == 6


def test_from_pyg_and_from_ogb(arrays, tmp_path):
    data_module = pytest.importorskip("torch_geometric.data")
    masks = {name: torch.zeros(6, 2, dtype=torch.bool) for name in ("train_mask", "val_mask", "test_mask")}
    for name, node in (("train_mask", 0), ("val_mask", 1), ("test_mask", 2)):
        masks[name][node, 1] = True
    item = data_module.Data(x=arrays["x"], y=arrays["y"], edge_index=arrays["edge_index"], **masks)
    data = Dataset.from_pyg(item, tmp_path / "pyg", split=1)
    assert (data.train.tolist(), data.valid.tolist(), data.test.tolist()) == ([0], [1], [2])
    item.edge_weight, item.day = torch.ones(13), torch.ones(13)
    with pytest.warns(UserWarning, match="^day is left out"):
        assert Dataset.from_pyg(item, tmp_path / "weighted").edge_weight.tolist() == [1] * 13
    with pytest.raises(ValueError, match="no edge_index"):
        Dataset.from_pyg(data_module.HeteroData(), tmp_path / "types")

    class Ogb:  # what NodePropPredDataset gives
        name = "ogbn-ring"

        def get_idx_split(self):
            return {"train": [0], "valid": [1], "test": [2]}

        def __getitem__(self, _):
            graph = {"edge_index": arrays["edge_index"].numpy(), "node_feat": arrays["x"].numpy(), "num_nodes": 6}
            return graph, arrays["y"].clamp(min=0).view(-1, 1).numpy()

    data = Dataset.from_ogb(Ogb(), tmp_path / "ogb")
    assert (data.name, data.num_edges, data.test.tolist()) == ("ogbn-ring", 14, [2])


def test_another_data_set_has_the_classes_and_columns_of_a_run(arrays, tmp_path):
    data = Dataset.from_arrays(tmp_path / "store", **{**arrays, "y": torch.tensor([0, 1, 2, 0, 1, -1])})
    (data.directory / "class_names.txt").write_text("bee\ncat\ndog\n")
    (data.directory / "column_names.txt").write_text("b\na\n")
    data = Dataset.open(data.directory)
    schema = {"task": "multi-class", "num_classes": 3, "feature_dim": 2, "class_names": ["ant", "bee", "cat"],
              "column_names": ["a", "b"], "feature_origin": {}}  # fmt: skip
    folder = tmp_path / "run/checkpoints/latest"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").touch()

    def keep(**changed):
        state = {"dataset": {"name": "old", "xxh3": "0", "schema": {**schema, **changed}}}
        (folder / "state.json").write_text(json.dumps(state))

    keep()
    with pytest.warns(UserWarning, match="trained on old, not on this data set; store .*dog"):
        seen = data.seen_by_run(tmp_path / "run")
    assert seen.y.tolist() == [1, 2, 3, 1, 2, -1] and seen.num_classes == 3
    assert torch.equal(seen.x, arrays["x"].flip(1))
    assert torch.equal(pickle.loads(pickle.dumps(seen)).y, seen.y)
    batch = next(iter(salient_gnn.NeighborLoader(seen, [2], [2], 1, workers=1)))
    assert batch.y.tolist() == [3] and torch.equal(batch.x, arrays["x"].flip(1)[batch.nodes.long()])
    keep(column_names=["a", "z"])
    with pytest.raises(salient_gnn.Error, match="store does not fit the run: it .*z") as refused:
        data.seen_by_run(tmp_path / "run")
    assert refused.value.code == 65
    with pytest.warns(UserWarning):
        assert torch.equal(data.seen_by_run(tmp_path / "run", match_features="place").x, arrays["x"])
    (data.directory / "class_names.txt").write_text("bee\ncat\n\x1b[31mdog\n")
    keep()
    with pytest.warns(UserWarning, match=r"\\x1b\[31mdog") as said:
        Dataset.open(data.directory).seen_by_run(tmp_path / "run")
    assert str(said[0].message).isprintable()
    (folder / "state.json").write_text("{}")
    with pytest.raises(salient_gnn.Error, match="state.json: does not say what the run was trained on"):
        data.seen_by_run(tmp_path / "run")


def test_errors_show_no_control_characters(arrays, tmp_path):
    place = tmp_path / "run\n\x1b[31mred"
    some = Dataset.open("synthetic:arxiv:0.01")
    for use in (Dataset.open, salient_gnn.load_model, some.seen_by_run):
        with pytest.raises((salient_gnn.Error, FileNotFoundError), match=r"run\\n\\x1b\[31mred") as missing:
            use(place)
        assert str(missing.value).isprintable()
    with pytest.raises(salient_gnn.Error) as wrong:
        Dataset.from_arrays(tmp_path / "out", name="a\n\x1b[31mb", **arrays)
    assert str(wrong.value).isprintable()


def test_a_store_that_is_there_is_replaced_when_asked(tmp_path, arrays):
    Dataset.from_arrays(tmp_path / "ring", **arrays)
    with pytest.raises(salient_gnn.Error, match=r"ring exists; Dataset.open\(\) opens it, force=True rep") as said:
        Dataset.from_arrays(tmp_path / "ring", **arrays)
    assert said.value.code == 2
    arrays["x"] = arrays["x"] + 1
    assert torch.equal(Dataset.from_arrays(tmp_path / "ring", **arrays, force=True).x, arrays["x"])
