#!/usr/bin/env python3
"""Tables of nodes as people have them: what each becomes, in a table that the test prints; and a model of one.

    node_tables_test.py BIN_DIRECTORY SOURCE       CPU; a minute on 2 cores
"""
import csv
import dataclasses
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.append(str(SOURCE / "examples/shop"))
import tables

EDGES = "who,whom,amount,day\nc-1,c-2,3.5,2024-01-02\nc-2,c-3,4,2024-01-03\nc-3,c-1,1,2024-02-01\n"
NODES = "key,land,age,member,kind\nc-1,DE,20,True,good\nc-2,FR,30,False,bad\nc-3,DE,40,True,\n"
NAMES = ["land=DE", "land=FR", "age", "member"]


@dataclasses.dataclass
class Variant:
    """One change of the files above. Read: the names of the features and the number of nodes. Refused: exit code 65.
    `said` is in the messages of both."""
    doc: str
    nodes: str = NODES
    edges: str = EDGES
    options: tuple = ("--label", "kind")
    names: list = None
    count: int = 3
    said: str = ""

    @property
    def expected(self):
        return f"{self.count} nodes, {len(self.names)} features" if self.names else "refused"


def changed(old, new, text=NODES):
    assert old in text
    return text.replace(old, new)


def numbered(text):
    """c-1 becomes 10, c-2 20"""
    return re.sub(r"c-(\d)", r"\g<1>0", text)


