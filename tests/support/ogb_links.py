# tests/support/ogb_links.py - folders as OGB's link sets are, and what torch.save writes of arrays, without either.
import array
import gzip
import io
import pickle
import sys
import types
import zipfile

CODES = {"i8": "q", "i4": "i"}


def fake_numpy():
    """Modules whose functions are called as NumPy's in a pickle; nothing calls them here."""
    numpy, core, multiarray = (types.ModuleType(name) for name in
                               ("numpy", "numpy.core", "numpy.core.multiarray"))
    numpy.core, core.multiarray = core, multiarray

    def function(module, name):
        def called(*_):
            raise AssertionError("only written")
        called.__module__, called.__qualname__, called.__name__ = module.__name__, name, name
        setattr(module, name, called)
        return called
    names = [function(numpy, "ndarray"), function(numpy, "dtype"), function(multiarray, "_reconstruct")]
    sys.modules.update({module.__name__: module for module in (numpy, core, multiarray)})
    return names


NDARRAY, DTYPE, RECONSTRUCT = fake_numpy()


class Type:
    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return DTYPE, (self.name, False, True), (3, "<", None, None, None, -1, -1, 0)


class Array:
    """Whole numbers of rows, or of one axis. @param columns_first  as NumPy has a transposed matrix"""

    def __init__(self, rows, dtype="i8", columns_first=False):
        self.is_matrix = bool(rows) and isinstance(rows[0], (list, tuple))
        self.shape = (len(rows), len(rows[0])) if self.is_matrix else (len(rows),)
        in_order = zip(*rows) if columns_first else rows
        self.values = [value for row in in_order for value in row] if self.is_matrix else list(rows)
        self.dtype, self.columns_first = dtype, columns_first

    def data(self):
        return array.array(CODES[self.dtype], self.values).tobytes()

    def __reduce__(self):
        return RECONSTRUCT, (NDARRAY, (0,), b"b"), (1, self.shape, Type(self.dtype), self.columns_first, self.data())

    def npy(self):
        header = str({"descr": "<" + self.dtype, "fortran_order": self.columns_first, "shape": self.shape})
        header = header.ljust(117).encode() + b"\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + self.data()


def save_legacy(path, arrays):
    """As torch.save before its version 1.6."""
    with open(path, "wb") as out:
        for value in (0x1950a86a20f9469cfc6c, 1001, {"protocol_version": 1001, "little_endian": True}, arrays, []):
            pickle.dump(value, out, protocol=2)


def save_zip(path, arrays, compression=zipfile.ZIP_STORED):
    """As torch.save since."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr(f"{path.stem}/data.pkl", pickle.dumps(arrays, protocol=2))
        archive.writestr(f"{path.stem}/version", "3\n")


def save_npz(path, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            archive.writestr(name + ".npy", value.npy())


def put_gzip(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with io.TextIOWrapper(gzip.open(path, "wb")) as out:
        out.write(text)


def put_split(root, kind, splits, save, extension=".pt"):
    folder = root / "split" / kind
    folder.mkdir(parents=True, exist_ok=True)
    for name, arrays in splits.items():
        save(folder / (name + extension), arrays)
