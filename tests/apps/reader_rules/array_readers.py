# tests/apps/reader_rules/array_readers.py - every reader of arrays: a good array, and how a program is started on it.
"""As readers.py: a reader is started on the bytes of a file, and what it reads comes back as the content of the store.
All graphs have the nodes 0 to 4, of which the last has no edge, unless the edges alone say which nodes there are."""
import atexit
import dataclasses
import functools
import gzip
import io
import pathlib
import shutil
import struct
import tempfile
import zipfile

import readers

CODES = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e",
         "f4": "f", "f8": "d"}


def dump(dtype, shape, values, is_fortran=False, raw=None):
    """An array file; `raw` are its bytes where struct has no such type."""
    text = dtype if dtype.startswith("[") else repr(dtype)
    head = f"{{'descr': {text}, 'fortran_order': {is_fortran}, 'shape': {tuple(shape)}}}"
    head = head.ljust(117) + "\n"
    if raw is None:
        order = ">" if dtype[0] == ">" else "<"
        values = [value if dtype[1] == "f" else int(value) for value in values]
        raw = struct.pack(f"{order}{len(values)}{CODES[dtype[1:]]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + raw


def zipped(**arrays):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in arrays.items():
            archive.writestr(name + ".npy", data)
    return packed.getvalue()


@dataclasses.dataclass
class ArrayReader:
    name: str
    role: str  # what an item is: "id" of edges, "list" (ids), "index", "part", "count", "feature", "label", "flag",
    # "mask" or "type" (parts of a split)
    dtype: str
    shape: tuple
    values: list
    start: object  # start(folder, bytes, options) -> Outcome
    kinds: str = "iu"  # the types that are read, besides
    file: str = "in.npy"
    has_rows: bool = True  # something else says which nodes there are
    left_out: str = None
    kind: str = "array"

    def text(self):
        return self.dump()

    def dump(self, dtype=None, shape=None, values=None, is_fortran=False):
        return dump(dtype or self.dtype, self.shape if shape is None else shape,
                    self.values if values is None else values, is_fortran)

    def with_item(self, value, dtype, item=1):
        return self.dump(dtype, values=[*self.values[:item], value, *self.values[item + 1:]])


EDGES, ENDS = [0, 1, 2, 1, 2, 3], [0, 1, 1, 2, 2, 3]
X = [10.0, 1.0, 11.0, 0.0, 12.0, 2.0, 13.0, 0.0, 14.0, 3.0]
X5 = dump("<f4", (5, 2), X)
Y5 = dump("<i8", (5,), [0, 1, 0, 1, 2])
E5 = dump("<i8", (2, 3), EDGES)
SPLIT = ("--split", "0.6,0.2,0.2")


def through_edges(option, *others, file="in.npy", pack=None, **files):
    def start(folder, data, options=()):
        (folder / file).write_bytes(pack(data) if pack else data)
        for name, array in files.items():
            (folder / f"{name}.npy").write_bytes(array)
        return readers.prepared(folder, "edges", option, file, *others, *options)
    return start


def through_npz(name, *others, without=(), **arrays):
    """The bytes are the array `name` beside those of a good file."""
    good = {"x": X5, "y": Y5, "edge_index": E5, **arrays}

    def start(folder, data, options=()):
        held = {key: value for key, value in good.items() if key not in without}
        (folder / "in.npz").write_bytes(zipped(**{**held, name: data}))
        return readers.prepared(folder, "npz", "--file", "in.npz", *others, *options)
    return start


BINARY = {"edge_index": E5, "node_feat": X5, "num_nodes_list": dump("<i8", (1,), [5]),
          "num_edges_list": dump("<i8", (1,), [3])}


def through_ogb(name):
    def start(folder, data, options=()):
        root = folder / "set"
        (root / "raw").mkdir(parents=True)
        (root / "split/random").mkdir(parents=True)
        (root / "raw/data.npz").write_bytes(zipped(**{**BINARY, **({name: data} if name in BINARY else {})}))
        label = data if name == "node_label" else dump("<f4", (5, 1), [0, 1, 0, 1, 2])
        (root / "raw/node-label.npz").write_bytes(zipped(node_label=label))
        for part, text in (("train", b"0\n1\n"), ("valid", b"2\n"), ("test", b"3\n")):
            (root / f"split/random/{part}.csv.gz").write_bytes(gzip.compress(text, 1))
        return readers.prepared(folder, "ogb", "--raw", "set", *options)
    return start


def csr(**arrays):
    """A matrix of scipy: 5 x 5, 0 -> 1, 1 -> 2, 2 -> 3."""
    return zipped(**{"data": dump("<f4", (3,), [1, 1, 1]), "indices": dump("<i4", (3,), [1, 2, 3]),
                     "indptr": dump("<i4", (6,), [0, 1, 2, 3, 3, 3]), "shape": dump("<i8", (2,), [5, 5]), **arrays})


def coo(**arrays):
    return zipped(**{"data": dump("<f4", (3,), [1, 1, 1]), "row": dump("<i4", (3,), [0, 1, 2]),
                     "col": dump("<i4", (3,), [1, 2, 3]), "shape": dump("<i8", (2,), [5, 5]), **arrays})


def partitioned(folder, data, options=()):
    outcome = through_edges("--edges", "--features", "x.npy", x=X5)(folder, E5)
    (folder / "p.npy").write_bytes(data)
    outcome = readers.run(folder, "salient-prepare", "partition", "D", "--by", "p.npy", *options)
    if outcome.code == 0:
        outcome.content = readers.content_of(folder / "D")
    return outcome


@functools.lru_cache(None)
def trained():
    """A folder with a data set and a run, made once."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="salient-reader-rules-run-"))
    atexit.register(shutil.rmtree, folder)
    through_edges("--edges", "--features", "x.npy", "--labels", "y.npy", *SPLIT, x=X5, y=Y5)(folder, E5)
    outcome = readers.run(folder, "salient-train", "--dataset", "D", "--epochs", "1", "--hidden", "4", "--out", "run",
                          "--device", "cpu", "--progress", "none")
    assert outcome.code == 0, outcome.err
    return folder


def inferred(folder, data, options=()):
    for name in ("D", "run"):
        shutil.copytree(trained() / name, folder / name)
    (folder / "in.npy").write_bytes(data)
    outcome = readers.run(folder, "salient-infer", "--run", "run", "--nodes", "in.npy", "--format", "csv", "--out", "P",
                          "--device", "cpu", "--progress", "none", *options)
    if outcome.code == 0:
        lines = (folder / "P/predictions.csv").read_text().split("\n")[1:-1]
        outcome.content = [int(line.split(",")[0]) for line in lines]
    return outcome


def edges(name, shape, values, *others, **more):
    has_rows = bool(others)
    start = through_edges("--edges", *(others or readers.DEGREE), x=X5)
    return ArrayReader(name, "id", "<i8", shape, values, start, kinds="iuf", has_rows=has_rows, **more)


def features(name, shape, values, start, kinds="iufb", **more):
    return ArrayReader(name, "feature", "<f4", shape, values, start, kinds=kinds, **more)


def npz(name, role, dtype, shape, values, *others, kinds="iu", without=(), **arrays):
    start = through_npz(name, *(others or SPLIT), without=without, **arrays)
    return ArrayReader(f"npz {name}", role, dtype, shape, values, start, kinds=kinds, file=f"'{name}.npy'")


XARGS = ("--edges", "e.npy")
TRAIN = ("--edges", "e.npy", "--features", "x.npy", "--labels", "y.npy")
MASKS = {"val_mask": dump("|b1", (5,), [0, 0, 1, 0, 0]), "test_mask": dump("|b1", (5,), [0, 0, 0, 1, 0])}
READERS = [
    edges("edges.npy [2, E]", (2, 3), EDGES, "--features", "x.npy"),
    edges("edges.npy [E, 2]", (3, 2), ENDS, "--features", "x.npy"),
    edges("edges.npy alone", (2, 3), EDGES),
    ArrayReader("scipy csr, indices", "index", "<i4", (3,), [1, 2, 3],
                through_edges("--edges", *readers.DEGREE, file="in.npz", pack=lambda data: csr(indices=data)),
                file="'indices.npy'"),
    ArrayReader("scipy coo, row", "index", "<i4", (3,), [0, 1, 2],
                through_edges("--edges", *readers.DEGREE, file="in.npz", pack=lambda data: coo(row=data)),
                file="'row.npy'"),
    features("features.npy [V, F]", (5, 2), X, through_edges("--features", *XARGS, e=E5)),
    features("features.npy [V]", (5,), X[:5], through_edges("--features", *XARGS, e=E5)),
    features("scipy csr, features", (3,), [5, 1, 2],
             through_edges("--features", *XARGS, file="in.npz", pack=lambda data: csr(data=data), e=E5), file="in.npz"),
    ArrayReader("labels.npy [V]", "label", "<i8", (5,), [0, 1, 0, 1, 2],
                through_edges("--labels", *XARGS, "--features", "x.npy", x=X5, e=E5), kinds="iufb"),
    ArrayReader("labels.npy [V, T]", "flag", "<i8", (5, 2), [0, 1, 1, 1, 0, 1, 1, 0, 0, 0],
                through_edges("--labels", *XARGS, "--features", "x.npy", x=X5, e=E5), kinds="iufb"),
    ArrayReader("train.npy, ids", "list", "<i8", (3,), [3, 0, 2], through_edges("--train", *TRAIN, x=X5, e=E5, y=Y5)),
    ArrayReader("train.npy, mask", "mask", "|b1", (5,), [1, 0, 1, 0, 1],
                through_edges("--train", *TRAIN, x=X5, e=E5, y=Y5), kinds="iub"),
    npz("edge_index", "id", "<i8", (2, 3), EDGES, kinds="iuf"),
    npz("src", "id", "<i8", (3,), [0, 1, 2], kinds="iuf", without=("edge_index",), dst=dump("<i8", (3,), [1, 2, 3])),
    npz("x", "feature", "<f4", (5, 2), X, kinds="iufb"),
    npz("feature", "feature", "<f4", (5,), X[:5], kinds="iufb", without=("x",)),
    npz("y", "label", "<i8", (5,), [0, 1, 0, 1, 2], kinds="iufb"),
    npz("label", "flag", "<i8", (5, 2), [0, 1, 1, 1, 0, 1, 1, 0, 0, 0], kinds="iufb", without=("y",)),
    npz("train_mask", "mask", "|b1", (5,), [1, 1, 0, 0, 0], "--mask", "0", kinds="iub", **MASKS),
    npz("train_idx", "list", "<i8", (2,), [1, 0], "--mask", "0", **MASKS),
    npz("node_types", "type", "<i8", (5,), [1, 1, 2, 3, 0], "--mask", "0"),
    npz("num_nodes", "count", "<i8", (), [5], kinds="iuf"),
    npz("adj_indices", "index", "<i4", (3,), [1, 2, 3], without=("edge_index",),
        adj_data=dump("<f4", (3,), [1, 1, 1]), adj_indptr=dump("<i4", (6,), [0, 1, 2, 3, 3, 3]),
        adj_shape=dump("<i8", (2,), [5, 5])),
    ArrayReader("OGB edge_index", "id", "<i8", (2, 3), EDGES, through_ogb("edge_index"), file="'edge_index.npy'"),
    features("OGB node_feat", (5, 2), X, through_ogb("node_feat"), kinds="f", file="'node_feat.npy'"),
    ArrayReader("OGB node_label", "label", "<f4", (5, 1), [0, 1, 0, 1, 2], through_ogb("node_label"), kinds="iufb",
                file="'node_label.npy'"),
    ArrayReader("OGB num_nodes_list", "count", "<i8", (1,), [5], through_ogb("num_nodes_list"), kinds="iuf",
                file="num_nodes_list"),
    ArrayReader("partition --by", "part", "<i8", (5,), [0, 1, 0, 1, 1], partitioned, file="p.npy"),
    ArrayReader("infer --nodes, ids", "list", "<i8", (3,), [3, 0, 2], inferred),
    ArrayReader("infer --nodes, mask", "mask", "|b1", (5,), [1, 0, 1, 0, 1], inferred, kinds="b"),
]
