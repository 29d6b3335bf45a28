# tests/apps/reader_rules/value_rules.py - what an array may hold that a reader could lose or invent.
"""As text_rules.py, for the readers of array_readers.py. What is wanted depends on what an item of the array is."""
import array_readers
from array_readers import READERS
from text_rules import Case

assert READERS
NAN, INFINITY = float("nan"), float("inf")
IDS = ("id", "list", "index", "part", "type", "count")
COARSE = "in f16.*f32"


def refused_type(reader, dtype):
    """Of arrays whose type is not read at all."""
    words = "whole numbers|integers|expected|bools|floating-point|integer node ids"
    if reader.role == "mask":
        words += "|again|twice|is -1|nodes 0 to 4"  # whole numbers are a list of ids there
    return None if dtype[1] in reader.kinds else words


def item(reader, value, dtype, words, at=1):
    """One value that breaks the rule, unless its type does."""
    at = 0 if len(reader.values) == 1 else at
    dtype = dtype if reader.role != "label" or dtype[1] in reader.kinds else reader.dtype
    return Case(reader.with_item(value, dtype, at), refused=refused_type(reader, dtype) or words)


def same_numbers(dtype):
    def rule(reader):
        data = reader.dump(dtype)
        words = refused_type(reader, dtype)
        if words and reader.role == "list":
            return Case(data, refused=words)
        return Case(data, refused=words) if words else Case(data, is_read=True)
    rule.__name__ = f"same_numbers_{dtype.strip('<>|')}"
    rule.__doc__ = f"the same numbers as {dtype}"
    return rule


def bools(reader):
    """bools are features, classes 0 and 1, flags and masks, and no ids"""
    if "b" not in reader.kinds:
        return Case(reader.dump("|b1"), refused="masks of 5 nodes|a bool for each|" + refused_type(reader, "|b1"))
    values = [int(value > 0) for value in reader.values]
    return Case(reader.dump("|b1", values=values), is_read=True,
                like=reader.dump("<f4" if reader.role == "feature" else reader.dtype, values=values))


def fraction(reader):
    """1.5 is a feature and nothing else"""
    if reader.role == "feature":
        return Case(reader.with_item(1.5, "<f8"), is_read=True, like=reader.with_item(1.5, "<f4"))
    return item(reader, 1.5, "<f8", "1.5, |1.5$")


def negative(reader):
    """-2 is a feature and nothing else"""
    if reader.role == "feature":
        dtype = "<i8" if "i" in reader.kinds else "<f8"
        return Case(reader.with_item(-2, dtype), is_read=True, like=reader.with_item(-2, "<f4"))
    return item(reader, -2, "<i8" if "i" in reader.kinds else "<f8", "-2")


def minus_hundred(reader):
    """-100 is no class, as -1 is"""
    if reader.role not in ("label", "flag"):
        return "no class"
    return item(reader, -100, "<i8", "-100")


def minus_one(reader):
    """-1 is no label, and no id"""
    if reader.role == "feature":
        return "any feature may be -1"
    if reader.role in ("label", "flag"):
        last = len(reader.values) - 1  # which is in no list
        return Case(reader.with_item(-1, "<i2", last), is_read=True, like=reader.with_item(NAN, "<f4", last))
    return item(reader, -1, "<i8", "-1")


def largest_of_64_bits(reader):
    """2^64 - 1 of uint64 is not -1"""
    if reader.role == "feature":
        return item(reader, 2**64 - 1, "<u8", "beyond the f16 range|1.8446744")
    if reader.role == "id" and not reader.has_rows:
        return Case(reader.with_item(2**64 - 1, "<u8", 5), is_read=True, becomes=renamed(3, 2**64 - 1))
    return item(reader, 2**64 - 1, "<u8", "18446744073709551615|1.8446744")


def hashes(reader):
    """2^63 + 11 of uint64 is an id"""
    if reader.role == "id" and not reader.has_rows:
        return Case(reader.with_item(2**63 + 11, "<u8", 5), is_read=True, becomes=renamed(3, 2**63 + 11))
    if reader.role == "feature":
        return item(reader, 2**63 + 11, "<u8", "beyond the f16 range|9.223372")
    return item(reader, 2**63 + 11, "<u8", "9223372036854775819|9.223372")


