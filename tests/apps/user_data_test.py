#!/usr/bin/env python3
"""Graphs as people have them, from their files to a store, and with salient-train and -infer to predictions.

    user_data_test.py BIN_DIRECTORY DATASETS.md       CPU; half a minute on 2 cores

All files are generated. Every command of two sections of docs/DATASETS.md runs as it stands there.
"""
import array
import csv
import gzip
import json
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples/shop"))
import tables

BIN, DOCUMENT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
NODES, CLASSES = 200, 3
CODES = {**npy.CODES, "|b1": "B", "|u1": "B", "<f8": "d"}
# Run by a small process, as a child's peak begins with the memory of the process that started it.
MEASURE = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def array_bytes(shape, values, dtype, is_fortran=False):
    header = str({"descr": dtype, "fortran_order": is_fortran, "shape": shape}).ljust(117).encode() + b"\n"
    magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    return magic + header + array.array(CODES[dtype], values).tobytes()


def write_npz(path, **arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (shape, values, dtype) in arrays.items():
            archive.writestr(name + ".npy", array_bytes(shape, values, dtype))


def edges_of(draw, num_nodes=NODES, per_node=3):
    """Most join nodes of one class, which is node % CLASSES."""
    return [(v, (v + CLASSES * draw.randrange(1, 5)) % num_nodes) for v in range(num_nodes) for _ in range(per_node)]


def write_files(folder):
    """What the commands of the document name."""
    draw = random.Random(1)
    edges, nodes = edges_of(draw), range(NODES)
    features = [draw.gauss(v % CLASSES, 1) for v in nodes for _ in range(4)]
    tables.write(folder, NODES, seed=0)
    (folder / "roads.csv").write_text("".join(f"{s},{d}\n" for s, d in edges))
    (folder / "x.npy").write_bytes(array_bytes((NODES, 4), features, "<f4"))
    (folder / "y.npy").write_bytes(array_bytes((NODES,), [v % CLASSES for v in nodes], "<i8"))
    paper = [7 * v + 31336 for v in nodes]
    (folder / "cora.cites").write_text("".join(f"{paper[s]}\t{paper[d]}\n" for s, d in edges))
    (folder / "cora.content").write_text("".join(
        f"{paper[v]}\t{v % 2}\t{v % CLASSES}\t{('Theory', 'Case_Based', 'Rule_Learning')[v % CLASSES]}\n"
        for v in reversed(nodes)))
    person = [f'"Smith, {v}"' if v % 5 == 0 else f"p{v}" for v in nodes]
    (folder / "follows.csv").write_text("when;follower;followed\n" +
                                        "".join(f"2020-01-01;{person[s]};{person[d]}\n" for s, d in edges))
    trees = ("ash", '"oak, red"', "elm")
    (folder / "people.csv").write_text("person,class\n" +
                                       "".join(f"{person[v]},{trees[v % CLASSES]}\n"
                                               for v in nodes if v % 10 != 9))
    ids = [s for s, _ in edges] + [d for _, d in edges]
    plain = {"x": ((NODES, 4), features, "<f4"), "y": ((NODES,), [v % CLASSES for v in nodes], "<i8"),
             "edge_index": ((2, len(edges)), ids, "<i8")}
    write_npz(folder / "cora.npz", **plain)
    masks = {f"{part}_masks": ((5, NODES), [int((v + k) % 5 in held) for k in range(5) for v in nodes], "|b1")
             for part, held in {"train": (0, 1, 2), "val": (3,), "test": (4,)}.items()}
    write_npz(folder / "tolokers.npz", **plain, **masks)


def write_ogb_csv(folder, num_nodes, values, labels=(0, 1)):
    """OGB's CSV layout: node v is joined to v // 2 and has the label labels[v % len(labels)]."""
    width = len(values) // num_nodes
    files = {"raw/num-node-list": [num_nodes], "raw/num-edge-list": [num_nodes],
             "raw/edge": (f"{v},{v // 2}" for v in range(num_nodes)),
             "raw/node-feat": (",".join(str(b) for b in values[v * width:(v + 1) * width]) for v in range(num_nodes)),
             "raw/node-label": (labels[v % len(labels)] for v in range(num_nodes)),
             "split/random/train": range(0, num_nodes // 2), "split/random/valid": range(num_nodes // 2, num_nodes),
             "split/random/test": []}
    for name, lines in files.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.writelines(f"{line}\n" for line in lines)


def commands_of(section):
    """Lines of a section that are indented by four blanks, with their continuations."""
    text = DOCUMENT.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^    (\S(?:.*\\\n)*.*)$", text, re.M)
    return [shlex.split(line.replace("\\\n", " ")) for line in lines]


class UserData(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="salient-user-data-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, *command, expect=0):
        program, *rest = [str(word) for word in command]
        done = subprocess.run([BIN / program, *rest], cwd=self.folder, text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, expect, f"{command}: {done.stderr}")
        return done

    def prepare(self, *rest, expect=0):
        return self.run_in("salient-prepare", *rest, expect=expect)

    def test_the_examples_of_the_document_run(self):
        write_files(self.folder)
        commands = commands_of("Plain files") + commands_of("One `.npz` file")
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            with self.subTest(command=" ".join(command)):
                self.assertEqual(command[0], "salient-prepare")
                out = command[command.index("--out") + 1]
                done = self.run_in(*command)
                self.assertIn(f"name            {pathlib.Path(out).name} (", done.stdout)
                self.assertIn(f"next            salient-train --dataset {out}", done.stdout)
                self.prepare("verify", out)
                shutil.rmtree(self.folder / out)

    def test_ids_and_classes_keep_their_names_up_to_the_predictions(self):
        write_files(self.folder)
        [command] = [words for words in commands_of("Plain files") if "follows.csv" in words]
        self.assertIn("made features   degree", self.run_in(*command).stdout)
        quiet = ["--device", "cpu", "--progress", "none"]
        self.run_in("salient-train", "--dataset", "data/follows", "--epochs", "1", "--fanout", "5,5", "--eval-fanout",
                    "5,5", "--hidden", "16", "--batch-size", "50", "--out", "run", *quiet)
        confusion = json.loads((self.folder / "run/confusion.json").read_text())
        self.assertEqual(confusion["class_names"], ["ash", "elm", "oak, red"])
        self.run_in("salient-infer", "--run", "run", "--nodes", "all", "--format", "csv", "--top-k", "2", "--out", "p",
                    *quiet)
        with open(self.folder / "p/predictions.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["node", "id", "label", "class_1", "probability_1", "class_2", "probability_2",
                                         "label_name", "class_name_1", "class_name_2"])
        self.assertEqual({row["id"] for row in rows},
                         {f"Smith, {v}" if v % 5 == 0 else f"p{v}" for v in range(NODES)})
        for row in rows:
            v = int(row["id"].removeprefix("Smith, ").removeprefix("p"))
            expected = "" if v % 10 == 9 else ("ash", "oak, red", "elm")[v % CLASSES]
            self.assertEqual(row["label_name"], expected)
            self.assertEqual(row["class_name_1"], confusion["class_names"][int(row["class_1"])])

    def test_names_of_nodes_are_sealed_and_checked(self):
        (self.folder / "e.csv").write_text("ann,bob\nbob,eve\n")
        self.prepare("edges", "--edges", "e.csv", "--out", "D")
        store = self.folder / "D"
        names, begin = npy.read(store / "node_names_begin.npy"), (store / "node_names.npy").read_bytes()
        self.assertEqual(list(names.values), [0, 3, 6, 9])
        self.assertTrue(begin.endswith(b"annbobeve"))
        (store / "node_names.npy").write_bytes(begin[:-1] + b"E")
        self.assertIn("node_names.npy: XXH3 checksum", self.prepare("verify", "D", expect=65).stderr)
        (store / "node_names.npy").write_bytes(begin[:-1])
        self.assertIn("node_names.npy", self.prepare("describe", "D", expect=65).stderr)
        (store / "node_names.npy").unlink()
        self.assertIn("node_names.npy is missing", self.prepare("describe", "D", expect=66).stderr)

    def test_labels_that_are_not_meant_are_said_in_one_line(self):
        (self.folder / "e.csv").write_text("0,1\n1,2\n2,3\n")

        def labels(shape, values, *options, expect=0):
            (self.folder / "y.npy").write_bytes(array_bytes(shape, values, "<i8"))
            return self.prepare("edges", "--edges", "e.csv", "--labels", "y.npy", "--out", "D", "--force", *options,
                                expect=expect)

        def names():
            path = self.folder / "D/class_names.txt"
            return path.read_text().split("\n")[:-1] if path.exists() else []

        for values, line in (([1, 2, 3, 1], "labels are 1 to 3: read as 4 classes, of which class 0 has no node; "
                              "--compact-labels reads 3 classes\n"),
                             ([0, 7, 7, -1], "labels go up to 7: read as 8 classes, of which 2 have nodes; "
                              "--compact-labels reads 2 classes\n")):
            self.assertIn("labels          " + line, labels((4,), values).stdout)
            compact = labels((4,), values, "--compact-labels").stdout
            self.assertNotIn("labels          ", compact)
            self.assertEqual(names(), sorted({str(value) for value in values if value >= 0}))
        one_hot = [1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0]
        self.assertIn("labels          every node has exactly one of the 3 labels: read as several labels a node; "
                      "--one-hot reads classes\n", labels((4, 3), one_hot).stdout)
        self.assertIn("classes         3, from 1 to 2 nodes", labels((4, 3), one_hot, "--one-hot").stdout)
        self.assertIn("has the labels 0 and 2", labels((4, 3), [1, 0, 1, *one_hot[3:]], "--one-hot", expect=65).stderr)
        self.assertNotIn("labels          every", labels((4, 3), [1, 0, 1, *one_hot[3:]]).stdout)
        self.assertIn("a class a node already", labels((4,), [0, 1, 0, 1], "--one-hot", expect=65).stderr)
        self.assertNotIn("labels          ", labels((4,), [0, 1, 0, 1]).stdout)
        (self.folder / "names.txt").write_text("ash\noak\n")
        labels((4,), [0, 1, 0, 1], "--class-names", "names.txt")
        self.assertEqual(names(), ["ash", "oak"])
        self.assertIn("has 2 lines, the graph has 3 classes",
                      labels((4,), [0, 1, 2, 1], "--class-names", "names.txt", expect=65).stderr)

    def test_words_above_words_are_said_to_be_a_node(self):
        (self.folder / "e.csv").write_text("src,dst\nann,bob\nbob,cid\n")
        (self.folder / "y.csv").write_text("user,team\nann,red\nbob,blue\ncid,red\n")
        edges = ["edges", "--edges", "e.csv", "--labels", "y.csv", "--out", "D", "--force"]
        said = "y.csv: the first line is a node, no header\n"
        self.assertEqual(self.prepare(*edges).stderr.count(said), 1)
        named = self.prepare(*edges, "--label-column", "team")
        self.assertNotIn(said, named.stderr)
        self.assertIn("nodes           3,", named.stdout)

    def test_each_table_may_call_its_ids_otherwise(self):
        (self.folder / "e.csv").write_text("source,target\n10,20\n20,30\n")
        (self.folder / "x.csv").write_text("age,customer\n31,10\n45,20\n52,30\n")
        (self.folder / "y.csv").write_text("segment,client\nred,30\nblue,10\nred,20\n")
        tables = ["edges", "--edges", "e.csv", "--features", "x.csv", "--labels", "y.csv", "--label-column", "segment",
                  "--id-column", "customer", "--out", "D"]
        refused = self.prepare(*tables, expect=65)
        self.assertIn("y.csv: has no column 'customer'; it has: 'segment', 'client'", refused.stderr)
        self.assertIn("choose it with --id-column, --label-column or --label-id-column", refused.stderr)
        self.prepare(*tables, "--label-id-column", "client")
        labels = list(npy.read(self.folder / "D" / "labels.npy").values)
        data = (self.folder / "D" / "original_ids.npy").read_bytes()
        ids = array.array("Q", data[-8 * len(labels):]).tolist()
        self.assertEqual(dict(zip(ids, labels)), {10: 0, 20: 1, 30: 1})
        self.assertIn("--label-id-column: of a table of labels",
                      self.prepare("edges", "--edges", "e.csv", "--label-id-column", "client", "--out", "E",
                                   expect=2).stderr)

    def test_ogbs_layout_takes_the_same_choices_of_labels(self):
        write_ogb_csv(self.folder / "gaps", 20, bytes(40), labels=(2, 5))
        self.assertIn("labels go up to 5: read as 6 classes, of which 2 have nodes; --compact-labels reads 2 classes",
                      self.prepare("ogb", "--raw", "gaps", "--out", "D").stdout)
        self.assertIn("classes         2, from 10 to 10 nodes",
                      self.prepare("ogb", "--raw", "gaps", "--compact-labels", "--out", "D", "--force").stdout)
        self.assertEqual((self.folder / "D/class_names.txt").read_text(), "2\n5\n")
        write_ogb_csv(self.folder / "hot", 20, bytes(40), labels=("0,1", "1,0"))
        self.assertIn("--one-hot reads classes", self.prepare("ogb", "--raw", "hot", "--out", "E").stdout)
        self.assertIn("classes         2, from 10 to 10 nodes",
                      self.prepare("ogb", "--raw", "hot", "--one-hot", "--out", "E", "--force").stdout)

    def test_features_are_made_where_there_are_none(self):
        write_files(self.folder)
        plain = ["edges", "--edges", "roads.csv", "--labels", "y.npy", "--split", "0.6,0.2,0.2"]
        bare = self.prepare(*plain, "--out", "bare")
        self.assertIn("to train on it  give it features, with --features or --make-features", bare.stdout)
        for recipe, width in (("degree", None), ("random:5", 5), ("positional:6", 6)):
            out = recipe.split(":")[0]
            done = self.prepare(*plain, "--make-features", recipe, "--out", out, "--threads", "1")
            self.assertRegex(done.stdout, rf"made features   {recipe}, \d+ columns, seed 0\n")
            if width:
                self.assertIn(f"features        {width} x f16", done.stdout)
            self.prepare("verify", out)
            self.prepare(*plain, "--make-features", recipe, "--out", "again", "--force", "--threads", "2")
            self.assertEqual((self.folder / out / "features.npy").read_bytes(),
                             (self.folder / "again/features.npy").read_bytes())
            self.prepare(*plain, "--make-features", recipe, "--out", "again", "--force", "--rng-seed", "1")
            is_drawn = recipe != "degree"
            self.assertEqual((self.folder / out / "features.npy").read_bytes() !=
                             (self.folder / "again/features.npy").read_bytes(), is_drawn)
        write_npz(self.folder / "bare.npz", y=((4,), [0, 1, 0, 1], "<i8"),
                  edge_index=((2, 3), [0, 1, 2, 1, 2, 3], "<i8"))
        bare = self.prepare("npz", "--file", "bare.npz", "--split", "0.5,0.5,0", "--out", "bare-npz").stdout
        self.assertIn("give it features, with --make-features\n", bare)
        made = self.prepare("npz", "--file", "bare.npz", "--split", "0.5,0.5,0", "--make-features", "positional:2",
                            "--out", "from-npz").stdout
        self.assertIn("made features   positional:2, 2 columns", made)
        self.assertIn("--make-features: none, degree, random:K",
                      self.prepare(*plain, "--make-features", "random", "--out", "D", expect=2).stderr)
        self.assertIn("has features already",
                      self.prepare(*plain, "--features", "x.npy", "--make-features", "degree", "--out", "D",
                                   expect=2).stderr)
        self.assertFalse((self.folder / "D").exists())

    def test_training_without_features_says_how_to_make_some(self):
        write_files(self.folder)
        self.prepare("edges", "--edges", "roads.csv", "--labels", "y.npy", "--split", "0.6,0.2,0.2", "--out", "bare")
        refused = self.run_in("salient-train", "--dataset", "./bare", "--device", "cpu", "--out", "run", expect=2)
        self.assertIn("bare: has no features to train on; prepare it with features, or with salient-prepare's "
                      "--make-features degree", refused.stderr)

    def peak_of(self, *arguments):
        """Exit code, the peak that is printed, and that of the whole process, in GB."""
        with open(self.folder / "err.txt", "w") as error:
            done = subprocess.run([sys.executable, "-c", MEASURE, BIN / "salient-prepare", *arguments], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=error, text=True, timeout=300)
        code, kilobytes = done.stdout.split("\n")[-2].split()
        printed = re.search(r"peak memory     (\S+)", done.stdout)
        return int(code), float(printed[1]) if printed else None, float(kilobytes) * 1024e-9

    def test_every_importer_keeps_to_its_memory(self):
        draw = random.Random(2)
        count = 300_000
        edges = [(draw.randrange(count), draw.randrange(count)) for _ in range(2 * count)]
        (self.folder / "numbers.csv").write_text("".join(f"{s * 9},{d * 9}\n" for s, d in edges))
        (self.folder / "names.csv").write_text("".join(f"node-number-{s},node-number-{d}\n" for s, d in edges))
        wide = draw.randbytes(40_000 * 250)
        (self.folder / "pairs.csv").write_text("".join(f"{v},{v // 2}\n" for v in range(40_000)))
        (self.folder / "table.csv").write_text("".join(
            f"{v}," + ",".join(str(b) for b in wide[v * 250:(v + 1) * 250:2]) + "\n" for v in range(40_000)))
        write_npz(self.folder / "wide.npz", x=((40_000, 250), wide, "|u1"), y=((40_000,), [0, 1] * 20_000, "<i8"),
                  edge_index=((40_000, 2), [v // 2 for v in range(80_000)], "<i8"))
        (self.folder / "wide.npy").write_bytes(array_bytes((40_000, 250), wide, "|u1"))
        cases = {"numbers": ["edges", "--edges", "numbers.csv"], "names": ["edges", "--edges", "names.csv"],
                 "array": ["edges", "--edges", "pairs.csv", "--features", "wide.npy"],
                 "table": ["edges", "--edges", "pairs.csv", "--features", "table.csv"],
                 "positional": ["edges", "--edges", "numbers.csv", "--make-features", "positional:20"],
                 "npz": ["npz", "--file", "wide.npz", "--split", "0.6,0.2,0.2"]}
        write_ogb_csv(self.folder / "csv", 40_000, wide)
        cases["ogb"] = ["ogb", "--raw", "csv"]
        if pathlib.Path("/usr/share/wordnet/data.noun").exists():
            cases["wordnet"] = ["wordnet"]
        for name, command in cases.items():
            with self.subTest(name):
                code, peak, _ = self.peak_of(*command, "--out", "D", "--force", "--memory-gb", "4")
                self.assertEqual(code, 0, (self.folder / "err.txt").read_text())
                self.assertGreater(peak, 0.02, "a graph large enough to be measured")
                allowed = 2 * peak + 0.03
                code, peak_allowed, _ = self.peak_of(*command, "--out", "D", "--force", "--memory-gb", f"{allowed:.3f}")
                self.assertEqual(code, 0, (self.folder / "err.txt").read_text())
                self.assertLessEqual(peak_allowed, allowed)
                for share in (0.9, 0.4):
                    limit = max(share * peak, 0.02)
                    code, printed, whole = self.peak_of(*command, "--out", "E", "--memory-gb", f"{limit:.3f}")
                    error = (self.folder / "err.txt").read_text()
                    self.assertEqual(code, 71, error)
                    self.assertRegex(error, "are allowed; raise --memory-gb|--memory-gb allows")
                    self.assertLessEqual(whole, limit + 0.002)
                self.assertFalse((self.folder / "E").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
