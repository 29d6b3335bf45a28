# tests/python/reader_rules_test.py - every reader of the package through every rule of values, as a matrix.
"""A field is "right" (what was read is what was meant), "refused" (one line names the argument) or "said" (a warning).
test_the_matrix_is_whole prints it (pytest -s)."""
import json
import warnings

import numpy as np
import pytest
import salient_gnn
import torch
from salient_gnn import Dataset, programs

V = 6
ROWS = np.arange(12.0).reshape(V, 2)
LABELS = torch.tensor([0, 1, 2, 0, 1, 2])
RING = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])


def like(values, other):
    """Both rows of an edge_index, in the type of `values`."""
    if isinstance(values, torch.Tensor):
        return torch.stack([values.to_dense() if values.is_sparse else values] * 2)
    return np.ma.stack([values] * 2) if isinstance(values, np.ma.MaskedArray) else (
        np.stack([values] * 2) if isinstance(values, np.ndarray) else [values, other])  # fmt: skip


def loops(data):
    """Of a graph of self loops alone, read as edges (v, v): a store keeps the nodes that have one."""
    return data.indices.tolist()


def stored(tmp_path, **arrays):
    return Dataset.from_arrays(tmp_path / "store", **{"edge_index": RING, "num_nodes": V, "y": LABELS, **arrays})


def pyg(tmp_path, **arrays):
    data_module = pytest.importorskip("torch_geometric.data")
    item = data_module.Data(**{"edge_index": RING, "num_nodes": V, "y": LABELS, **arrays})
    return Dataset.from_pyg(item, tmp_path / "store")


def ogb(tmp_path, labels=LABELS, split=(), **graph):
    class Ogb:
        name = "ring"

        def get_idx_split(self):
            return {"train": split, "valid": [], "test": []}

        def __getitem__(self, _):
            whole = {"edge_index": RING.numpy(), "node_feat": None, "edge_feat": None, "num_nodes": V, **graph}
            return whole, labels

    return Dataset.from_ogb(Ogb(), tmp_path / "store")


def loaded(tmp_path, nodes):
    data = stored(tmp_path)
    return sorted(torch.cat([b.nodes[: len(b)] for b in salient_gnn.NeighborLoader(data, nodes, [1], 4)]).tolist())


def predicted(tmp_path, nodes):
    (tmp_path / "run.json").write_text(json.dumps({"dataset": {"nodes": V}}))
    seen = []

    def start(name, options, quiet):
        seen.extend(np.load(options["nodes"]).tolist())
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "run_program", start)
        with pytest.raises(InterruptedError):
            salient_gnn.predict(tmp_path, nodes)
    return sorted(seen)


def tensor(values):
    """Where torch can make one that to_sparse() takes."""
    is_plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    if is_plain and values.dtype.isnative and values.dtype.name not in ("uint64", "longdouble", "float128"):
        if values.dtype.kind not in "biuf":
            return values
        return torch.from_numpy(np.ascontiguousarray(values))
    return values


def sparse(values):
    return tensor(values).to_sparse() if isinstance(tensor(values), torch.Tensor) else values


READERS = {  # kind: {name: function of a folder and the values, which returns what was read}
    "ids": {
        "from_arrays edge_index": lambda p, v: loops(stored(p, edge_index=like(v, v))),
        "from_pyg edge_index": lambda p, v: loops(pyg(p, edge_index=like(v, v))),
        "from_ogb edge_index": lambda p, v: loops(ogb(p, edge_index=like(v, v))),
        "from_arrays train": lambda p, v: sorted(stored(p, train=v).train.tolist()),
        "from_arrays test": lambda p, v: sorted(stored(p, test=v).test.tolist()),
        "from_ogb split": lambda p, v: sorted(ogb(p, split=v).train.tolist()),
        "NeighborLoader": loaded,
        "predict": predicted,
    },
    "features": {
        "from_arrays x": lambda p, v: stored(p, x=v).x.float().tolist(),
        "from_pyg x": lambda p, v: pyg(p, x=v).x.float().tolist(),
        "from_ogb node_feat": lambda p, v: ogb(p, node_feat=v).x.float().tolist(),
        "from_arrays sparse x": lambda p, v: stored(p, x=sparse(v)).x.to_dense().float().tolist(),
    },
    "labels": {
        "from_arrays y": lambda p, v: stored(p, y=v).y.tolist(),
        "from_pyg y": lambda p, v: pyg(p, y=v).y.tolist(),
        "from_ogb labels": lambda p, v: ogb(p, labels=v).y.tolist(),
    },
    "mask": {
        "from_arrays train": lambda p, v: sorted(stored(p, train=v).train.tolist()),
        "from_pyg train_mask": lambda p, v: sorted(pyg(p, train_mask=v).train.tolist()),
        "from_pyg test_mask": lambda p, v: sorted(pyg(p, test_mask=v).test.tolist()),
        "NeighborLoader": loaded,
        "predict": predicted,
    },
}


