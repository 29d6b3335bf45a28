# tests/apps/reader_rules/readers.py - every reader of text: a good file, and how a program is started on it.
"""A reader has a good table (header, rows, separator), says what its fields are, and is started on any bytes in place
of it. What it reads comes back as the content of the store: names of nodes, edges, features, labels, lists."""
import array
import ast
import dataclasses
import gzip
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import npy

CODES = {**npy.CODES, "<u8": "Q", "|u1": "B", "<f4": "f", "<u2": "H", "<f2": "H"}  # halves: their bits
BIN = pathlib.Path(".")  # of the programs; the test sets it


@dataclasses.dataclass
class Outcome:
    code: int
    out: str  # standard output
    err: str
    content: object = None


@dataclasses.dataclass
class Reader:
    name: str
    header: list  # names of the columns; None = the good file has no header
    rows: list  # of fields
    start: object  # start(folder, bytes, options) -> Outcome
    separator: str = ","
    fields: str = "numbers"  # what an entry may be: "numbers", "text", "values" (numbers of any kind), "names" (a line)
    kind: str = "table"  # "edges", "nodes" (a line a node, with its id), "ids", "lines" (line n is row n), "other"
    is_table: bool = True  # comments, quotes, headers and the choice of separators are known
    file: str = "in.txt"
    left_out: str = None  # what is said where the file is not needed, and is left out if it is bad

    def text(self, header="good", rows=None, separator=None, end="\n"):
        """The file with other parts; of the kind that the reader has."""
        header = self.header if header == "good" else header
        lines = ([header] if header is not None else []) + (self.rows if rows is None else rows)
        return "".join((separator or self.separator).join(line) + end for line in lines)


def array_of(path):
    data = path.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:start].decode())
    return list(array.array(CODES[header["descr"]], data[start:])), header["shape"]


def content_of(store):
    """Of a store of numbers or names: all that came from the files, by the ids that these have."""
    begin, shape = array_of(store / "indptr.npy")
    count = shape[0] - 1
    names = list(range(count))
    if (store / "original_ids.npy").exists():
        names = array_of(store / "original_ids.npy")[0]
    if (store / "node_names.npy").exists():
        text, ends = bytes(array_of(store / "node_names.npy")[0]), array_of(store / "node_names_begin.npy")[0]
        names = [text[ends[v]:ends[v + 1]].decode() for v in range(count)]
    sources = array_of(store / "indices.npy")[0]
    content = {"nodes": sorted(names, key=str),
               "edges": sorted(((names[s], names[v]) for v in range(count) for s in sources[begin[v]:begin[v + 1]]),
                               key=str)}
    classes = (store / "class_names.txt").read_text().split("\n")[:-1] if (store / "class_names.txt").exists() else None
    if (store / "labels.npy").exists():
        labels, shape = array_of(store / "labels.npy")
        if len(shape) == 1:
            content["labels"] = {names[v]: classes[y] if classes and y >= 0 else y for v, y in enumerate(labels)}
        else:
            content["labels"] = {names[v]: labels[v * shape[1]:(v + 1) * shape[1]] for v in range(count)}
    if (store / "features.npy").exists():
        values, shape = array_of(store / "features.npy")
        content["features"] = {names[v]: values[v * shape[1]:(v + 1) * shape[1]] for v in range(count)}
    for part in ("train", "valid", "test"):
        content[part] = [names[v] for v in array_of(store / f"{part}.npy")[0]]
    if (store / "owner.npy").exists():
        content["owner"] = array_of(store / "owner.npy")[0]
    return content


def run(folder, program, *arguments):
    done = subprocess.run([BIN / program, *map(str, arguments)], cwd=folder, capture_output=True, timeout=300)
    return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def prepared(folder, *arguments):
    outcome = run(folder, "salient-prepare", *arguments, "--out", "D", "--symmetric", "no", "--threads", "2")
    if outcome.code == 0:
        outcome.content = content_of(folder / "D")
    return outcome