def renamed(old, new):
    """The content of the good file with another name for its last node."""
    def of(value):
        if isinstance(value, dict):
            return {of(key): value[key] for key in value}
        return new if value == old else tuple(map(of, value)) if isinstance(value, tuple) else value

    def becomes(good):
        lists = {key: sorted(map(of, good[key]), key=str) for key in ("nodes", "edges")}
        return {**good, **lists, "labels": of(good["labels"]), "features": of(good["features"])}
    return becomes


def not_a_number(reader):
    """NaN is no label, and no id, and no feature"""
    if reader.role in ("label", "flag"):
        last = len(reader.values) - 1
        return Case(reader.with_item(NAN, "<f8", last), is_read=True, like=reader.with_item(-1, "<f4", last))
    return item(reader, NAN, "<f8", "nan")


def infinite(reader):
    """infinity is nothing"""
    return item(reader, INFINITY, "<f4", "inf")


def inexact(dtype, value, words):
    def rule(reader):
        if reader.role == "feature":
            return "f16 has them" if value < 65504 else item(reader, value, dtype, "beyond the f16 range")
        if reader.role == "label" and value < 2**20:
            return "a class is exact in all types"
        return item(reader, value, dtype, words)
    rule.__name__ = f"inexact_{dtype[1:]}"
    rule.__doc__ = f"ids of {dtype} from {value} on may have been rounded"
    return rule


def one_behind_the_last(reader):
    """the number of nodes is no node, and may mean that ids count from 1"""
    if reader.role == "id" and reader.has_rows or reader.role == "list":
        return item(reader, 5, "<i8", "nodes 0 to 4, which count from 0; do the ids count from 1")
    if reader.role == "index":
        return item(reader, 5, "<i8", "the matrix allows 0 to 4", at=2)
    if reader.role == "type":
        return item(reader, 5, "<i8", "the parts of a split are 1, 2 and 3")
    return "no node" if reader.role != "id" else "the edges alone say which nodes there are"


def all_from_one(reader):
    """ids from 1 that are all nodes: node 0 has no edge"""
    if reader.role != "id" or not reader.has_rows:
        return "not ids of edges beside rows"
    if reader.name.startswith("OGB"):
        return "OGB's ids count from 0"
    if reader.name == "npz src":
        return "half of the edges' ends"
    data = reader.dump(values=[value + 1 for value in reader.values])
    return Case(data, is_read=True, like=data, said="no edge has node 0, and one has the last, 4")


def beyond_f16(reader):
    """70000 does not fit f16"""
    if reader.role != "feature":
        return "no feature"
    return Case(reader.with_item(70000, "<f4"), refused="70000, beyond the f16 range.*--feature-dtype f32")


def beyond_f32(reader):
    """1e39 does not fit f32"""
    if reader.role != "feature":
        return "no feature"
    options = ("--feature-dtype", "f32")
    return Case(reader.with_item(1e39, "<f8"), refused=r"1e\+39, beyond the f32 range", options=options)


def one_becomes_zero(reader):
    """1e-9 is 0 in f16"""
    if reader.role != "feature":
        return "no feature"
    return Case(reader.with_item(1e-9, "<f4"), is_read=True, like=reader.with_item(0, "<f4"),
                said=f"1 features that are not 0 become 0 {COARSE}")


def zero_in_f32(reader):
    """1e-60 is 0 in f32"""
    if reader.role != "feature":
        return "no feature"
    options = ("--feature-dtype", "f32")
    return Case(reader.with_item(1e-60, "<f8"), is_read=True, like=reader.with_item(0, "<f4"), options=options,
                said="1 features that are not 0 become 0 in f32.*scale them")


def all_become_zero(reader):
    """features of 1e-9 are all 0 in f16"""
    if reader.role != "feature":
        return "no feature"
    return Case(reader.dump("<f4", values=[1e-9 * (i + 1) for i in range(len(reader.values))]),
                refused=f"become 0 {COARSE}.*--feature-dtype f32")