def column(values, dtype=np.float64):
    return np.stack([np.array(values, dtype), np.arange(V).astype(dtype)], 1)


REFUSED, SAID = "refused", "said"
RULES = {  # kind: {name: (values, what is right, or REFUSED, or SAID)}
    "ids": {
        "uint64": (np.array([1, 2], "u8"), [1, 2]),
        "uint64 from 2^63 on": (np.array([1, 2**63 + 11], "u8"), REFUSED),
        "uint64 tensor from 2^63 on": (torch.tensor([1, 2**63 + 11], dtype=torch.uint64), REFUSED),
        "uint32 tensor": (torch.tensor([1, 2], dtype=torch.uint32), [1, 2]),
        "list beyond 2^64": ([1, 2**64], REFUSED),
        "big-endian": (np.array([1, 2], ">i8"), [1, 2]),
        "int16": (np.array([1, 2], "i2"), [1, 2]),
        "negative": (np.array([1, -2]), REFUSED),
        "no node": (np.array([1, V]), REFUSED),
        "float64, whole": (np.array([1.0, 2.0]), REFUSED),
        "float32 above 2^24": (np.array([1, 2**24 + 1], "f4"), REFUSED),
        "float64 above 2^53": (np.array([1, 2.0**53 + 2]), REFUSED),
        "fraction": (torch.tensor([1.0, 2.5]), REFUSED),
        "NaN": (np.array([1, np.nan]), REFUSED),
        "complex": (torch.tensor([1, 2], dtype=torch.cfloat), REFUSED),
        "object": (np.array([1, None], object), REFUSED),
        "text": (np.array(["1", "2"]), REFUSED),
        "time": (np.array(["2020", "2021"], "M8[Y]"), REFUSED),
        "masked": (np.ma.masked_array([1, 2], [False, True]), REFUSED),
        "None": (None, REFUSED),
        "ragged": ([[1], [2, 3]], REFUSED),
        "strided": (np.arange(6)[1:5:3], [1, 4]),
        "backwards": (np.arange(3)[2:0:-1], [1, 2]),
        "read-only": (np.frombuffer(np.array([1, 2]).tobytes(), "i8"), [1, 2]),
        "one dimension too many": (np.array([[1], [2]]), REFUSED),
    },
    "features": {
        "float64": (ROWS, ROWS.tolist()),
        "float16": (ROWS.astype("f2"), ROWS.tolist()),
        "int8": (ROWS.astype("i1"), ROWS.tolist()),
        "bool": (ROWS % 2 == 0, (ROWS % 2 == 0).astype(float).tolist()),
        "big-endian": (ROWS.astype(">f4"), ROWS.tolist()),
        "columns first": (np.asfortranarray(ROWS), ROWS.tolist()),
        "backwards": (ROWS[::-1], ROWS[::-1].tolist()),
        "float64 above float32": (column([1, 1e300, 2, 3, 4, 5]), REFUSED),
        "float64 below float32": (column([1e-60, 2e-60, 1, 1, 1, 1]), SAID),
        "float64 that float32 makes equal": (column(52 + np.arange(V) * 1e-9), SAID),
        "int64 that float32 makes equal": (column(2**40 + np.arange(V), np.int64), SAID),
        "uint64 from 2^63 on": (column(2**63 + np.arange(V, dtype="u8"), np.uint64), REFUSED),
        "NaN": (column([0, 1, np.nan, 3, 4, 5]), REFUSED),
        "infinity": (column([0, 1, np.inf, 3, 4, 5], np.float32), REFUSED),
        "infinity of float16": (column([0, 1, np.inf, 3, 4, 5], np.float16), REFUSED),
        "complex": (ROWS.astype("c8"), REFUSED),
        "object": (ROWS.astype(object), REFUSED),
        "text": (ROWS.astype(str), REFUSED),
        "long double": (ROWS.astype(np.longdouble), REFUSED),
        "masked": (np.ma.masked_array(ROWS, ROWS == 3), REFUSED),
        "one row short": (ROWS[:-1], REFUSED),
        "one dimension": (ROWS[:, 1], ROWS[:, 1:].tolist()),
        "three dimensions": (ROWS.reshape(V, 2, 1), REFUSED),
        "no columns": (ROWS[:, :0], REFUSED),
    },
    "labels": {
        "int64": (np.array([0, 1, 2, 0, 1, -1]), [0, 1, 2, 0, 1, -1]),
        "uint8": (np.array([0, 1, 2, 0, 1, 2], "u1"), [0, 1, 2, 0, 1, 2]),
        "big-endian": (np.array([0, 1, 2, 0, 1, 2], ">i4"), [0, 1, 2, 0, 1, 2]),
        "bool": (np.array([0, 1, 0, 0, 1, 1], bool), [0, 1, 0, 0, 1, 1]),
        "one column": (np.array([[0], [1], [2], [0], [1], [2]]), [0, 1, 2, 0, 1, 2]),
        "strided": (np.array([0, 9, 1, 9, 2, 9, 0, 9, 1, 9, 2, 9])[::2], [0, 1, 2, 0, 1, 2]),
        "NaN": (np.array([0, 1, 2, 0, 1, np.nan]), [0, 1, 2, 0, 1, -1]),
        "fraction": (np.array([0, 1, 2, 0, 1, 0.5]), REFUSED),
        "infinity": (np.array([0, 1, 2, 0, 1, np.inf]), REFUSED),
        "below -1": (np.array([0, 1, 2, 0, 1, -100]), REFUSED),
        "2^20": (np.array([0, 1, 2, 0, 1, 1 << 20]), REFUSED),
        "uint64 from 2^63 on": (np.array([0, 1, 2, 0, 1, 2**64 - 1], "u8"), REFUSED),
        "complex": (np.array([0, 1, 2, 0, 1, 2], "c8"), REFUSED),
        "object": (np.array([0, 1, 2, 0, 1, "a"], object), REFUSED),
        "text": (np.array(["a", "b", "a", "b", "a", "b"]), REFUSED),
        "masked": (np.ma.masked_array([0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 0, 1]), REFUSED),
        "one row short": (np.array([0, 1, 2, 0, 1]), REFUSED),
        "one row in front": (np.array([[0, 1, 2, 0, 1, 2]]), REFUSED),
        "one-hot": (np.eye(3, dtype=int)[[0, 1, 2, 0, 1, 2]], SAID),
    },
    "mask": {
        "bool": (np.array([0, 1, 0, 0, 1, 0], bool), [1, 4]),
        "0 and 1": (np.array([0, 1, 0, 0, 1, 0], "u1"), [1, 4]),
        "strided": (np.array([0, 9, 1, 9, 0, 9, 0, 9, 1, 9, 0, 9])[::2] == 1, [1, 4]),
        "one short": (np.array([0, 1, 0, 0, 1], bool), REFUSED),
        "one more": (np.array([0, 1, 0, 0, 1, 0, 0], bool), REFUSED),
        "floats": (np.array([0.0, 1, 0, 0, 1, 0]), REFUSED),
        "0 and 255": (np.array([0, 255, 0, 0, 255, 0], "u1"), REFUSED),
        "object": (np.array([False, True, False, False, True, None], object), REFUSED),
        "masked": (np.ma.masked_array([False, True, False, False, True, False], [1, 0, 0, 0, 0, 0]), REFUSED),
        "three dimensions": (np.zeros((V, 1, 1), bool), REFUSED),
    },
}
IN_THE_PROGRAM = {"negative", "no node", "0 and 255"}  # predict() leaves these to salient-infer, which knows the nodes


