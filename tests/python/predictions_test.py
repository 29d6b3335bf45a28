# tests/python/predictions_test.py - the table of predictions has the columns of salient-infer's.
import numpy
import pytest
import salient_gnn
import torch

NAMES = ["retail", "premium", "dormant"]


def predictions(classes, logits, report=None):
    ids = torch.tensor([4, 0])
    source_ids = numpy.array(["cust-9", "cust-1"])
    return salient_gnn.Predictions(ids, torch.tensor(logits), torch.tensor(classes), report or {}, source_ids)


@pytest.fixture(autouse=True)
def needs_pandas():
    pytest.importorskip("pandas")


@pytest.mark.parametrize("names", [NAMES, []])
def test_classes(names):
    logits = [[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]
    found = predictions(torch.tensor([1, 0], dtype=torch.int32).tolist(), logits, {"class_names": names})
    found.classes = found.classes.int()
    table = found.to_pandas()
    probs = [f"prob_{name}" for name in names or ("0", "1", "2")]
    named = ["class_name"] if names else []
    assert list(table.columns) == ["node", "id", "class", *named, "probability", *probs]
    assert table["node"].tolist() == [4, 0] and table["id"].tolist() == ["cust-9", "cust-1"]
    assert table["class"].tolist() == [1, 0] and (not names or table["class_name"].tolist() == ["premium", "retail"])
    assert numpy.allclose(table[probs], torch.tensor(logits).softmax(1))
    assert numpy.allclose(table["probability"], table[probs].max(axis=1))


def test_several_labels_a_node():
    found = predictions([[1, 0], [1, 1]], [[1.0, -1.0], [2.0, 3.0]], {"class_names": ["red", "blue"]})
    found.classes = found.classes.to(torch.int8)
    table = found.to_pandas()
    assert list(table.columns) == ["node", "id", "red", "blue", "prob_red", "prob_blue"]
    assert table[["red", "blue"]].values.tolist() == [[1, 0], [1, 1]]
    assert numpy.allclose(table[["prob_red", "prob_blue"]], torch.tensor([[1.0, -1.0], [2.0, 3.0]]).sigmoid())


@pytest.mark.parametrize("report, name", [({"target_names": ["price"]}, "price_predicted"), ({}, "target_predicted")])
def test_values(report, name):
    table = predictions([1.5, 2.5], [[1.5], [2.5]], report).to_pandas()
    assert list(table.columns) == ["node", "id", name] and table[name].tolist() == [1.5, 2.5]


def test_embeddings_for_tensorboard_are_some_of_the_nodes(tmp_path):
    found = predictions([1, 0], [[0.0, 2.0], [1.0, 0.0]], {"class_names": ["red", "blue"]})
    with pytest.raises(ValueError, match="embeddings=LAYER"):
        found.to_projector(tmp_path)
    found.embeddings = torch.tensor([[0.5, 1.0], [2.0, 3.0]])
    found.source_ids = numpy.array(["a\tb", ""])
    folder = found.to_projector(tmp_path)
    assert (folder / "embeddings.tsv").read_text() == "0.5\t1\n2\t3\n"
    assert (folder / "nodes.tsv").read_text() == "id\tclass\na b\tblue\n-\tred\n"
    assert 'metadata_path: "projector/nodes.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()
    found.classes = torch.tensor([[1, 0], [0, 1]], dtype=torch.int8)
    found.to_projector(tmp_path, most=1)
    assert (folder / "nodes.tsv").read_text() == "a b\n" and (folder / "embeddings.tsv").read_text() == "0.5\t1\n"
    found.classes = torch.tensor([0.5, 1.5])
    found.to_projector(tmp_path)
    assert (folder / "nodes.tsv").read_text().splitlines()[1] == "a b\t0.5"
