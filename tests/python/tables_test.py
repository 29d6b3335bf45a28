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