def outcome(kind, reader, rule, folder):
    values, expected = RULES[kind][rule]
    if "pyg" in reader:  # whose users have tensors
        values = tensor(values)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            read = READERS[kind][reader](folder, values)
        except (ValueError, salient_gnn.Error) as error:
            assert str(error) and "\n" not in str(error) and str(error)[0] != "/"
            assert not (folder / "store/dataset.json").exists() or reader == "NeighborLoader"
            return "refused"
    if any(word in str(warning.message) for warning in said for word in ("float32", "argmax")):
        return "said"
    return "right" if read == expected else f"wrong: {read}"


def expected_of(reader, rule, expected):
    if reader == "predict" and rule in IN_THE_PROGRAM:
        return None
    if rule == "one dimension" and "sparse" in reader:  # a sparse tensor has no rows then
        return "refused"
    return expected if expected in (REFUSED, SAID) else "right"


@pytest.mark.parametrize("kind", RULES)
def test_the_matrix_is_whole(kind, tmp_path, capsys):
    readers, wrong, lines = READERS[kind], [], []
    for rule, (_, expected) in RULES[kind].items():
        fields = []
        for number, reader in enumerate(readers):
            folder = tmp_path / f"{len(lines)}-{number}"
            folder.mkdir()
            wanted = expected_of(reader, rule, expected)
            field = "salient-infer" if wanted is None else outcome(kind, reader, rule, folder)
            fields.append(field)
            if wanted not in (None, field):
                wrong.append(f"{reader}, {rule}: {field}, not {wanted}")
        lines.append(f"{rule:34}" + "".join(f"{field[:13]:14}" for field in fields))
    with capsys.disabled():
        print(f"\n{kind}: {', '.join(readers)}", *lines, sep="\n")
    assert wrong == []
