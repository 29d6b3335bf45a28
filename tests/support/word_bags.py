#!/usr/bin/env python3
"""A generated graph whose features are bags of words, in the files of scipy.sparse.save_npz and NumPy.

    word_bags.py FOLDER [--nodes N] [--columns N] [--values N] [--degree N] [--classes N] [--seed N]

Writes edges.csv, x.npz (CSR of counts, `values` of `columns` not 0 in each row) and y.npy. Needs no NumPy. Words are as
unevenly common as in texts, a third of a node's are its class's own, and most edges join nodes of one class.
"""
import argparse
import array
import pathlib
import random
import zipfile


def npy_bytes(dtype, code, shape, values):
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.array(code, values).tobytes()


def words_of(draw, label, options):
    """Columns of one node, each once and ascending."""
    words = set()
    while len(words) < options.values:
        rank = int(options.columns * draw.random() ** 3)  # of a common word near 0
        if draw.random() < 1 / 3:
            rank = rank // options.classes * options.classes + label
        words.add(min(rank, options.columns - 1))
    return sorted(words)


def write(folder, options):
    """Returns the rows as {column: count}."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(options.seed)
    nodes, classes = options.nodes, options.classes
    labels = [draw.randrange(classes) for _ in range(nodes)]
    of_class = [[v for v in range(nodes) if labels[v] == c] for c in range(classes)]
    rows = [{word: draw.choice((1, 1, 1, 2, 3)) for word in words_of(draw, labels[v], options)} for v in range(nodes)]
    with open(folder / "edges.csv", "w") as edges:
        for v in range(nodes):
            for _ in range(options.degree // 2):
                near = draw.random() < 0.7
                edges.write(f"{v},{draw.choice(of_class[labels[v]]) if near else draw.randrange(nodes)}\n")
    begin = [options.values * v for v in range(nodes + 1)]
    arrays = {"format": npy_bytes("|S3", "B", (), b"csr"),
              "shape": npy_bytes("<i8", "q", (2,), (nodes, options.columns)),
              "indptr": npy_bytes("<i4", "i", (nodes + 1,), begin),
              "indices": npy_bytes("<i4", "i", (begin[-1],), [word for row in rows for word in row]),
              "data": npy_bytes("<f4", "f", (begin[-1],), [count for row in rows for count in row.values()])}
    with zipfile.ZipFile(folder / "x.npz", "w", zipfile.ZIP_STORED) as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    (folder / "y.npy").write_bytes(npy_bytes("<i8", "q", (nodes,), labels))
    return rows


def parsed(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for name, default in {"nodes": 18000, "columns": 6800, "values": 68, "degree": 9, "classes": 15, "seed": 1}.items():
        parser.add_argument("--" + name, type=int, default=default)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    wanted = parsed()
    write(wanted.folder, wanted)