def through_edges(option, file, *others, **files):
    """salient-prepare edges, the bytes being the file of one option; `files` are there, too."""
    def start(folder, data, options=()):
        (folder / file).write_bytes(data)
        for name, text in files.items():
            path = folder / name.replace("_", ".")
            if isinstance(text, tuple):
                npy.write(path, *text)
            else:
                path.write_text(text)
        return prepared(folder, "edges", option, file, *others, *options)
    return start


NUMBERS, NAMES = "0,1\n1,2\n2,3\n", "ann,bob\nbob,eve\neve,dan\n"
X4 = ((4, 1), [10.0, 11.0, 12.0, 13.0], "<f4")
DEGREE, F32 = ("--make-features", "degree"), ("--feature-dtype", "f32")
BARE = ("--edges", "e.csv")


def partitioned(folder, data, options=()):
    outcome = through_edges("--edges", "e.csv", *DEGREE)(folder, NUMBERS.encode())
    (folder / "in.txt").write_bytes(data)
    outcome = run(folder, "salient-prepare", "partition", "D", "--by", "in.txt", *options)
    if outcome.code == 0:
        outcome.content = content_of(folder / "D")
    return outcome


OGB = {"raw/num-node-list": "4\n", "raw/num-edge-list": "3\n", "raw/edge": "0,1\n1,2\n2,3\n",
       "raw/node-feat": "0.5,1\n1.5,2\n2.5,3\n3.5,4\n", "raw/node-label": "0\n1\n0\n1\n",
       "split/random/train": "0\n1\n", "split/random/valid": "2\n", "split/random/test": "3\n",
       "mapping/labelidx2name": "label idx,name\n0,cat\n1,dog\n"}


def through_ogb(table):
    def start(folder, data, options=()):
        for name, text in OGB.items():
            path = folder / "set" / f"{name}.csv.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(data if name == table else text.encode(), 1))
        return prepared(folder, "ogb", "--raw", "set", *F32, *options)
    return start


def ogb_reader(table, fields, **more):
    rows = [line.split(",") for line in OGB[table].split("\n")[:-1]]
    header = rows.pop(0) if table.startswith("mapping") else None
    return Reader("OGB " + table.split("/")[-1], header, rows, through_ogb(table), fields=fields, is_table=False,
                  kind=more.pop("kind", "lines"), file=table.split("/")[-1] + ".csv.gz", **more)


def synsets(*texts):
    """Each line of WordNet begins with the byte that it is at."""
    rows, at = [], len("  1 licence  \n")
    for text in texts:
        rows.append([f"{at:08} {text}"])
        at += len(rows[-1][0]) + 1
    return rows


def with_config(folder, data, options=()):
    """Training that ends at a data set that is not there, whose name is the configuration's."""
    (folder / "c.toml").write_bytes(data)
    outcome = run(folder, "salient-train", "--config", "c.toml", "--device", "cpu", *options)
    if outcome.code == 66:
        outcome = Outcome(0, outcome.out, outcome.err, [name for name in ("./one", "./two") if name in outcome.err])
    return outcome


def wordnet(folder, data, options=()):
    for name, text in (("data.noun", data), ("data.verb", b""), ("data.adj", b""), ("data.adv", b"")):
        (folder / name).write_bytes(text)
    return prepared(folder, "wordnet", "--source", ".", *options)


def edges(name, header, rows, *options, **more):
    return Reader(name, header, rows, through_edges("--edges", "in.txt", *DEGREE, *options), kind="edges", **more)


