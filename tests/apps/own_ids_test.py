#!/usr/bin/env python3
"""Nodes by the ids of their source: salient-infer and salient-serve mean the same nodes by the same words.

    own_ids_test.py BIN_DIRECTORY       on small graphs, CPU; half a minute
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

PROGRAMS, QUIET = programs.Programs(sys.argv[1]), programs.QUIET
NODES, CLASSES = 200, ("ash", "elm", "oak, red")
IDS = {"tens": [10 * (v + 1) for v in range(NODES)],
       "words": [f"person {v}" if v % 3 else f"Smith, {v}" for v in range(NODES)],
       "none": list(range(NODES))}


def quoted(word):
    return f'"{word}"' if isinstance(word, str) else str(word)


def rounded(rows):
    return [[round(p, 4) for p in row] for row in rows]


class OwnIds(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        for name, ids in IDS.items():
            folder = cls.work / name
            folder.mkdir()
            (folder / "edges.csv").write_text("source,target\n" + "".join(
                f"{quoted(ids[v])},{quoted(ids[(v + 3 * draw.randrange(1, 5)) % NODES])}\n"
                for v in range(NODES) for _ in range(3)))
            (folder / "nodes.csv").write_text("id,size,label\n" + "".join(
                f"{quoted(ids[v])},{v % 3 + draw.random():.3f},\"{CLASSES[v % 3]}\"\n" for v in range(NODES)))
            nodes, text = folder / "nodes.csv", ["--ids", "text"] if name == "words" else []
            PROGRAMS.run("salient-prepare", "edges", "--edges", folder / "edges.csv", "--features", nodes, "--labels",
                         nodes, *text, "--split", "0.6,0.2,0.2", "--out", folder / "store", expect=0)
            PROGRAMS.run("salient-train", "--dataset", folder / "store", "--out", folder / "run", *programs.SMALL,
                         "--eval-fanout", "5,5", "--batch-size", 40, "--epochs", 3, expect=0)

    def infer(self, name, *options, expect=0, env=None):
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        return PROGRAMS.run("salient-infer", "--run", self.work / name / "run", *QUIET, "--out", out, *options,
                            expect=expect, env=env)

    def table(self, name, *options):
        """Rows of predictions.csv."""
        self.infer(name, "--format", "csv", *options)
        with open(self.work / "out/predictions.csv", newline="") as file:
            return list(csv.DictReader(file))

    def write(self, name, text):
        (self.work / name).write_text(text)
        return self.work / name

    def test_the_same_words_are_the_same_nodes_everywhere(self):
        for name, wanted in (("tens", [50, 10, 2000]), ("words", ["person 4", "Smith, 0", "person 199"]),
                             ("none", [4, 0, 199])):
            ids = IDS[name]
            rows = [ids.index(word) for word in wanted]
            words = ",".join(f'"{word}"' if "," in str(word) else str(word) for word in wanted)
            lists = {"command line": words,
                     "text": self.write("list.txt", "".join(f'"{word}"\n' for word in wanted)),
                     "table": self.write("list.csv", "size,customer\n" + "".join(f'1,"{word}"\n' for word in wanted))}
            if name != "words":
                npy.write_ids(self.work / "list.npy", wanted)
                lists["array"] = self.work / "list.npy"
            found = {}
            for form, said in lists.items():
                options = ["--id-column", "customer"] if form == "table" else []
                table = self.table(name, "--nodes", said, *options, "--probabilities")
                self.assertEqual([int(row["node"]) for row in table], rows, (name, form))
                if name != "none":
                    self.assertEqual([row["id"] for row in table], [str(word) for word in wanted], (name, form))
                found[form] = [[float(row[f"prob_{c}"]) for c in CLASSES] for row in table]
            exact = self.table(name, "--nodes", words, "--exact")
            self.assertEqual([int(row["node"]) for row in exact], rows)
            by_row = self.table(name, "--nodes", ",".join(map(str, rows)), "--nodes-by", "row", "--probabilities")
            found["rows"] = [[float(row[f"prob_{c}"]) for c in CLASSES] for row in by_row]
            with serving.Server(PROGRAMS.folder, self.work / name / "run") as server:
                for form, body in (("numbers", {"nodes": wanted}), ("as text", {"nodes": [str(w) for w in wanted]}),
                                   ("by row", {"nodes": rows, "nodes_by": "row"}),
                                   ("rows as text", {"nodes": [str(r) for r in rows], "nodes_by": "row"})):
                    answers = server.predict({**body, "probabilities": "by_name"})
                    self.assertEqual([a["node"] for a in answers], rows, (name, form))
                    found[f"serve, {form}"] = [[a["probabilities"][c] for c in CLASSES] for a in answers]
            for form, values in found.items():
                self.assertEqual(rounded(values), rounded(found["command line"]), (name, form))

    def test_arrays_have_the_ids_beside_them(self):
        self.infer("tens", "--nodes", "50,10,2000", "--embeddings", 1, "--probabilities")
        arrays = {p.stem: npy.read(p) for p in (self.work / "out").glob("*.npy") if p.stem != "source_ids"}
        self.assertEqual(list(arrays["ids"].values), [4, 0, 199])
        raw = (self.work / "out/source_ids.npy").read_bytes()
        self.assertIn(b"'<u8'", raw[:200])
        self.assertEqual([int.from_bytes(raw[at:at + 8], "little") for at in range(len(raw) - 24, len(raw), 8)],
                         [50, 10, 2000])
        self.assertEqual(arrays["probabilities"].shape, (3, 3))
        self.assertTrue(all(abs(sum(row) - 1) < 1e-5 for row in npy.rows(arrays["probabilities"])))
        self.infer("words", "--nodes", "test", "--embeddings", 1, "--format", "csv")
        with open(self.work / "out/source_ids.csv", newline="") as file:
            names = [row["id"] for row in csv.DictReader(file)]
        rows = list(npy.read(self.work / "out/ids.npy").values)
        self.assertEqual(names, [IDS["words"][row] for row in rows])
        with open(self.work / "out/predictions.csv", newline="") as file:
            self.assertEqual([row["id"] for row in csv.DictReader(file)], names)
        shutil.copy(self.work / "out/source_ids.csv", self.work / "again.csv")
        self.infer("words", "--nodes", self.work / "again.csv")
        self.assertEqual(list(npy.read(self.work / "out/ids.npy").values), rows)
        self.infer("none")
        self.assertFalse(list((self.work / "out").glob("source_ids*")))

    def test_what_is_no_id_is_refused_in_one_line(self):
        npy.write_ids(self.work / "rows.npy", [0, 1, 4])
        for name, said, code, words in (
                ("tens", "10,15", 65, ["'15': no node has this id; the first is '10'", "--nodes-by row takes"]),
                ("tens", "10,5", 65, ["'5'"]), ("tens", self.work / "rows.npy", 65, ["item 0 is 0", "--nodes-by row"]),
                ("tens", "tset", 65, ["'tset'"]), ("words", "7", 65, ["--nodes-by row"]),
                ("words", "person 4,person 4", 65, ["listed twice"]), ("words", "nobody", 65, ["'Smith, 0'"]),
                ("none", "tset", 2, ["train, valid, test, all"]), ("none", "200", 65, ["0 to 199"]),
                ("words", self.work / "absent.txt", 66, ["absent.txt"])):
            with self.subTest(name=name, said=said):
                self.assert_one_error(self.infer(name, "--nodes", said, expect=None), code, *words)
                self.assertFalse((self.work / "out").exists())
        with serving.Server(PROGRAMS.folder, self.work / "tens/run") as server:
            for body, words in (('{"nodes": [5]}', "no node has this id"), ('{"nodes": ["5"]}', "takes row numbers"),
                                ('{"nodes": [10], "nodes_by": "index"}', "must be")):
                status, _, text = server.ask("POST", "/predict", body)
                self.assertEqual(status, 400)
                self.assertIn(words, json.loads(text)["error"])

    def test_a_line_for_each_part_of_the_split(self):
        done = self.infer("words", "--nodes", "all")
        lines = done.stdout.splitlines()
        self.assertEqual([line.split(" ")[0] for line in lines], ["test", "valid", "train", "accuracy", "inference",
                                                                  "output"])
        report = json.loads((self.work / "out/inference.json").read_text())
        self.assertEqual(list(report["splits"]), ["test", "valid", "train"])
        self.assertEqual(sum(part["nodes"] for part in report["splits"].values()), NODES)
        self.assertAlmostEqual(sum(part["accuracy"] * part["labelled"] for part in report["splits"].values()),
                               report["accuracy"] * report["labelled"])
        for part, scores in report["splits"].items():
            self.infer("words", "--nodes", part)
            alone = json.loads((self.work / "out/inference.json").read_text())
            self.assertEqual((alone["accuracy"], alone["labelled"]), (scores["accuracy"], scores["labelled"]))

    def test_options_come_from_a_file_and_from_variables(self):
        config = self.write("infer.toml", 'nodes = "50,10"\nformat = "csv"\ntop-k = 2\n')
        self.infer("tens", "--config", config)
        text = (self.work / "out/predictions.csv").read_text()
        self.assertIn("class_2", text)
        self.assertEqual(text.count("\n"), 3)
        done = self.infer("tens", "--config", config, env={"SALIENT_NODES": "50", "SALIENT_FANOUT": "1,1"})
        self.assertEqual((self.work / "out/predictions.csv").read_text().count("\n"), 2)
        self.assertIn("SALIENT_FANOUT is of trainings and not read here", done.stderr)
        shown = self.infer("tens", "--config", config, "--print-config").stdout
        self.assertRegex(shown, r'(?m)^nodes = "50,10"')

    def test_the_server_says_what_it_is_and_what_it_does(self):
        config = self.write("serve.toml", f'run = "{self.work / "words/run"}"\naccess-log = true\nmax-nodes = 7\n')
        run, options = self.work / "words/run", ["--config", config, "--log-format", "json"]
        with serving.Server(PROGRAMS.folder, run, *options) as server:
            status, headers, text = server.ask("GET", "/v1/model")
            self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
            model = json.loads(text)
            self.assertEqual(model["classes"], {"count": 3, "names": list(CLASSES)})
            self.assertEqual(model["features"], {"count": 1, "names": ["size"]})
            self.assertEqual((model["dataset"]["ids"], model["dataset"]["nodes"]), ("text", NODES))
            self.assertEqual((model["model"], model["fanouts"], model["max_nodes"]), ("sage", [5, 5], 7))
            self.assertIn("checkpoint", model)
            self.assertEqual(server.ask("POST", "/v1/model", "{}")[0], 405)
            [answer] = server.predict({"nodes": ["person 1"], "top_k": 2, "probabilities": True})
            self.assertEqual([t["class"] for t in answer["top"]][0], answer["class"])
            self.assertEqual([t["probability"] for t in answer["top"]], sorted(answer["probabilities"])[:0:-1])
            self.assertEqual(server.ask("POST", "/predict", '{"nodes": [1.5]}')[0], 400)
            server.answers(b"NONSENSE\r\n\r\n")
            server.stop()
            lines = [json.loads(line) for line in server.process.stderr.read().splitlines()]
        answers = [line for line in lines if "status" in line]
        self.assertEqual([(a["method"], a["path"], a["status"]) for a in answers[:4]],
                         [("GET", "/v1/model", 200), ("POST", "/v1/model", 405), ("POST", "/predict", 200),
                          ("POST", "/predict", 400)])
        self.assertEqual((answers[4]["method"], answers[4]["status"]), ("", 400))
        for line in lines:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertTrue(all(a["client"] == "127.0.0.1" and a["seconds"] >= 0 and a["bytes"] > 0 for a in answers))
        self.assertEqual(lines[-1]["message"], "stopping")
        with serving.Server(PROGRAMS.folder, self.work / "words/run", "--access-log") as server:
            server.ask("GET", "/healthz?x=1")
            server.stop()
            self.assertRegex(server.process.stderr.read(), r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "
                             r"127\.0\.0\.1 GET /healthz 200 3 bytes \d+\.\d\d ms$")

    def test_a_variable_says_the_port_of_a_server(self):
        done = PROGRAMS.run("salient-serve", "--print-config", expect=0,
                            env={"SALIENT_PORT": "8098", "SALIENT_RUN": str(self.work / "tens/run")})
        self.assertRegex(done.stdout, r"(?m)^port = 8098 ")
        done = PROGRAMS.run("salient-serve", env={"SALIENT_PORT": "70000", "SALIENT_RUN": "r"}, expect=2)
        self.assertIn("--port: 0 to 65535", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
