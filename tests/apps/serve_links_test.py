#!/usr/bin/env python3
"""salient-serve with runs that predict links: the scores and the likeliest links of salient-infer, and refusals.

    serve_links_test.py BIN_DIRECTORY SERVING.md       CPU; some seconds
"""
import csv
import json
import math
import pathlib
import random
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
import serving

PROGRAMS, QUIET, DOCUMENT = programs.Programs(sys.argv[1]), programs.QUIET, pathlib.Path(sys.argv[2])
NODES, FEATURES = 200, 8


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


class ServeLinks(programs.ProgramTest):
    @classmethod
    def run_here(cls, program, *words, expect=0):
        return PROGRAMS.run(program, *words, expect=expect, cwd=cls.work)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(3)
        edges = {(v, (v + draw.randrange(1, 6)) % NODES) for v in range(NODES) for _ in range(4)}
        # Own ids that are no rows: 1000 and more.
        (cls.work / "edges.csv").write_text("".join(f"{1000 + 2 * a},{1000 + 2 * b}\n" for a, b in sorted(edges)))
        (cls.work / "nodes.csv").write_text("id," + ",".join(f"f{k}" for k in range(FEATURES)) + "\n" + "".join(
            f"{1000 + 2 * v}," + ",".join(f"{f((k + 1) * 2 * math.pi * v / NODES):.4f}" for k in range(FEATURES // 2)
                                          for f in (math.sin, math.cos)) + "\n" for v in range(NODES)))
        cls.run_here("salient-prepare", "edges", "--edges", "edges.csv", "--features", "nodes.csv", "--edge-split",
                     "0.8,0.1,0.1", "--out", "plain")
        cls.run_here("salient-train", "--dataset", "./plain", "--task", "link", "--model", "sage", "--decoder", "mlp",
                     *QUIET, "--hidden", "8", "--fanout", "4,3", "--eval-fanout", "5,5", "--epochs", "2",
                     "--out", "run")
        triples = [f"n{v}\tplus {by}\tn{(v + by) % 30}\n" for by in (1, 2, 3, 7) for v in range(30)]
        draw.shuffle(triples)
        for name, part in (("train", triples[:96]), ("valid", triples[96:108]), ("test", triples[108:])):
            (cls.work / f"{name}.txt").write_text("".join(part))
        cls.run_here("salient-prepare", "triples", "--train", "train.txt", "--valid", "valid.txt", "--test", "test.txt",
                     "--out", "kg")
        cls.run_here("salient-train", "--dataset", "./kg", "--task", "link", "--model", "none", "--decoder", "complex",
                     "--hidden", "16", "--epochs", "5", "--threads", "1", "--progress", "none", "--out", "embedded")

    def server(self, run):
        server = serving.Server(PROGRAMS.folder, self.work / run)
        self.addCleanup(server.__exit__)
        return server

    def ask(self, server, path, body, expect=200):
        status, _, text = server.ask("POST", path, json.dumps(body))
        self.assertEqual(status, expect, text)
        return json.loads(text)

    def refused(self, server, path, body, *has):
        error = self.ask(server, path, body, expect=400)["error"]
        for word in has:
            self.assertIn(word, error)

    def test_a_plain_graph(self):
        pairs = [(1000 + 2 * a, 1000 + 2 * b) for a, b in ((0, 1), (5, 100), (199, 3), (7, 7))]
        (self.work / "pairs.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))
        self.run_here("salient-infer", "--run", "run", "--links", "pairs.txt", "--out", "scored", *QUIET)
        server = self.server("run")
        scores = self.ask(server, "/score", {"links": pairs})["scores"]
        self.assertEqual([(s["source_id"], s["destination_id"]) for s in scores], [(str(a), str(b)) for a, b in pairs])
        self.assertEqual([s["source"] for s in scores], [0, 5, 199, 7])
        for answer, row in zip(scores, rows_of(self.work / "scored/scores.csv")):
            self.assertAlmostEqual(answer["score"], float(row["score"]), delta=1e-5)
        for side in ("tail", "head"):
            self.run_here("salient-infer", "--run", "run", "--nodes", "1010,1396", "--top-k", "6", "--side", side,
                          "--out", f"best-{side}", *QUIET)
            rows = rows_of(self.work / f"best-{side}/best.csv")
            found = self.ask(server, "/recommend", {"nodes": [1010, "1396"], "k": 6, "side": side})
            best = [b for r in found["recommendations"] for b in r["best"]]
            self.assertEqual([r["id"] for r in found["recommendations"]], ["1010", "1396"])
            self.assertEqual(len(best), 12)
            for answer, row in zip(best, rows):
                self.assertAlmostEqual(answer["score"], float(row["score"]), delta=1e-5)
                self.assertEqual(answer["id"], row["destination" if side == "tail" else "source"])
                self.assertEqual(answer["rank"], int(row["rank"]))
        ends = npy.rows(npy.read(self.work / "plain/links-train.npy"))
        known = {frozenset(pair) for pair in ends}
        everything = self.ask(server, "/recommend", {"nodes": [5], "nodes_by": "row", "k": 1000})["recommendations"][0]
        self.assertFalse(any(frozenset((5, b["node"])) in known or b["node"] == 5 for b in everything["best"]))
        model = json.loads(server.ask("GET", "/v1/model")[2])
        self.assertEqual((model["task"], model["model"], model["decoder"]), ("link", "sage", "mlp"))
        self.refused(server, "/score", {"links": [[1000, 5]]}, "links[0]", "node 5")
        self.refused(server, "/score", {"links": [[1000, 1002, 1004]]}, "a link is [source, destination]")
        self.refused(server, "/score", {"links": []}, "at least one")
        self.refused(server, "/score", {"links": [[1000, 1002]], "k": 3}, "unknown field")
        self.refused(server, "/recommend", {"nodes": [1000], "k": 1001}, "1 to 1000")
        self.refused(server, "/recommend", {"nodes": [1000], "k": 0}, "1 to 1000")
        self.refused(server, "/recommend", {"nodes": [1000], "relation": "likes"}, "have none")
        self.refused(server, "/recommend", {"nodes": [1000], "side": "left"}, "tail")
        self.assertEqual(server.ask("POST", "/predict", "{}")[0], 404)
        self.assertEqual(server.ask("GET", "/score")[0], 405)
        self.assertEqual(server.ask("GET", "/healthz")[2], "ok\n")
        self.assertIn("salient", server.ask("GET", "/metrics")[2])

    def test_a_knowledge_graph(self):
        triples = [("n3", "plus 1", "n4"), ("n9", "plus 7", "n2")]
        (self.work / "asked.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
        self.run_here("salient-infer", "--run", "embedded", "--links", "asked.txt", "--out", "kg-scored")
        server = self.server("embedded")
        scores = self.ask(server, "/score", {"links": triples})["scores"]
        self.assertEqual([(s["source_id"], s["relation"], s["destination_id"]) for s in scores], triples)
        self.assertEqual([s["score"] for s in scores],
                         [float(row["score"]) for row in rows_of(self.work / "kg-scored/scores.csv")])
        for side in ("tail", "head"):
            self.run_here("salient-infer", "--run", "embedded", "--nodes", "n3,n8", "--relation", "plus 2", "--top-k",
                          "5", "--side", side, "--out", f"kg-{side}")
            found = self.ask(server, "/recommend", {"nodes": ["n3", "n8"], "relation": "plus 2", "k": 5, "side": side})
            best = [b for r in found["recommendations"] for b in r["best"]]
            rows = rows_of(self.work / f"kg-{side}/best.csv")
            end = "destination" if side == "tail" else "source"
            self.assertEqual([(b["id"], b["score"], b["rank"]) for b in best],
                             [(row[end], float(row["score"]), int(row["rank"])) for row in rows])
        model = json.loads(server.ask("GET", "/v1/model")[2])
        self.assertEqual(sorted(model["relations"]), ["plus 1", "plus 2", "plus 3", "plus 7"])
        self.refused(server, "/score", {"links": [["n3", "minus 1", "n4"]]}, "no such relation")
        self.refused(server, "/score", {"links": [["n3", "rev_plus 1", "n4"]]}, "no such relation")
        self.refused(server, "/recommend", {"nodes": ["n3"]}, '"relation" is needed')

    def test_the_page_s_requests_have_the_form(self):
        bodies = re.findall(r"curl -d '([^']+)' http://127.0.0.1:8080/(score|recommend)", DOCUMENT.read_text())
        self.assertEqual(len(bodies), 3)
        for body, path in bodies:
            self.assertTrue({"links", "nodes"} & set(json.loads(body)), path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
