# tests/python/tables_test.py - tables of any kind become the same store as their text does.
import os
import pathlib

import numpy as np
import pytest
import salient_gnn

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-prepare").exists(), reason="SALIENT_BIN has none"
)

NODES = {
    "key": ["c-1", "c-2", "c-3"],
    "land": ["DE", "FR", "DE"],
    "age": [20.0, None, 40.0],
    "member": [True, False, True],
    "kind": ["good", "bad", None],
}
EDGES = {"who": ["c-1", "c-2", "c-3"], "whom": ["c-2", "c-3", "c-1"], "amount": [3.5, 4.25, 1.0]}
WANTED = {"label": "kind", "feature_dtype": "f32", "quiet": True}


class Frame:
    """What prepare() asks of a data frame of pandas."""

    def __init__(self, table, name=None):
        self.table = table
        self.index = type("Index", (), {"name": name})()

    def to_csv(self, file, index):
        assert index == (self.index.name is not None)
        lines = [",".join(self.table)]
        for row in zip(*self.table.values()):
            lines.append(",".join("" if value is None else str(value) for value in row))
        pathlib.Path(file).write_text("\n".join(lines) + "\n")


def features_of(out):
    return np.load(out / "features.npy"), (out / "column_names.txt").read_text().split()


@pytest.fixture
def as_text(tmp_path):
    """The store of the tables as text."""
    Frame(EDGES).to_csv(tmp_path / "edges.csv", index=False)
    Frame(NODES).to_csv(tmp_path / "nodes.csv", index=False)
    salient_gnn.prepare(tmp_path / "text", tmp_path / "edges.csv", str(tmp_path / "nodes.csv"), **WANTED)
    return tmp_path / "text"


def assert_equal_stores(one, other):
    for file in one.glob("*.npy"):
        assert file.read_bytes() == (other / file.name).read_bytes(), file.name
    assert (one / "column_names.txt").read_bytes() == (other / "column_names.txt").read_bytes()


@pytest.mark.parametrize("kind", ["arrow", "frame", "parquet", "folder", "words as numbers"])
def test_a_table_of_any_kind_makes_the_store_of_its_text(tmp_path, as_text, kind):
    edges, nodes = pa.table(EDGES), pa.table(NODES)
    if kind == "frame":
        edges, nodes = Frame(EDGES), Frame(NODES)
    if kind == "words as numbers":
        nodes = nodes.set_column(1, "land", nodes["land"].dictionary_encode())
    if kind in ("parquet", "words as numbers"):
        parquet.write_table(edges, tmp_path / "e.parquet", row_group_size=2)
        parquet.write_table(nodes, tmp_path / "n.parquet")
        edges, nodes = tmp_path / "e.parquet", str(tmp_path / "n.parquet")
    if kind == "folder":
        (tmp_path / "parts").mkdir()
        parquet.write_table(nodes.slice(0, 2), tmp_path / "parts/0.parquet")
        parquet.write_table(nodes.slice(2), tmp_path / "parts/1.parquet")
        nodes = tmp_path / "parts"
    store = salient_gnn.prepare(tmp_path / "other", edges, nodes, **WANTED)
    assert (store.num_nodes, store.num_classes) == (3, 2)
    assert_equal_stores(as_text, tmp_path / "other")
    values, names = features_of(tmp_path / "other")
    assert values.shape == (3, 5)
    assert names[:2] == ["land=DE", "land=FR"]


def test_parquet_is_read_a_part_at_a_time(tmp_path):
    count = 200_000
    parquet.write_table(pa.table({"id": range(count), "x": np.arange(count) % 7}), tmp_path / "n.parquet")
    parquet.write_table(pa.table({"source": range(count), "target": np.roll(np.arange(count), 1)}),
                        tmp_path / "e.parquet")  # fmt: skip
    store = salient_gnn.prepare(tmp_path / "s", tmp_path / "e.parquet", tmp_path / "n.parquet", quiet=True)
    assert store.num_nodes == count
    assert np.array_equal(np.load(tmp_path / "s/features.npy")[:, 0], np.arange(count) % 7)


