#!/usr/bin/env python3
"""A run on data that it was not trained on: its classes and its columns of features, matched by name, or refused.

    other_data_test.py BIN_DIRECTORY MPIEXEC [MPIEXEC FLAGS...]       on small graphs, CPU; two minutes

A node's kind decides its features, so that a run predicts it right. Other sets differ in kinds, columns and labels.
"""
import csv
import json
import pathlib
import random
import shutil
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
import serving

PROGRAMS, QUIET = programs.Programs(sys.argv[1], sys.argv[2:]), programs.QUIET
NODES = 240
COLUMNS = ("legs", "wings", "fur", "shell", "age")
KINDS = ("ant", "bee", "cat", "dog", "eel")  # each has its column, but for the last, which is age to all


class OtherData(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trained = cls.train(cls.store("old", kinds="ant bee cat"), "run")

    @classmethod
    def files(cls, kinds, columns=COLUMNS, rename=None, seed=1):
        """Edges and features of nodes whose kind is kinds[v % len(kinds)]. @return the kind of each node"""
        draw = random.Random(seed)
        kind_of = [kinds[v % len(kinds)] for v in range(NODES)]
        peers = {kind: [v for v in range(NODES) if kind_of[v] == kind] for kind in kinds}
        (cls.work / "e.csv").write_text("".join(f"{v},{draw.choice(peers[kind_of[v]])}\n"
                                                for v in range(NODES) for _ in range(3)))
        lines = []
        for v in range(NODES):
            values = {c: 3.0 * (c == COLUMNS[KINDS.index(kind_of[v])]) + draw.gauss(0, 0.3) for c in COLUMNS[:4]}
            values |= {"age": draw.random()} | {c: draw.gauss(0, 9) for c in columns if c not in COLUMNS}
            lines.append(",".join([str(v)] + [f"{values[c]:.4f}" for c in columns]))
        header = ["id"] + [(rename or {}).get(c, c) for c in columns]
        (cls.work / "x.csv").write_text(",".join(header) + "\n" + "\n".join(lines) + "\n")
        return kind_of

    @classmethod
    def store(cls, name, *options, kinds="ant bee cat", labels="words", split=True, **made):
        """Prepares a data set. labels: "words", "numbers" by the kind's place in KINDS, "empty" or None"""
        kind_of = cls.files(kinds.split(), **made)
        words = ["edges", "--edges", cls.work / "e.csv", "--out", cls.work / name, "--force"]
        if "--make-features" not in options:
            words += ["--features", cls.work / "x.csv"]
        if labels:
            text = {"words": str, "numbers": lambda kind: str(KINDS.index(kind)), "empty": lambda _: ""}[labels]
            (cls.work / "y.csv").write_text("id,label\n" + "".join(f"{v},{text(k)}\n" for v, k in enumerate(kind_of)))
            words += ["--labels", cls.work / "y.csv"]
            words += ["--split", "0.6,0.2,0.2"] if split and labels != "empty" else []
        PROGRAMS.run("salient-prepare", *words, *options, expect=0)
        return cls.work / name

    @classmethod
    def train(cls, store, name, epochs=12):
        PROGRAMS.run("salient-train", "--dataset", store, "--out", cls.work / name, "--epochs", epochs, "--lr", 0.02,
                     "--hidden", 16, "--fanout", "5,5", "--eval-fanout", "5,5", "--batch-size", 32, "--metric",
                     "accuracy", *QUIET, expect=0)
        return cls.work / name

    def infer(self, store, *options, run=None, out="p", expect=0, ranks=0):
        shutil.rmtree(self.work / out, ignore_errors=True)
        return PROGRAMS.run("salient-infer", "--run", run or self.trained, "--dataset", store, "--nodes", "all",
                            "--out", self.work / out, *QUIET, *options, expect=expect, ranks=ranks)

    def table(self, store, *options, **how):
        """The rows of predictions.csv, and what the program said."""
        done = self.infer(store, "--format", "csv", *options, **how)
        with open(self.work / "p/predictions.csv", newline="") as file:
            return list(csv.DictReader(file)), done

    def report(self):
        return json.loads((self.work / "p/inference.json").read_text())

    def assert_named(self, rows, kinds, known=("ant", "bee", "cat"), share=0.9):
        """Nodes of kinds that the run knows are called so; no node is called what the run does not know."""
        expected = [kinds[int(row["node"]) % len(kinds)] for row in rows]
        self.assertLessEqual({row["class_name"] for row in rows}, set(known))
        pairs = [(row["class_name"], kind) for row, kind in zip(rows, expected) if kind in known]
        self.assertGreaterEqual(sum(a == b for a, b in pairs), share * len(pairs))
        for row, kind in zip(rows, expected):
            if row["class_name"] == kind:
                self.assertEqual(int(row["class"]), ("ant", "bee", "cat").index(kind))

    def test_the_runs_own_data_says_nothing(self):
        rows, done = self.table(self.work / "old")
        self.assert_named(rows, ["ant", "bee", "cat"])
        self.assertNotIn("old ", done.stderr.replace("old: 240 nodes", ""))
        self.assertNotIn("trained on", done.stderr)

    def test_classes_are_those_of_the_run(self):
        for kinds in ("bee cat dog", "bee cat", "ant bee cat dog", "cat ant bee", "dog eel", "bee"):
            store, names = self.store("new", kinds=kinds), kinds.split()
            known = sum(kind in ("ant", "bee", "cat") for kind in names) / len(names)
            for options in ([], ["--exact"]):
                with self.subTest(kinds=kinds, options=options):
                    rows, done = self.table(store, *options)
                    self.assert_named(rows, names)
                    self.assertEqual([row["label_name"] for row in rows], [names[v % len(names)] for v in range(NODES)])
                    report = self.report()
                    if known == 0:
                        self.assertNotIn("accuracy", report)
                        self.assertNotIn("accuracy 0", done.stdout)
                    else:
                        self.assertGreater(report["accuracy"], 0.9 * known)
                        self.assertLessEqual(report["accuracy"], known)
                    unknown = sum(kind not in ("ant", "bee", "cat") for kind in names) * NODES // len(names)
                    self.assertEqual(report.get("of_unknown_class", 0), unknown)
                    if unknown:
                        self.assertIn(f"{unknown} of {NODES} labelled nodes are of classes that the run does not know",
                                      done.stderr)
                        self.assertIn("'dog'", done.stderr)

    def test_data_without_labels_is_predicted_without_accuracy(self):
        for labels, options in ((None, []), ("empty", []), (None, ["--exact"]), ("empty", ["--exact"])):
            with self.subTest(labels=labels, options=options):
                rows, done = self.table(self.store("new", labels=labels), *options)
                self.assert_named(rows, ["ant", "bee", "cat"])
                self.assertEqual({row["label"] for row in rows}, {""})
                self.assertIn("has no labels to compare predictions with", done.stderr)
                self.assertNotIn("accuracy", done.stdout)
                self.assertEqual(self.report()["labelled"], 0)

    def test_classes_without_names_are_compared_by_number(self):
        rows, done = self.table(self.store("new", kinds="bee cat dog", labels="numbers"))
        self.assert_named(rows, ["bee", "cat", "dog"])
        self.assertIn("has no names of classes, as the run has: they are compared by number, from 0", done.stderr)
        self.assertGreater(self.report()["accuracy"], 0.6)
        self.assertEqual({row["label"] for row in rows}, {"1", "2", "3"})
        run = self.train(self.store("numbers", labels="numbers"), "numbers-run")
        rows, done = self.table(self.store("new", kinds="bee cat"), run=run)
        self.assertNotIn("class_name", rows[0])
        self.assertIn("has names of classes, the run has none", done.stderr)
        rows, done = self.table(self.store("new", kinds="bee cat dog", labels="numbers"), run=run)
        self.assertIn("has classes without names, as the run has: they are compared by number", done.stderr)
        self.assertGreater(self.report()["accuracy"], 0.6)

    def test_compacted_classes_are_the_numbers_that_they_were(self):
        run = self.train(self.store("compact", "--compact-labels", kinds="bee dog", labels="numbers"), "compact-run")
        for kinds, options in (("bee dog eel", ["--compact-labels"]), ("cat dog bee", []),
                               ("dog", ["--compact-labels"])):
            with self.subTest(kinds=kinds):
                rows, _ = self.table(self.store("new", *options, kinds=kinds, labels="numbers"), run=run)
                names = [str(KINDS.index(kind)) for kind in kinds.split()]
                right = [row["class_name"] == names[v % len(names)] for v, row in enumerate(rows)
                         if names[v % len(names)] in ("1", "3")]
                self.assertGreater(sum(right), 0.9 * len(right))
                self.assertGreater(self.report()["accuracy"], 0.9 * len(right) / NODES)

    def logits(self, store, *options, **how):
        self.infer(store, *options, **how)
        return list(npy.read(self.work / how.get("out", "p") / "logits.npy").values)

    def test_columns_are_found_by_name(self):
        wide = ("age", "new", "shell", "legs", "fur", "other", "wings")
        for layout in ([], ["--feature-dtype", "f32"], ["--feature-dtype", "fp8"], ["--feature-layout", "csr"]):
            for columns in (tuple(reversed(COLUMNS)), wide):
                with self.subTest(layout=layout, columns=columns):
                    # fp8 and f16 round each value by itself, so that values are the same in any order
                    straight = self.store("straight", *layout)
                    expected = self.logits(straight)
                    other = self.reordered(straight, columns, layout)
                    self.assertEqual(self.logits(other), expected)
                    self.assertEqual(self.logits(other, "--exact"), self.logits(straight, "--exact"))
                    done = self.infer(other)
                    self.assertIn("they are found by name", done.stderr)
                    if "new" in columns:
                        self.assertIn("has the columns 'new', 'other', which the run does not use", done.stderr)

    def reordered(self, straight, columns, layout):
        """The same nodes and values with the columns in another order, and further ones."""
        with open(self.work / "x.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        draw = random.Random(3)
        text = ",".join(("id",) + columns) + "\n"
        for row in rows:
            text += ",".join([row["id"]] + [row.get(c) or f"{draw.random():.3f}" for c in columns]) + "\n"
        (self.work / "x.csv").write_text(text)
        PROGRAMS.run("salient-prepare", "edges", "--edges", self.work / "e.csv", "--features", self.work / "x.csv",
                     "--labels", self.work / "y.csv", "--split", "0.6,0.2,0.2", "--out", self.work / "reordered",
                     "--force", *layout, expect=0)
        return self.work / "reordered"

    def test_columns_that_are_missing_are_refused_by_name(self):
        cases = ((dict(columns=COLUMNS[:4]), "lacks the column 'age'", False),
                 (dict(rename={"age": "Age"}), "lacks the column 'age' that the run was trained on; it has the column "
                                               "'Age', which the run lacks", True),
                 (dict(rename={"fur": "wings"}), "twice", True))
        for made, line, may_be_taken in cases:
            store = self.store("new", **made)
            for options in ([], ["--exact"]):
                error = self.infer(store, *options, expect=65).stderr
                self.assertIn(line, error)
                self.assertEqual("--match-features place" in error, may_be_taken)
            served = PROGRAMS.run("salient-serve", "--run", self.trained, "--dataset", store, "--port", 0, "--device",
                                  "cpu", expect=65)
            self.assertIn(line, served.stderr)
        rows, done = self.table(self.store("new", rename={"age": "Age"}), "--match-features", "place")
        self.assert_named(rows, ["ant", "bee", "cat"])
        self.assertIn("taken as they come, as asked for", done.stderr)

    def test_made_features_are_those_of_the_run(self):
        run = self.train(self.store("random", "--make-features", "random:4"), "random-run")
        self.assertIn("are made: kind random seed 0 width 4, from another graph",
                      self.infer(self.store("new", "--make-features", "random:4", seed=2), run=run).stderr)
        for options, line, may_be_taken in ((["positional:4"], "kind positional", True),
                                            (["random:5"], "width 5", False),
                                            (["random:4", "--rng-seed", "1"], "seed 1", True),
                                            (["degree"], "kind degree", False)):
            with self.subTest(options=options):
                store = self.store("new", "--make-features", *options, seed=2)
                error = self.infer(store, run=run, expect=65).stderr
                self.assertIn("has features that are made: ", error)
                self.assertIn(line, error)
                self.assertEqual("--match-features place" in error, may_be_taken)
                if may_be_taken:
                    self.infer(store, "--match-features", "place", run=run)
        error = self.infer(self.store("new"), run=run, expect=65).stderr
        self.assertIn("has features that come from its source", error)

    def test_several_labels_a_node_are_matched_by_name(self):
        def store(name, kinds, names):
            kind_of = self.files(kinds)
            flags = [int(kind == each or (v % 2 == 0 and each == "even")) for v, kind in enumerate(kind_of)
                     for each in names]
            npy.write(self.work / "y.npy", (NODES, len(names)), flags, "<i8")
            (self.work / "names.txt").write_text("".join(f"{each}\n" for each in names))
            PROGRAMS.run("salient-prepare", "edges", "--edges", self.work / "e.csv", "--features", self.work / "x.csv",
                         "--labels", self.work / "y.npy", "--class-names", self.work / "names.txt", "--split",
                         "0.6,0.2,0.2", "--out", self.work / name, "--force", expect=0)
            return self.work / name

        run = self.train(store("multi", ["ant", "bee", "cat"], ["ant", "bee", "cat"]), "multi-run", epochs=40)
        for options in ([], ["--exact"]):
            rows, done = self.table(store("new", ["bee", "cat"], ["cat", "dog", "bee"]), *options, run=run)
            self.assertIn("has the label 'dog', which the run does not know: accuracy and F1 leave them out",
                          done.stderr)
            self.assertEqual(self.report()["known_labels"], 2 * NODES)
            self.assertGreater(self.report()["f1"], 0.9)
            self.assertEqual([row["labels"] for row in rows], ["1" if v % 2 == 0 else "2" for v in range(NODES)])
            right = sum(row["label_name"] in (("bee", "cat")[v % 2], "even") for v, row in enumerate(rows))
            self.assertGreater(right, 0.9 * NODES)
        for other in (self.store("new", labels=None), self.store("new")):
            _, done = self.table(other, run=run)
            self.assertNotIn("accuracy", self.report())
            self.assertIn("label", done.stderr)
        self.assertNotIn("accuracy", (self.infer(store("new", ["bee", "cat"], ["cat", "bee"])), self.report())[1])

    def test_a_run_of_an_older_version_is_compared_by_number(self):
        run = self.work / "older"
        shutil.copytree(self.trained, run, symlinks=True)
        for path in run.glob("checkpoints/epoch-*/state.json"):
            state = json.loads(path.read_text())
            del state["dataset"]["schema"], state["checksum"]
            path.write_text(json.dumps(state, indent=2) + "\n")
        rows, done = self.table(self.store("new", kinds="ant bee cat", columns=COLUMNS), run=run)
        self.assertNotIn("class_name", rows[0])
        self.assertIn("did not keep names of classes and columns", done.stderr)
        self.assertGreater(self.report()["accuracy"], 0.9)
        self.assertIn("features, the run was trained on 5",
                      self.infer(self.store("new", columns=COLUMNS[:4]), run=run, expect=65).stderr)
        rows, done = self.table(self.work / "old", run=run)
        self.assert_named(rows, ["ant", "bee", "cat"])

    def test_several_ranks_do_as_one(self):
        straight = self.store("straight", kinds="bee cat dog")
        other = self.reordered(straight, tuple(reversed(COLUMNS)), [])
        for options in ([], ["--exact"]):
            expected = self.logits(other, *options)
            self.assertEqual(self.logits(other, *options, ranks=2), expected)
            self.assertEqual(self.report()["of_unknown_class"], NODES // 3)
        PROGRAMS.run("salient-prepare", "partition", other, "--parts", 2, "--write-rows", expect=0)
        parted = ["--features", "partitioned"]
        self.assertEqual(self.logits(other, *parted, ranks=2), self.logits(other))
        (other / "features.npy").unlink()
        self.assertIn("only where features.npy is", self.infer(other, *parted, ranks=2, expect=66).stderr)

    def test_a_server_answers_in_the_runs_classes_and_columns(self):
        for kinds, labels in (("bee cat dog", "words"), ("bee cat", None)):
            self.store("straight", kinds=kinds, labels=labels or "words")
            store = (self.reordered(None, tuple(reversed(COLUMNS)), []) if labels else
                     self.store("bare", kinds=kinds, labels=None))
            fur = [0.0] * len(COLUMNS)
            fur[COLUMNS.index("fur")] = 3.0  # in the run's order
            with serving.Server(PROGRAMS.folder, self.trained, "--dataset", store) as server:
                for body, expected in (({"nodes": [0, 1]}, ["bee", "cat"]),
                                       ({"new_nodes": [{"features": fur, "neighbors": []}]}, ["cat"])):
                    self.assertEqual([each["name"] for each in server.predict(body)], expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
