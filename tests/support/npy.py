# tests/support/npy.py - reads the array files that the programs write, and writes some for them, without NumPy.
import array
import ast
import collections

Array = collections.namedtuple("Array", "dtype shape values")  # values: flat, C order
CODES = {"<i8": "q", "<i4": "i", "<u4": "I", "<u2": "H", "<f4": "f", "|i1": "b"}


def read(path):
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    start = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:start].decode())
    assert not header["fortran_order"]
    values = array.array(CODES[header["descr"]], data[start:])
    return Array(header["descr"], header["shape"], values)


def rows(table):
    width = table.shape[1]
    return [table.values[i * width:(i + 1) * width] for i in range(table.shape[0])]


def write_ids(path, ids, dtype="<i8"):
    write(path, (len(ids),), ids, dtype)


def write(path, shape, values, dtype):
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
    magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    path.write_bytes(magic + header + array.array(CODES[dtype], values).tobytes())