def close(reader, far):
    """Values that f16 does not tell apart, and `far` where the reader's array has an item to spare."""
    values = [52.520 + 0.002 * (i // 2 % 2) for i in range(len(reader.values))]
    if len(reader.values) < 5 or reader.shape == (5,):
        values = [52.520 + 0.002 * (i % 2) for i in range(len(reader.values))]
    return values[:-1] + [far] if far else values


def some_become_equal(reader):
    """52.520 and 52.522 are equal in f16"""
    if reader.role != "feature":
        return "no feature"
    if reader.name == "scipy csr, features":
        return "its columns have one entry each"
    data = reader.dump("<f4", values=close(reader, 90.0))
    return Case(data, is_read=True, like=data, said=f"different features become equal {COARSE}")


def all_become_equal(reader):
    """features of 52.520 and 52.522 alone are equal in f16"""
    if reader.role != "feature":
        return "no feature"
    if reader.name == "scipy csr, features":
        return "its columns have one entry each"
    return Case(reader.dump("<f4", values=close(reader, None)), refused=f"become equal {COARSE}.*--feature-dtype f32")


def equal_in_fp8(reader):
    """112 and 113 are equal in fp8"""
    if reader.role != "feature":
        return "no feature"
    if reader.name == "scipy csr, features":
        return "its columns have one entry each"
    values = [112 + i // 2 % 2 if reader.shape == (5, 2) else 112 + i % 2 for i in range(len(reader.values))]
    options = ("--feature-dtype", "fp8")
    return Case(reader.dump("<f4", values=values), refused="become equal in fp8.*f32", options=options)


def too_many_classes(reader):
    """2^20 is no class"""
    return item(reader, 2**20, "<i8", "1048576") if reader.role == "label" else "no class"


def two_in_a_mask(reader):
    """a mask is of 0 and 1"""
    if reader.role != "mask":
        return "no mask"
    return Case(reader.dump("|u1", values=[255 * value for value in reader.values]),
                refused="a mask is of 0 and 1|nodes 0 to 4|expected")


def twice(reader):
    """a node twice in a list"""
    if reader.role != "list":
        return "no list of nodes"
    return Case(reader.dump(values=[reader.values[0]] * len(reader.values)), refused="twice|again|too")


def no_numbers(dtype, item_bytes):
    def rule(reader):
        data = array_readers.dump(dtype, reader.shape, [], raw=b"\0" * (item_bytes * len(reader.values)))
        return Case(data, refused="dtype|holds Python objects|structured")
    rule.__name__ = "no_numbers_" + "".join(c for c in dtype if c.isalnum())
    rule.__doc__ = f"{dtype} is no type of numbers here"
    return rule


def three_axes(reader):
    """an array of three axes"""
    if reader.role == "count":
        return "one number of any shape is a count"
    return Case(reader.dump(shape=(*reader.shape, 1, 1)[:3]), refused="shape|expected|found|list of")


def no_axes(reader):
    """an array of one value"""
    if reader.role == "count":
        return "a count is one value"
    return Case(reader.dump(shape=(), values=reader.values[:1]), refused="shape|expected|found|\\(\\)|bytes")


def fortran_order(reader):
    """Fortran order is another order of the same values"""
    if len(reader.shape) != 2 or 1 in reader.shape:
        return "one axis has one order"
    rows, columns = reader.shape
    values = [reader.values[r * columns + c] for c in range(columns) for r in range(rows)]
    return Case(reader.dump(values=values, is_fortran=True), is_read=True)


def one_column(reader):
    """[V, 1] is [V]"""
    if reader.role not in ("feature", "label") or len(reader.shape) != 1 or reader.shape[0] != 5:
        return "no column of numbers for each node"
    return Case(reader.dump(shape=(5, 1)), is_read=True)


def cut(reader):
    """the last bytes are missing"""
    return Case(reader.text()[:-1], refused="bytes|needs")


RULES = [*map(same_numbers, ("|u1", "<i2", ">i4", "<u8", "<f4", ">f8", "<f2")), bools, fraction, negative, minus_one,
         minus_hundred, largest_of_64_bits, hashes, not_a_number, infinite, inexact("<f2", 2048.0, "2048|bytes"),
         inexact("<f4", 2.0**24, "16777216"), inexact("<f8", 2.0**53, "9007199254740992|9.007199254740992e"),
         one_behind_the_last, all_from_one, beyond_f16, beyond_f32, one_becomes_zero, zero_in_f32, all_become_zero,
         some_become_equal, all_become_equal, equal_in_fp8, too_many_classes, two_in_a_mask, twice,
         no_numbers("|O", 8), no_numbers("<U3", 12), no_numbers("<c8", 8), no_numbers("<f16", 16),
         no_numbers("<M8[s]", 8), no_numbers("[('a', '<i4')]", 4), three_axes, no_axes, fortran_order, one_column, cut]