PAIRS, NAMED = [["0", "1"], ["1", "2"], ["2", "3"]], [["ann", "bob"], ["bob", "eve"], ["eve", "dan"]]
WEIGHED = [[s, d, "0.5"] for s, d in PAIRS]
READERS = [
    edges("edges of numbers", None, PAIRS),
    edges("edges of numbers, tabs", None, PAIRS, separator="\t"),
    edges("edges of text", None, NAMED, fields="text"),
    edges("edges of text, header", ["source", "target"], NAMED, fields="text"),
    edges("edges, three columns", ["source", "target", "weight"], WEIGHED),
    edges("edges, columns chosen", None, WEIGHED, "--columns", "0,1", separator=" "),
    Reader("edges beside arrays", None, PAIRS,
           through_edges("--edges", "in.txt", "--features", "x.npy", *F32, x_npy=X4), kind="edges"),
    Reader("features", ["id", "a", "b"], [["0", "0.5", "1"], ["1", "1.5", "2"], ["2", "2.5", "3"], ["3", "3.5", "4"]],
           through_edges("--features", "in.txt", *BARE, *F32, e_csv=NUMBERS), kind="nodes"),
    Reader("features by name", ["id", "a", "b"],
           [["ann", "0.5", "1"], ["bob", "1.5", "2"], ["eve", "2.5", "3"], ["dan", "3.5", "4"]],
           through_edges("--features", "in.txt", *BARE, *F32, e_csv=NAMES), kind="nodes", fields="text"),
    Reader("labels", ["id", "label"], [["0", "cat"], ["1", "dog"], ["2", "cat"], ["3", "eel"]],
           through_edges("--labels", "in.txt", *BARE, *DEGREE, e_csv=NUMBERS), kind="nodes"),
    Reader("labels by name", ["id", "label"], [["ann", "cat"], ["bob", "dog"], ["eve", "cat"], ["dan", "eel"]],
           through_edges("--labels", "in.txt", *BARE, *DEGREE, e_csv=NAMES), kind="nodes", fields="text"),
    Reader("labels, a line a row", None, [["cat"], ["dog"], ["cat"], ["eel"]],
           through_edges("--labels", "in.txt", *BARE, "--features", "x.npy", *F32, e_csv=NUMBERS, x_npy=X4),
           kind="lines", fields="text", separator=" "),
    Reader("list of ids", None, [["0"], ["1"]],
           through_edges("--train", "in.txt", *BARE, *DEGREE, "--labels", "y.csv", e_csv=NUMBERS,
                         y_csv="id,label\n0,0\n1,1\n2,0\n"), kind="ids", separator=" "),
    Reader("list of ids of text", None, [["ann"], ["eve"]],
           through_edges("--train", "in.txt", *BARE, *DEGREE, "--labels", "y.csv", e_csv=NAMES,
                         y_csv="id,label\nann,0\nbob,1\neve,0\n"), kind="ids", fields="text",
           separator=" "),
    Reader("names of classes", None, [["cat"], ["dog"]],
           through_edges("--class-names", "in.txt", *BARE, *DEGREE, "--labels", "y.csv", e_csv=NUMBERS,
                         y_csv="id,label\n0,0\n1,1\n2,0\n"), kind="lines", fields="names", is_table=False),
    Reader("parts", None, [["0"], ["1"], ["0"], ["1"]], partitioned, kind="lines", is_table=False),
    ogb_reader("raw/num-node-list", "numbers", kind="other"),
    ogb_reader("raw/edge", "numbers", kind="edges"),
    ogb_reader("raw/node-feat", "values"),
    ogb_reader("raw/node-label", "numbers"),
    ogb_reader("split/random/train", "numbers", kind="ids"),
    ogb_reader("mapping/labelidx2name", "names", kind="other", left_out="class names are left out"),
    Reader("Matrix Market", ["%%MatrixMarket matrix coordinate pattern general\n4 4 3"],
           [["1", "2"], ["2", "3"], ["3", "4"]], through_edges("--edges", "in.txt", *DEGREE), separator=" ",
           kind="other"),
    Reader("WordNet", ["  1 licence  "], synsets("03 n 01 thing 0 000 | it is  ", "03 n 01 being 0 000 | it lives  "),
           wordnet, separator=" ", fields="names", kind="other", is_table=False, file="data.noun"),
    Reader("config.toml", None, [["epochs = 1"], ['dataset = "./one"']], with_config, fields="names", kind="other",
           is_table=False, file="c.toml"),
]