def test_what_no_text_can_hold_is_refused_by_its_column(tmp_path):
    nested = pa.table({**NODES, "list": [[1.0], [2.0], [3.0]]})
    with pytest.raises(ValueError, match="column 'list' holds list<.*leave it out"):
        salient_gnn.prepare(tmp_path / "s", pa.table(EDGES), nested, **WANTED)
    dated = pa.table({**NODES, "day": pa.array([0, 1, 2], pa.date32())})
    with pytest.raises(salient_gnn.ProgramError, match="column 'day' has dates.*--drop-columns"):
        salient_gnn.prepare(tmp_path / "s", pa.table(EDGES), dated, **WANTED)
    assert salient_gnn.prepare(tmp_path / "s", pa.table(EDGES), dated, drop_columns=["day"], **WANTED).num_features == 5
    with pytest.raises(TypeError, match="not dict"):
        salient_gnn.prepare(tmp_path / "t", EDGES, **WANTED)
    with pytest.raises(FileNotFoundError, match="without a .parquet file"):
        salient_gnn.prepare(tmp_path / "t", tmp_path, **WANTED)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises((pa.ArrowInvalid, OSError)):
        salient_gnn.prepare(tmp_path / "t", tmp_path / "bad.parquet", **WANTED)


def test_the_program_names_the_function_for_parquet(tmp_path):
    parquet.write_table(pa.table(EDGES), tmp_path / "e.data")
    with pytest.raises(salient_gnn.ProgramError, match=r"looks like Parquet, which prepare\(\) of the Python package"):
        salient_gnn.prepare(tmp_path / "t", tmp_path / "e.data", quiet=True)


def test_rows_and_pairs_make_the_store_of_their_text(tmp_path, as_text):
    nodes = [dict(zip(NODES, row)) for row in zip(*NODES.values())]
    salient_gnn.prepare(tmp_path / "rows", list(zip(EDGES["who"], EDGES["whom"])), nodes, **WANTED)
    assert_equal_stores(as_text, tmp_path / "rows")
    with pytest.raises(ValueError, match="row 1 is not one of key, land"):
        salient_gnn.prepare(tmp_path / "t", [("a", "b")], [nodes[0], {"key": "c-9"}], **WANTED)
    with pytest.raises(ValueError, match="row 0 is not one of source, target"):
        salient_gnn.prepare(tmp_path / "t", [("a", "b", "c")], **WANTED)
    with pytest.raises(ValueError, match="row 0 has a line break"):
        salient_gnn.prepare(tmp_path / "t", [("a\n", "b")], **WANTED)
    with pytest.raises(ValueError, match="without rows"):
        salient_gnn.prepare(tmp_path / "t", [], **WANTED)


def test_new_nodes_are_predicted_from_tables_of_any_kind(tmp_path):
    many = {"id": [f"n-{i}" for i in range(60)], "size": [20.0 + i % 3 for i in range(60)],
            "kind": [("a", "b", "c")[i % 3] for i in range(60)]}  # fmt: skip
    edges = pa.table({"source": many["id"], "target": many["id"][3:] + many["id"][:3]})
    salient_gnn.prepare(tmp_path / "s", edges, pa.table(many), label="kind", split=[0.6, 0.2, 0.2], quiet=True)
    run = salient_gnn.train(tmp_path / "s", out=tmp_path / "run", epochs=2, hidden=32, device="cpu", quiet=True)
    rows = [{"size": 22.5, "id": "x"}, {"size": None, "id": "y"}]
    pairs = [("x", "n-1"), ("y", "x"), ("y", "n-4")]
    common = {"device": "cpu", "quiet": True}
    expected = salient_gnn.predict(run, new_nodes=rows, new_edges=pairs, **common)
    assert expected.logits.shape == (2, 3)
    assert list(expected.source_ids) == ["x", "y"]
    assert expected.report["nodes"]["count"] == 2
    assert "accuracy" not in expected.report
    as_arrow = pa.table({"source": ["x", "y", "y"], "target": ["n-1", "x", "n-4"]})
    arrow = salient_gnn.predict(run, new_nodes=pa.Table.from_pylist(rows), new_edges=as_arrow, **common)
    assert arrow.logits.equal(expected.logits)
    by_two = salient_gnn.predict(run, new_nodes=rows, new_edges=pairs, batch_size=1, fanout=[-1, -1, -1], **common)
    at_once = salient_gnn.predict(run, new_nodes=rows, new_edges=pairs, fanout=[-1, -1, -1], **common)
    assert np.allclose(by_two.logits, at_once.logits, atol=1e-5)
    alone = salient_gnn.predict(run, new_nodes=rows, **common)
    assert not np.allclose(alone.logits, expected.logits)
    with pytest.raises(ValueError, match="not with new_nodes"):
        salient_gnn.predict(run, "all", new_nodes=rows)
    with pytest.raises(ValueError, match="only of new_nodes"):
        salient_gnn.predict(run, new_edges=pairs)
    with pytest.raises(salient_gnn.ProgramError, match="an edge of a node"):
        salient_gnn.predict(run, new_nodes=rows, new_edges=[("x", "nobody")], **common)
