#!/usr/bin/env python3
"""Nodes that a typed graph lacks: from tables, and over HTTP. A node equal to a known one has its prediction.

    typed_new_nodes_test.py BIN_DIRECTORY [MPIRUN FLAGS...]
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

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[2:])
del sys.argv[1:]
run = PROGRAMS.run
NUM_PAPERS, NUM_AUTHORS, CLASSES = 90, 30, 3
TYPED = ("rgcn", "rsage", "rgat", "hgt")
ALL = ["--fanout", "-1,-1"]
CHOSEN = [17, 0, 88]  # papers that get a twin


def make_graph():
    """Papers with words and numbers, authors with numbers, subjects without features; ids are text."""
    draw = random.Random(7)
    papers = [{"id": f"p{p}", "kind": "abc"[p % CLASSES] if draw.random() < 0.7 else "", "pages": draw.randrange(300),
               "label": p % CLASSES} for p in range(NUM_PAPERS)]
    authors = [{"id": f"a{a}", "age": round(draw.gauss(0, 1), 3), "h": round(draw.gauss(0, 1), 3)}
               for a in range(NUM_AUTHORS)]
    edges = {"paper:written_by:author": {(f"p{p}", f"a{draw.randrange(NUM_AUTHORS)}")
                                         for p in range(NUM_PAPERS) for _ in range(3)},
             "paper:about:subject": {(f"p{p}", f"s{draw.randrange(6)}") for p in range(NUM_PAPERS)},
             "paper:cites:paper": {(f"p{draw.randrange(NUM_PAPERS)}", f"p{p}") for p in range(NUM_PAPERS)}}
    return papers, authors, {name: sorted(pairs) for name, pairs in edges.items()}


def write_rows(path, rows):
    with open(path, "w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_edges(path, pairs):
    path.write_text("source,target\n" + "".join(f"{source},{target}\n" for source, target in pairs))


class NewNodes(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.papers, cls.authors, cls.edges = make_graph()
        write_rows(cls.work / "papers.csv", cls.papers)
        write_rows(cls.work / "authors.csv", cls.authors)
        (cls.work / "subjects.csv").write_text("id\n" + "".join(f"s{s}\n" for s in range(6)))
        said = []
        for name, pairs in cls.edges.items():
            write_edges(cls.work / f"{name.split(':')[1]}.csv", pairs)
            said += ["--edges", f"{name}={cls.work}/{name.split(':')[1]}.csv"]
        run("salient-prepare", "typed", "--nodes", f"author={cls.work}/authors.csv", "--nodes",
            f"paper={cls.work}/papers.csv", "--nodes", f"subject={cls.work}/subjects.csv", *said, "--labels",
            f"paper={cls.work}/papers.csv", "--split", "0.5,0.25,0.25", "--feature-dtype", "f32", "--name", "papers",
            "--out", cls.work / "papers", "--progress", "none", expect=0)
        for model in TYPED:
            run("salient-train", "--dataset", cls.work / "papers", "--model", model, "--out", cls.work / model,
                *programs.SMALL, "--batch-size", 32, "--epochs", 3, "--workers", 1, "--threads", 1, expect=0)
        cls.write_twins()

    @classmethod
    def write_twins(cls):
        """Of each chosen paper a new one with its columns and edges, but that one of its authors is new, too: as the
        known one, with the same papers, of which the chosen one is replaced by its twin."""
        cls.new_papers = [{**{k: v for k, v in cls.papers[p].items() if k != "label"}, "id": f"new-p{p}"}
                          for p in CHOSEN]
        cls.new_authors, cls.new_edges = [], {name: [] for name in cls.edges}
        for p in CHOSEN:
            mine = [a for paper, a in cls.edges["paper:written_by:author"] if paper == f"p{p}"]
            replaced = mine[0]
            cls.new_authors.append({**next(a for a in cls.authors if a["id"] == replaced), "id": f"new-a{p}"})
            written = cls.new_edges["paper:written_by:author"]
            written += [(f"new-p{p}", f"new-a{p}")] + [(f"new-p{p}", a) for a in mine[1:]]
            written += [(paper, f"new-a{p}") for paper, a in cls.edges["paper:written_by:author"]
                        if a == replaced and paper != f"p{p}"]
            for name in ("paper:about:subject", "paper:cites:paper"):
                for pair in cls.edges[name]:
                    cls.new_edges[name] += [tuple(f"new-p{p}" if end == f"p{p}" else end for end in pair)
                                            ] if f"p{p}" in pair else []
        write_rows(cls.work / "new_papers.csv", cls.new_papers)
        write_rows(cls.work / "new_authors.csv", cls.new_authors)
        for name, pairs in cls.new_edges.items():
            write_edges(cls.work / f"new_{name.split(':')[1]}.csv", pairs)

    def files(self, nodes=("paper", "author"), edges=None):
        said = [word for type in nodes for word in ("--new-nodes", f"{type}={self.work}/new_{type}s.csv")]
        for name in self.edges if edges is None else edges:
            said += ["--new-edges", f"{name}={self.work}/new_{name.split(':')[1]}.csv"]
        return said

    def infer(self, model, *more, out="out", ranks=0):
        shutil.rmtree(self.work / out, ignore_errors=True)
        run("salient-infer", "--run", self.work / model, "--out", self.work / out, *programs.QUIET, "--device", "cpu",
            *more, ranks=ranks, expect=0)
        logits = npy.read(self.work / out / "logits.npy").values
        return [logits[i:i + CLASSES] for i in range(0, len(logits), CLASSES)]

    def assert_close(self, found, expected, within=1e-5):
        self.assertEqual(len(found), len(expected))
        for one, two in zip(found, expected):
            self.assertLess(max(abs(a - b) for a, b in zip(one, two, strict=True)), within)

    def test_a_node_equal_to_a_known_one_has_its_prediction(self):
        for model in TYPED:
            with self.subTest(model=model):
                known = self.infer(model, *ALL, "--nodes", ",".join(f"p{p}" for p in CHOSEN))
                found = self.infer(model, *ALL, *self.files())
                self.assert_close(found, known)
                without = self.infer(model, *ALL, *self.files(edges=["paper:about:subject"]))
                self.assertTrue(any(abs(a - b) > 1e-3 for one, two in zip(without, known) for a, b in zip(one, two)))
        report = json.loads((self.work / "out/inference.json").read_text())
        self.assertEqual(report["nodes"]["count"], len(CHOSEN))
        names = (self.work / "out/source_ids.csv").read_text().splitlines()[1:]
        self.assertEqual([name.strip('"') for name in names], [f"new-p{p}" for p in CHOSEN])
        if PROGRAMS.launch:
            self.assert_close(self.infer(TYPED[-1], *ALL, *self.files(), out="ranks", ranks=2), known)

    def test_new_nodes_of_a_type_without_features(self):
        (self.work / "new_subjects.csv").write_text("id\ns-new\n")
        write_edges(self.work / "new_about.csv", [("new-p17", "s-new")])
        try:
            found = self.infer("rgcn", *ALL, *self.files(nodes=("paper", "author", "subject")))
            other = self.infer("rgcn", *ALL, *self.files(edges=["paper:written_by:author", "paper:cites:paper"]))
        finally:
            write_edges(self.work / "new_about.csv", self.new_edges["paper:about:subject"])
        self.assert_close(found[1:], other[1:])
        self.assertTrue(any(abs(a - b) > 1e-4 for a, b in zip(found[0], other[0])))

    def test_what_is_wrong_is_one_line(self):
        def refused(code, *words, nodes=f"paper={self.work}/new_papers.csv", edges=(), more=()):
            said = ["--new-nodes", nodes, *(word for edge in edges for word in ("--new-edges", edge)), *more]
            done = run("salient-infer", "--run", self.work / "rgcn", *programs.QUIET, "--out", self.work / "no", *said)
            self.assert_one_error(done, code, *words)

        bad = self.work / "bad.csv"
        author = ["--new-nodes", f"author={bad}"]
        refused(2, "author, paper, subject", nodes=f"venue={self.work}/new_papers.csv")
        refused(2, "TYPE=FILE", nodes=str(self.work / "new_papers.csv"))
        refused(2, "none is of type 'paper'", nodes=f"author={self.work}/new_authors.csv")
        refused(2, "paper:by:author", "SRC:NAME:DST=FILE", "paper:about:subject", edges=[f"paper:by:author={bad}"])
        refused(2, "author:written_by:paper", "author:rev_written_by:paper", edges=[f"author:written_by:paper={bad}"])
        refused(2, "--exact", "not with --new-nodes", more=["--exact"])
        bad.write_text("source,target\nnew-p17,a0\nnew-p17,a30\n")
        refused(65, "bad.csv: line 3", "a30", edges=[f"paper:written_by:author={bad}"])
        bad.write_text("id,kind\nx,a\n")
        refused(65, "no column 'pages'", nodes=f"paper={bad}")
        bad.write_text("id,kind,pages\np3,a,1\n")
        refused(65, "line 2: the data set has this node", nodes=f"paper={bad}")
        bad.write_text("id,age\nx,0.5\n")
        refused(65, "1 columns", "'author' has 2 features", more=author)
        bad.write_text("id,age,h\nx,old,1\ny,new,2\n")
        refused(65, "column 'age'", "are numbers", more=author)
        bad.write_text("id,age,h\na1,1,1\n")
        refused(65, "line 2: the data set has this node", more=author)

    def body(self):
        """The twins of the files, as a request: papers first, then their authors."""
        count = len(CHOSEN)
        nodes = [{"features": {"kind": row["kind"] or None, "pages": row["pages"]}, "neighbors": {},
                  "new_neighbors": {}} for row in self.new_papers]
        nodes += [{"type": "author", "features": [row["age"], row["h"]], "neighbors": {}, "new_neighbors": {}}
                  for row in self.new_authors]
        place = {row["id"]: i for i, row in enumerate([*self.new_papers, *self.new_authors])}

        def see(seer, relation, seen):
            if seer in place:
                field, value = ("new_neighbors", place[seen]) if seen in place else ("neighbors", seen)
                nodes[place[seer]][field].setdefault(relation, []).append(value)

        for name, pairs in self.new_edges.items():
            source, relation, target = name.split(":")
            for one, two in pairs:
                see(two, name, one)
                see(one, f"{target}:rev_{relation}:{source}", two)
        self.assertEqual(len(nodes), 2 * count)
        return {"new_nodes": nodes}

    def test_a_server_takes_them_too(self):
        probabilities = {}
        for model in ("rgcn", "hgt"):
            self.infer(model, *ALL, "--nodes", ",".join(f"p{p}" for p in CHOSEN), "--probabilities")
            values = npy.read(self.work / "out/probabilities.npy").values
            probabilities[model] = [values[i:i + CLASSES] for i in range(0, len(values), CLASSES)]
            with serving.Server(PROGRAMS.folder, self.work / model, *ALL) as server:
                found = server.predict({**self.body(), "probabilities": True})
                self.assertEqual([answer["new_node"] for answer in found], list(range(len(CHOSEN))))
                self.assert_close([answer["probabilities"] for answer in found], probabilities[model])
                turned = self.body()["new_nodes"]
                for node in turned:  # papers behind authors
                    for seen in node["new_neighbors"].values():
                        seen[:] = [(i + len(CHOSEN)) % len(turned) for i in seen]
                turned = turned[len(CHOSEN):] + turned[:len(CHOSEN)]
                again = server.predict({"new_nodes": turned, "probabilities": True})
                self.assertEqual([answer["new_node"] for answer in again], [3, 4, 5])
                self.assert_close([answer["probabilities"] for answer in again], probabilities[model])

    def test_a_server_says_what_is_wrong(self):
        paper = {"features": {"kind": "a", "pages": 3}}
        with serving.Server(PROGRAMS.folder, self.work / "rgcn", *ALL) as server:
            for nodes, rule in (
                    ([{**paper, "type": "venue"}], 'no node type "venue"; there are author, paper, subject'),
                    ([{"type": "author", "features": [1, 2]}], "none is of type 'paper'"),
                    ([{"features": [1]}], "1 features; type 'paper' has 5"),
                    ([paper, {"type": "author"}], "0 features; type 'author' has 2"),
                    ([paper, {"type": "author", "features": {"age": 1, "h": 2}}], "features are numbers here"),
                    ([paper, {"type": "subject", "features": [1]}], "1 features; type 'subject' has 0"),
                    ([{**paper, "neighbors": ["a1"]}], "must be an object with a list for each relation"),
                    ([{**paper, "neighbors": {"author:by:paper": ["a1"]}}], 'no relation "author:by:paper"'),
                    ([{**paper, "neighbors": {"paper:written_by:author": ["a1"]}}],
                     "leads to type 'author', and the node is of type 'paper'; its reverse is author:rev_written_by"),
                    ([{**paper, "neighbors": {"author:rev_written_by:paper": ["p1"]}}], "no node has this id"),
                    ([{**paper, "neighbors": {"author:rev_written_by:paper": ["a1", "a1"]}}], "is there twice"),
                    ([{**paper, "new_neighbors": {"author:rev_written_by:paper": [0]}}],
                     "new node 0 is of type 'paper'"),
                    ([{**paper, "new_neighbors": {"author:rev_written_by:paper": [1]}}], "0 to 0")):
                status, _, text = server.ask("POST", "/predict", json.dumps({"new_nodes": nodes}))
                self.assertEqual(status, 400, text)
                self.assertIn(rule, json.loads(text)["error"])
            about = json.loads(server.ask("GET", "/v1/model")[2])["dataset"]
            self.assertIn({"name": "author", "nodes": NUM_AUTHORS, "features": 2}, about["node_types"])
            self.assertIn("author:rev_written_by:paper", about["relations"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