MILLION = "".join(f"c-{i},DE,{i % 50},True,good\n" for i in range(4, 1_000_000))
LATE = "".join(f"c-{i},DE,{i % 50},True,good\n" for i in range(4, 2000))
VARIANTS = [
    Variant("as they are", names=NAMES, said="columns 'amount', 'day' are not used"),
    Variant("a byte order mark", nodes="\ufeff" + NODES, names=NAMES),
    Variant("CRLF", nodes=NODES.replace("\n", "\r\n"), names=NAMES),
    Variant("no newline at the end", nodes=NODES[:-1], names=NAMES),
    Variant("tabs", nodes=NODES.replace(",", "\t"), names=NAMES),
    Variant("semicolons", nodes=NODES.replace(",", ";"), names=NAMES),
    Variant("quotes", nodes=re.sub(r"([\w-]+)", r'"\1"', NODES), names=NAMES),
    Variant("a separator in quotes", nodes=changed("FR", '"F,R"'), names=["land=DE", "land=F,R", "age", "member"]),
    Variant("decimal commas", nodes=NODES.replace(",", ";").replace("20;", "20,5;"),
            said="column 'age' has numbers with commas"),
    Variant("thousands", nodes=changed("20,", '"1,020",'), said="column 'age' has numbers with commas"),
    Variant("scientific numbers", nodes=changed("20,", "2e1,"), names=NAMES),
    Variant("ids as numbers", nodes=numbered(NODES), edges=numbered(EDGES), names=NAMES),
    Variant("scientific ids", nodes=changed("10,", "1e1,", numbered(NODES)), edges=numbered(EDGES), names=NAMES,
            said="'1e1' is read as the number 10"),
    Variant("ids with zeros in front", nodes=numbered(NODES).replace("10,D", "010,D"), edges=numbered(EDGES),
            names=NAMES, said="'010' is read as the number 10"),
    Variant("a blank line", nodes=changed("c-2,", "\nc-2,"), names=NAMES),
    Variant("an id twice", nodes=changed("c-2,", "c-1,"), said="line 3: this node has a line already: 'c-1'"),
    Variant("an edge of no node", edges=changed("c-2,c-3", "c-2,c-9", EDGES), said="line 3: an edge of a node"),
    Variant("no edge", edges="", names=NAMES, said="edges.csv: has no edge"),
    Variant("a missing id", nodes=changed("c-2,", ","), said="line 3"),
    Variant("columns in another order", nodes="\n".join(",".join(reversed(line.split(","))) for line in
                                                        NODES.split("\n")[:-1]) + "\n",
            options=("--label", "kind", "--id-column", "key"), names=["member", "age", "land=DE", "land=FR"]),
    Variant("no header", nodes=NODES.split("\n", 1)[1], edges=EDGES.split("\n", 1)[1], options=("--label", "4"),
            names=["column 1=DE", "column 1=FR", "column 2", "column 3"]),
    Variant("no header, said so", nodes=NODES.split("\n", 1)[1], edges=EDGES.split("\n", 1)[1],
            options=("--label", "4", "--header", "no"), names=["column 1=DE", "column 1=FR", "column 2", "column 3"]),
    Variant("a header that is said to be none", options=("--label", "4", "--header", "no"),
            said="line 1: column 2 is no number"),
    Variant("blanks in numbers", nodes=changed("30,", ","), names=[*NAMES[:3], "age is missing", "member"]),
    Variant("blanks in words", nodes=changed("FR", ""), names=["land=DE", "land is missing", "age", "member"]),
    Variant("blanks in yes and no", nodes=changed("False", "NA"), names=[*NAMES, "member is missing"]),
    Variant("a word that means none", nodes=changed("30,", "withheld,"),
            options=("--label", "kind", "--missing", "withheld"), names=[*NAMES[:3], "age is missing", "member"]),
    Variant("a word among numbers", nodes=changed("30,", "old,"), said="line 3: column 'age' is no number: 'old'"),
    Variant("a word among numbers, late", nodes=NODES + LATE + "c-2000,DE,old,True,good\n",
            said="line 2001: column 'age' is no number: 'old'; --missing"),
    Variant("a new word, late", nodes=NODES + LATE + "c-2000,SE,1,True,good\n", names=["land=DE", "land=FR", "land=SE",
                                                                                     "age", "member"], count=2000),
    Variant("a million rows", nodes=NODES + MILLION + "c-1000000,FR,,no,bad\n", count=1_000_000,
            edges=EDGES + "c-999999,c-1000000,1,2024-03-01\n", names=[*NAMES[:3], "age is missing", "member"]),
    Variant("a word among numbers, in the last of a million rows",
            nodes=NODES + MILLION + "c-1000000,DE,old,True,good\n",
            said="line 1000001: column 'age' is no number: 'old'"),
    Variant("dates", nodes=changed("DE", "2024-05-01").replace("FR", "2024-05-02"), said="column 'land' has dates"),
    Variant("dates that are left out", nodes=changed("DE", "2024-05-01").replace("FR", "2024-05-02"),
            options=("--label", "kind", "--drop-columns", "land"), names=["age", "member"]),
    Variant("infinity", nodes=changed("30,", "inf,"), said="line 3: column 'age' is not finite"),
    Variant("codes that are words", options=("--label", "kind", "--categorical", "age"),
            names=["land=DE", "land=FR", "age=20", "age=30", "age=40", "member"]),
    Variant("words as numbers", options=("--label", "kind", "--index-columns", "land"),
            names=["land", "age", "member"]),
    Variant("an index of pandas", nodes="".join(f"{i - 1 if i else ''},{line}\n" for i, line in
                                                enumerate(NODES.split("\n")[:-1])),
            options=("--label", "kind", "--id-column", "key"), names=NAMES),
    Variant("a column too few", nodes=changed("c-2,FR,", "c-2,"), said="line 3: 4 columns, the first line has 5"),
    Variant("the header again", nodes=NODES + NODES, said="is the header again"),
    Variant("no label of that name", options=("--label", "shoe"), said="has no column 'shoe'; it has: 'key'"),
    Variant("numbers beyond f16, not scaled", nodes=changed("20,", "99999,"),
            options=("--label", "kind", "--scale-features", "none"), said="line 2: column 'age' is 99999, beyond"),
    Variant("edges without a header", edges="c-1,c-2\nc-2,c-3\n", names=NAMES, said="ids are text"),
    Variant("a first edge of a node and none", edges="c-1,whom\nc-1,c-2\nc-2,c-3\n", said="line 1: an edge of a node"),
    Variant("a header of two words above edges", edges="who,whom\nc-1,c-2\nc-2,c-3\n", names=NAMES,
            said="the first line is a header, no edge"),
]


def run(*words, cwd):
    return subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, errors="replace")


def prepare(folder, variant, *more):
    (folder / "edges.csv").write_bytes(variant.edges.encode())
    (folder / "nodes.csv").write_bytes(variant.nodes.encode())
    return run(BIN / "salient-prepare", "edges", "--edges", "edges.csv", "--nodes", "nodes.csv", *variant.options,
               *more, "--out", "store", "--force", cwd=folder)


def names_of(folder):
    return (folder / "store" / "column_names.txt").read_text().split("\n")[:-1]


class NodeTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="salient-node-tables-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_variant_is_read_or_refused_in_one_line(self):
        rows, wrong = [], []
        for variant in VARIANTS:
            done = prepare(self.folder, variant)
            if done.returncode == 0:
                count = json.loads((self.folder / "store" / "dataset.json").read_text())["num_nodes"]
                seen, names = f"{count} nodes, {len(names_of(self.folder))} features", names_of(self.folder)
                is_right = names == variant.names
            else:
                seen = "refused"
                is_right = done.returncode == 65 and not variant.names and done.stderr.count("error:") == 1
            is_right = is_right and seen == variant.expected and variant.said in done.stderr
            rows.append(f"{variant.doc:52} {variant.expected:24} {seen if is_right else 'WRONG: ' + seen}")
            if not is_right:
                wrong.append(f"{variant.doc}: {done.returncode} {done.stderr[-600:]}")
        print("\n".join(["variant".ljust(52) + " expected".ljust(25) + " seen", *rows]), flush=True)
        self.assertEqual(wrong, [])

    def test_a_second_table_is_coded_as_the_first(self):
        self.assertEqual(prepare(self.folder, Variant("")).returncode, 0)
        (self.folder / "store").rename(self.folder / "first")
        other = Variant("", nodes=changed("FR", "SE").replace("20,", "60,"), options=("--label", "kind"))
        done = prepare(self.folder, other, "--features-as", "first", "--feature-dtype", "f32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("column 'land' has the word 'SE'", done.stderr)
        first, second = (json.loads((self.folder / name / "dataset.json").read_text()) for name in ("first", "store"))
        self.assertEqual(first["feature_origin"], second["feature_origin"])
        features = npy.rows(npy.read(self.folder / "store" / "features.npy"))
        self.assertAlmostEqual(features[0][2], (60 - 30) / math.sqrt(200 / 3), places=6)
        self.assertEqual(list(features[1][:2]), [0, 0], "a word that the first table does not have")
        done = prepare(self.folder, other, "--features-as", "first", "--scale-features", "none")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_run_refuses_a_table_that_was_coded_in_another_way(self):
        tables.write(self.folder, 400, seed=0)
        words = ("edges", "--edges", "edges.csv", "--nodes", "customers.csv", "--label", "segment",
                 "--split", ".6,.2,.2")
        self.done(BIN / "salient-prepare", *words, "--out", "first")
        self.done(BIN / "salient-train", "--dataset", "first", "--epochs", "1", "--out", "run", "--device", "cpu")
        tables.write(self.folder, 400, seed=1)
        self.done(BIN / "salient-prepare", *words, "--out", "other")
        infer = (BIN / "salient-infer", "--run", "run", "--dataset", "other", "--nodes", "all", "--device", "cpu")
        done = run(*infer, "--out", "p", cwd=self.folder)
        self.assertEqual(done.returncode, 65)
        self.assertRegex(done.stderr, "the column 'age' is a number less .*; of the run it is a number less ")
        self.assertIn("--features-as", done.stderr)
        self.done(BIN / "salient-prepare", *words, "--out", "like", "--features-as", "first")
        self.done(*[word if word != "other" else "like" for word in infer], "--out", "q")

    def test_the_commands_of_the_page_end_with_good_predictions(self):
        text = (SOURCE / "docs/TABLES.md").read_text()
        for line in re.findall(r"^    (\S.*)$", text, re.M):
            words = shlex.split(line)
            words = [sys.executable, SOURCE / words[1]] if words[0] == "python3" else [BIN / words[0], *words[1:]]
            printed = self.done(*words)
            if found := re.search(r"test accuracy ([0-9.]+)", printed):
                print(f"test accuracy {found[1]}", flush=True)
                self.assertGreaterEqual(float(found[1]), 0.94)
        with open(self.folder / "predictions/predictions.csv") as file:
            self.assertEqual(sum(1 for _ in file), 5001)
        with open(self.folder / "two/predictions.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["id"] for row in rows], ["cust-02221", "cust-00227"])
        for row in rows:
            self.assertAlmostEqual(sum(float(row[f"prob_{name}"]) for name in tables.SEGMENTS), 1, places=4)
        with open(self.folder / "new/predictions.csv") as file:
            self.assertEqual([(row["id"], row["class_name"]) for row in csv.DictReader(file)],
                             [("new-1", "retail"), ("new-2", "business")])

    def test_the_server_and_salient_infer_take_a_row_of_the_table_for_a_new_customer(self):
        tables.write(self.folder, 400, seed=0)
        self.done(BIN / "salient-prepare", "edges", "--edges", "edges.csv", "--nodes", "customers.csv", "--label",
                  "segment", "--split", ".6,.2,.2", "--out", "shop")
        self.done(BIN / "salient-train", "--dataset", "shop", "--epochs", "2", "--hidden", "16", "--device", "cpu",
                  "--out", "run")
        server = subprocess.Popen([BIN / "salient-serve", "--run", "run", "--device", "cpu", "--port", "0"],
                                  cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.terminate)
        address = server.stdout.readline().split()[-1]
        row = {"country": "SE", "age": None, "income": 21000.5, "newsletter": True}  # a country never seen, a blank
        body = {"new_nodes": [{"features": row, "neighbors": self.ids_of("retail")[:3]}], "probabilities": "by_name"}
        [answer] = self.posted(address, body)["predictions"]
        self.assertEqual(set(answer["probabilities"]), set(tables.SEGMENTS))
        (self.folder / "new.csv").write_text("newsletter,who,country,income,age,shoe\nTrue,new-1,SE,21000.5,,44\n")
        (self.folder / "more.csv").write_text("".join(f"{v},new-1\n" for v in self.ids_of("retail")[:3]))
        infer = [BIN / "salient-infer", "--run", "run", "--device", "cpu", "--new-nodes", "new.csv", "--new-edges",
                 "more.csv", "--format", "csv", "--probabilities", "--force"]
        self.done(*infer, "--id-column", "who", "--out", "new")
        with open(self.folder / "new/predictions.csv") as file:
            [found] = csv.DictReader(file)
        self.assertEqual((found["node"], found["id"], found["label"], found["class_name"]),
                         ("0", "new-1", "", answer["name"]))
        for name in tables.SEGMENTS:
            self.assertAlmostEqual(float(found[f"prob_{name}"]), answer["probabilities"][name], places=5)
        for options, code, words in ((["--id-column", "shoe", "--exact"], 2, "--exact: not with --new-nodes"),
                                     (["--nodes", "all", "--id-column", "who"], 2, "--nodes: not with --new-nodes"),
                                     (["--id-column", "shoe"], 65, "an edge of a node"),
                                     ([], 65, "has no column 'newsletter'"),
                                     (["--new-nodes", "absent.csv"], 66, "absent.csv")):
            done = run(*infer, *options, "--out", "refused", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.count("error:")), (code, 1), done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "refused").exists())
        with urllib.request.urlopen(f"{address}/v1/model") as reply:
            columns = json.load(reply)["features"]["columns"]
        self.assertEqual([column["name"] for column in columns], ["country", "age", "income", "newsletter"])
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.posted(address, {"new_nodes": [{"features": {**row, "age": "old"}}]})
        self.assertEqual(refused.exception.code, 400)
        self.assertIn("age", json.load(refused.exception)["error"])

    def posted(self, address, body):
        request = urllib.request.Request(f"{address}/predict", json.dumps(body).encode())
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def test_what_prevents_a_first_model_is_said_once_with_the_remedy(self):
        tables.write(self.folder, 1000, seed=0)
        words = ("edges", "--edges", "edges.csv", "--nodes", "customers.csv", "--label", "segment")
        plain = (*words, "--split", ".6,.2,.2", "--feature-dtype", "f32", "--out")
        self.done(BIN / "salient-prepare", *plain, "scaled")
        self.done(BIN / "salient-prepare", *plain, "wide", "--scale-features", "none")
        (self.folder / "train.txt").write_text("\n".join(self.ids_of("retail")[:50]) + "\n")
        (self.folder / "valid.txt").write_text("\n".join(self.ids_of("premium")[:50]) + "\n")
        self.done(BIN / "salient-prepare", *words, "--train", "train.txt", "--valid", "valid.txt", "--out", "apart")
        said = {name: self.training_of(name) for name in ("scaled", "wide", "apart")}
        self.assertEqual(said["wide"].count("warning: feature 'income' varies by "), 1, said["wide"])
        self.assertIn("--scale-features standard", said["wide"])
        self.assertEqual(said["apart"].count("warning: no training node is of class 'premium'"), 1, said["apart"])
        self.assertEqual(said["apart"].count("warning: validation was never better than"), 1, said["apart"])
        self.assertIn("batches of 32 seeds", said["scaled"], "of 1000 customers 6 in 10 are labelled")
        self.assertNotIn("warning", said["scaled"])

    def ids_of(self, segment):
        lines = (self.folder / "customers.csv").read_text().split("\n")
        return [line.split(",")[0] for line in lines if line.endswith("," + segment)]

    def training_of(self, name):
        done = run(BIN / "salient-train", "--dataset", name, "--epochs", "3", "--hidden", "16", "--device", "cpu",
                   cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def done(self, *words):
        done = run(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
