#!/usr/bin/env python3
"""salient-serve as its users and its enemies meet it: answers, refusals, slow and broken clients, its end.

    salient_serve_test.py BIN_DIRECTORY SERVING.md       on small graphs, CPU; a minute
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
import serving
from job import wait_until

PROGRAMS, DOCUMENT = programs.Programs(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
QUIET = programs.QUIET
NODES, FEATURES, CLASSES = 4000, 4, 5


def start(program, *args, expect=0):
    return PROGRAMS.run(program, *args, expect=expect)


def Server(run, *options):
    return serving.Server(PROGRAMS.folder, run, *options)


def probabilities(predictions):
    return [p["probabilities"] for p in predictions]


def close_to(one, other, bound=2e-5):
    return len(one) == len(other) and all(abs(a - b) <= bound for x, y in zip(one, other) for a, b in zip(x, y))


class SalientServe(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = PROGRAMS.generate(cls.work / "graph", nodes=NODES, features=FEATURES, classes=CLASSES)
        cls.run_dir = cls.work / "run"
        start("salient-train", "--dataset", cls.store, "--out", cls.run_dir, *programs.SMALL, "--batch-size", 200,
              "--eval-batch-size", 300, "--workers", 2, "--epochs", 1)
        cls.server = Server(cls.run_dir)
        cls.addClassCleanup(cls.server.__exit__)

    def inferred(self, nodes, name):
        """Of salient-infer: the probabilities of each node's classes."""
        npy.write_ids(self.work / f"{name}.npy", nodes)
        out = self.work / f"{name}-out"
        start("salient-infer", "--run", self.run_dir, *QUIET, "--nodes", self.work / f"{name}.npy", "--out", out,
              "--format", "csv", "--top-k", CLASSES)
        with (out / "predictions.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [int(row["node"]) for row in rows] == nodes
        return [[float(p) for _, p in sorted((int(row[f"class_{k}"]), row[f"probability_{k}"])
                                             for k in range(1, CLASSES + 1))] for row in rows]

    def test_answers_are_those_of_salient_infer_however_they_are_batched(self):
        nodes = random.Random(1).sample(range(NODES), 200)
        expected = self.inferred(nodes, "list")
        body = {"nodes": nodes, "probabilities": True}
        together = self.server.predict(body)
        self.assertEqual([p["node"] for p in together], nodes)
        self.assertTrue(close_to(probabilities(together), expected, 1e-4))
        connection = self.server.connection()
        alone = [self.server.predict({**body, "nodes": [node]}, connection)[0] for node in nodes]
        connection.close()
        self.assertTrue(close_to(probabilities(alone), probabilities(together)))
        for one, row in zip(alone, probabilities(together)):
            best = sorted(row)[-2:]
            self.assertTrue(best[1] - best[0] < 1e-4 or one["class"] == row.index(best[1]))
        with Server(self.run_dir, "--window-us", 300000) as server:
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                batched = list(pool.map(lambda node: server.predict({**body, "nodes": [node, node, nodes[0]]}), nodes))
            self.assertTrue(close_to([p[1]["probabilities"] for p in batched], probabilities(together)))
            self.assertTrue(close_to([p[2]["probabilities"] for p in batched], [probabilities(together)[0]] * 200))
            metrics = server.metrics()
            self.assertEqual(metrics['salient_requests_total{code="200"}'], "200")
            self.assertLess(int(metrics["salient_batch_requests_count"]), 100)
            self.assertEqual(metrics["salient_batch_requests_sum"], "200")
            self.assertEqual(metrics["salient_queued_requests"], "0")

    def test_embeddings_are_those_of_salient_infer_and_of_new_nodes_too(self):
        nodes, model = [7, 3999, 0, 7], json.loads(self.server.ask("GET", "/v1/model")[2])
        self.assertEqual(model["embeddings"], {"widths": [16, CLASSES], "last_hidden": 1})
        npy.write_ids(self.work / "some.npy", nodes[:3])
        for layer in (1, 2):
            out = self.work / f"layer-{layer}"
            start("salient-infer", "--run", self.run_dir, *QUIET, "--nodes", self.work / "some.npy", "--out", out,
                  "--embeddings", layer)
            expected = npy.rows(npy.read(out / "embeddings.npy"))
            found = self.server.predict({"nodes": nodes, "embeddings": layer})
            self.assertTrue(close_to([p["embedding"] for p in found], [*expected, expected[0]]))
            if layer == 1:
                self.assertEqual(self.server.predict({"nodes": nodes, "embeddings": True}), found)
        plain = self.server.predict({"nodes": nodes})
        self.assertEqual([{**p, "embedding": 0} for p in plain], [{**p, "embedding": 0} for p in found])
        [new] = self.server.predict({"new_nodes": [{"features": [0.5, 1, 0, -2], "neighbors": [3, 5]}],
                                     "embeddings": True, "probabilities": True})
        self.assertEqual((len(new["embedding"]), len(new["probabilities"])), (16, CLASSES))

    def test_every_layer_of_every_model_has_the_width_that_is_said(self):
        new = {"features": [0.5, 1, 0, -2], "neighbors": [3, 5]}
        for at, words in enumerate(("sage --jk cat", "gcn", "gin", "gat --heads 2", "gatv2 --heads 2", "sage-ri",
                                    "transformer --heads 2")):
            run = self.work / f"model-{at}"
            start("salient-train", "--dataset", self.store, "--out", run, *programs.SMALL, "--epochs", 1, "--model",
                  *words.split())
            with self.subTest(model=words), Server(run) as server:
                said = json.loads(server.ask("GET", "/v1/model")[2])["embeddings"]
                for layer, width in enumerate(said["widths"], 1):
                    for nodes in ({"nodes": [7]}, {"new_nodes": [new]}):
                        [found] = server.predict({**nodes, "embeddings": layer})
                        self.assertEqual(len(found["embedding"]), width)
                        if layer == said["last_hidden"]:
                            self.assertEqual(server.predict({**nodes, "embeddings": True}), [found])

    def test_a_request_larger_than_a_batch_is_cut_as_salient_infer_does(self):
        nodes = random.Random(2).sample(range(NODES), 700)  # --eval-batch-size 300
        found = self.server.predict({"nodes": nodes, "probabilities": True})
        self.assertTrue(close_to(probabilities(found), self.inferred(nodes, "long"), 1e-4))

    def test_a_new_node_with_a_known_nodes_features_and_neighbours_is_predicted_like_it(self):
        indptr, indices = npy.read(self.store / "indptr.npy").values, npy.read(self.store / "indices.npy").values
        halves = (self.store / "features.npy").read_bytes()[-2 * NODES * FEATURES:]
        features = struct.unpack(f"<{NODES * FEATURES}e", halves)
        nodes = random.Random(3).sample(range(NODES), 20)
        copies = [{"features": features[v * FEATURES:(v + 1) * FEATURES],
                   "neighbors": list(indices[indptr[v]:indptr[v + 1]])} for v in nodes]
        with Server(self.run_dir, "--fanout", "-1,-1") as server:
            known = server.predict({"nodes": nodes, "probabilities": True})
            new = server.predict({"new_nodes": copies, "probabilities": True})
            self.assertEqual([p["new_node"] for p in new], list(range(20)))
            self.assertTrue(close_to(probabilities(new), probabilities(known)))
            copies[0]["neighbors"], copies[0]["new_neighbors"] = [], [1]
            other = server.predict({"new_nodes": copies, "probabilities": True})
            self.assertFalse(close_to(probabilities(other)[:1], probabilities(known)[:1]))
            self.assertTrue(close_to(probabilities(other)[1:], probabilities(known)[1:]))
            alone = server.predict({"new_nodes": copies[5:6], "probabilities": True})
            self.assertTrue(close_to(probabilities(alone), probabilities(known)[5:6]))

    def test_new_nodes_are_batched_and_bounded(self):
        draw = random.Random(5)
        lists = [[{"features": [draw.random() for _ in range(FEATURES)], "neighbors": draw.sample(range(NODES), 30)}
                  for _ in range(1 + i % 3)] for i in range(60)]  # 30 neighbours, of which 8 are drawn
        for i, nodes in enumerate(lists):
            nodes[0]["new_neighbors"] = [len(nodes) - 1] if i % 2 else []
        bodies = [{"new_nodes": nodes, "probabilities": True} for nodes in lists]
        alone = [probabilities(self.server.predict(body)) for body in bodies]
        with Server(self.run_dir, "--window-us", 20000, "--max-edges", 6000) as server:
            huge = {"new_nodes": [{"features": [0] * FEATURES, "neighbors": draw.sample(range(NODES), 100)}
                                  for _ in range(200)]}
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                refused = pool.submit(server.ask, "POST", "/predict", json.dumps(huge))
                together = list(pool.map(lambda body: probabilities(server.predict(body)), bodies))
            for one, other in zip(together, alone):
                self.assertTrue(close_to(one, other))
            status, _, text = refused.result()
            self.assertEqual(status, 413)
            self.assertIn("more than 6000 edges", text)
            self.assertLess(int(server.metrics()["salient_batch_requests_count"]), 61)

    def test_edges_are_counted_as_they_are_drawn(self):
        body = json.dumps({"new_nodes": [{"features": [0] * FEATURES, "new_neighbors": [1]},
                                         {"features": [0] * FEATURES, "new_neighbors": [0, 2, 3]},
                                         {"features": [0] * FEATURES}, {"features": [0] * FEATURES}]})
        for limit, status in ((6, 413), (7, 200)):  # the first hop has 1 + 3 edges, the second 1 + 2
            with Server(self.run_dir, "--fanout", "9,2", "--max-edges", limit) as server:
                self.assertEqual(server.ask("POST", "/predict", body)[0], status)

    def test_what_is_wrong_is_refused_in_one_line(self):
        features = [0] * FEATURES
        for body, words in (
                ("", "no JSON"), ("{", "no JSON"), ("[1]", "an object"), ("{}", "must have nodes"),
                ('{"nodes": []}', "must have nodes"), ('{"nodes": 3}', "a list"), ('{"nodes": [-1]}', "without sign"),
                (f'{{"nodes": [{NODES}]}}', "nodes[0]: node 4000: the graph has nodes 0 to 3999"),
                ('{"nodes": [1.5]}', "without sign and fraction"),
                ('{"nodes": [1, "x"]}', "no ids of its own"), ('{"node": [1]}', 'unknown field \\"node\\"'),
                ('{"nodes": [1], "probabilities": 1}', "true, false or"), ('{"nodes": [1e400]}', "no JSON"),
                (json.dumps({"nodes": [0] * 1025}), "at most 1024"), ("[" * 100000, "levels"),
                ('{"nodes": ["\xff"]}', "no JSON"), (json.dumps({"new_nodes": [1]}), "new_nodes[0]"),
                (json.dumps({"nodes": [1], "new_nodes": [{"features": features}]}), "either"),
                (json.dumps({"new_nodes": [{"features": [1]}]}), "1 features; the data set has 4"),
                (json.dumps({"new_nodes": [{"features": [0, 0, 0, "x"]}]}), "no finite number"),
                (json.dumps({"new_nodes": [{"features": [0, 0, 0, 1e39]}]}), "no finite number"),
                (json.dumps({"new_nodes": [{"features": features, "neighbors": [1, 1]}]}), "twice"),
                (json.dumps({"new_nodes": [{"features": features, "neighbors": [NODES]}]}), "0 to 3999"),
                (json.dumps({"new_nodes": [{"features": features, "new_neighbors": [1]}]}), "0 to 0")):
            status, headers, text = self.server.ask("POST", "/predict", body.encode("latin-1"))
            with self.subTest(body=body[:60]):
                self.assertEqual((status, headers["Content-Type"]), (400, "application/json"))
                self.assertIn(words, text)
                self.assertEqual(list(json.loads(text)), ["error"])
        for method, path, code in (("GET", "/predict", 405), ("POST", "/metrics", 405), ("GET", "/", 404),
                                   ("PUT", "/predict", 405), ("GET", "/../etc/passwd", 404), ("GET", "/healthz", 200),
                                   ("HEAD", "/healthz", 200)):
            self.assertEqual(self.server.ask(method, path)[0], code, (method, path))

    def test_what_is_too_large_is_refused_before_it_is_read(self):
        for head, code in ((b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
                           (b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
                           (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 60000 + b"\r\n\r\n", 431)):
            with self.server.socket() as raw:
                raw.sendall(head)
                self.assertIn(f" {code} ".encode(), raw.recv(100).split(b"\r\n")[0])
        self.assertEqual(self.server.ask("POST", "/predict", b" " * (1 << 20))[0], 400)
        self.assertEqual(self.server.ask("GET", "/healthz")[0], 200)

    def test_a_million_bytes_that_are_no_http_and_clients_that_leave(self):
        draw = random.Random(4)
        whole = b'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{"nodes": [1]}'
        for i in range(300):
            with self.server.socket() as raw:
                try:
                    if i % 3 == 0:
                        raw.sendall(draw.randbytes(10000))
                    elif i % 3 == 1:  # sound but for a few bytes
                        broken = bytearray(whole)
                        for _ in range(draw.randrange(1, 5)):
                            broken[draw.randrange(len(broken))] = draw.randrange(256)
                        raw.sendall(bytes(broken))
                    else:
                        raw.sendall(whole[:draw.randrange(len(whole) + 1)])
                except OSError:
                    pass  # the server closed first
        for _ in range(50):  # a whole request, and away
            with self.server.socket() as raw:
                raw.sendall(whole)
        self.assertEqual(len(self.server.predict({"nodes": [1]})), 1)
        self.assertIsNone(self.server.process.poll())

    def test_a_million_bytes_of_bodies_give_answers_or_refusals(self):
        draw, seeds, num_bytes, found = random.Random(6), [json.dumps(body).encode() for body in (
            {"nodes": [0, 3999, 17], "probabilities": True}, {"nodes": [5] * 40},
            {"new_nodes": [{"features": [0.5, -1e3, 2, 0], "neighbors": [7, 9], "new_neighbors": [1]},
                           {"features": [0, 1, 2, 3]}]})], 0, set()
        connection = self.server.connection()
        while num_bytes < 1_000_000:
            body = bytearray(draw.choice(seeds))
            for _ in range(draw.randrange(1, 4)):
                at, how = draw.randrange(len(body)), draw.randrange(4)
                if how == 0:
                    body[at] = draw.randrange(256)
                elif how == 1:
                    body[at:at] = draw.choice((b"9", b"-", b"[", b"]", b"{", b'"', b",", b"1e99", b"null", b"\\u00"))
                elif how == 2:
                    del body[at:at + draw.randrange(1, 9)]
                else:
                    body[at:at] = draw.randbytes(draw.randrange(1, 2000))
            num_bytes += len(body)
            found.add(self.server.ask("POST", "/predict", bytes(body), connection)[0])
        connection.close()
        self.assertEqual(found, {200, 400})
        self.assertIsNone(self.server.process.poll())

    def slow_clients(self, server, number=40):
        """Connections with the begin of a request: of its head, or of its body."""
        found = [server.socket() for _ in range(number)]
        for i, raw in enumerate(found):
            self.addCleanup(raw.close)
            raw.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\n" +
                        (b"Content-Length: 9999999\r\n\r\n" if i % 2 else b""))
        return found

    def test_slow_clients_keep_nobody_waiting(self):
        with Server(self.run_dir, "--timeout", 3600, "--max-connections", 64) as server:
            slow = self.slow_clients(server)
            for _ in range(5):
                server.predict({"nodes": [2]})
            self.assertGreater(int(server.metrics()["salient_connections"]), len(slow))  # they are still there

    def test_slow_clients_are_dropped_though_they_send_a_byte_now_and_then(self):
        def is_dropped(raw):
            try:
                raw.sendall(b"x")
                return raw.recv(1000, socket.MSG_DONTWAIT) == b""
            except BlockingIOError:
                return False
            except OSError:
                return True

        with Server(self.run_dir, "--timeout", 1, "--max-connections", 64) as server:
            slow = self.slow_clients(server)
            wait_until(lambda: all([is_dropped(raw) for raw in slow]), "all slow clients are dropped")

    def test_a_precision_that_the_device_lacks_is_fp32_and_is_said(self):
        run, asked = self.work / "was-tf32", {"nodes": list(range(40)), "probabilities": True}
        shutil.copytree(self.run_dir, run, symlinks=True)
        state = json.loads((run / "run.json").read_text())
        state["resolved"]["precision"] = "tf32"  # as of a GPU
        (run / "run.json").write_text(json.dumps(state))
        with Server(run) as server:
            self.assertEqual(server.predict(asked), self.server.predict(asked))
            server.stop()
            self.assertIn("the run is in tf32, which this device lacks: predictions in fp32",
                          server.process.stderr.read())

    def test_a_full_queue_refuses_at_once(self):
        with Server(self.run_dir, "--max-queued", 2, "--window-us", 1000000) as server:
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                codes = list(pool.map(lambda node: server.ask("POST", "/predict", json.dumps({"nodes": [node]})),
                                      range(32)))
            found = {code for code, _, _ in codes}
            self.assertEqual(found, {200, 503})
            self.assertTrue(all(headers["Retry-After"] for code, headers, _ in codes if code == 503))
            self.assertGreaterEqual(sum(code == 200 for code, _, _ in codes), 2)

    def test_it_ends_in_time_after_the_requests_that_wait(self):
        with Server(self.run_dir, "--window-us", 1000000, "--timeout", 3600) as server:
            idle, slow, answers = server.connection(), server.socket(), []
            server.ask("GET", "/healthz", connection=idle)
            slow.sendall(b"POST /predict HTTP/1.1\r\n")
            thread = threading.Thread(target=lambda: answers.append(server.predict({"nodes": [3]})))
            thread.start()
            wait_until(lambda: server.metrics()["salient_queued_requests"] == "1" or answers, "the request waits")
            self.assertGreaterEqual(int(server.metrics()["salient_connections"]), 3)  # idle, slow, and its own
            server.stop()  # though two clients could go on for an hour
            thread.join()
            self.assertEqual(answers[0][0]["node"], 3)
            self.assertIn("stopping", server.process.stderr.read())
            slow.close()
            idle.close()

    def test_a_kill_leaves_nothing_behind(self):
        def left():
            return sorted(os.listdir("/dev/shm")) + sorted(os.listdir(self.run_dir)) + sorted(os.listdir(scratch))
        scratch = self.work / "scratch"
        scratch.mkdir()
        before = left()
        with Server(self.run_dir) as server:
            server.predict({"nodes": [1]})
            self.assertFalse([name for name in left() if name not in before and "salient" in name])
            server.process.kill()
            server.process.wait()
            self.assertEqual([name for name in left() if name not in before and "salient" in name], [])
            again = Server(self.run_dir, "--port", server.port)  # the last --port counts
            again.__exit__()

    def test_what_it_cannot_start_with(self):
        def refused(code, words, *options):
            done = start("salient-serve", *options, expect=code)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        refused(74, "Address already in use", "--run", self.run_dir, "--port", self.server.port)
        refused(66, "nothing", "--run", self.work / "nothing", "--port", 0)
        refused(2, "--run", "--port", 0)
        refused(2, "--port", "--run", self.run_dir, "--port", 70000)
        refused(2, "--timeout", "--run", self.run_dir, "--timeout", 0)
        refused(2, "no address", "--run", self.run_dir, "--host", "no.such.host.invalid")
        refused(2, "fanouts", "--run", self.run_dir, "--port", 0, "--fanout", "3")
        refused(66, "no such checkpoint", "--run", self.run_dir, "--port", 0, "--checkpoint", "epoch-0099")
        refused(2, "best, latest or epoch-NNNN", "--run", self.run_dir, "--port", 0, "--checkpoint", self.run_dir)
        if not shutil.which("nvidia-smi"):
            refused(69, "there is no GPU", "--run", self.run_dir, "--port", 0, "--step", "resident")
        refused(2, "--max-bodykb", "--max-bodykb", 3)
        self.assertIn("--max-queued", start("salient-serve", "--help").stdout)
        self.assertIn("salient-serve 0", start("salient-serve", "--version").stdout)

    def test_ids_and_names_of_the_source(self):
        folder = self.work / "trees"
        folder.mkdir()
        trees = [f"tree-{i}" for i in range(30)]
        (folder / "edges.csv").write_text("from,to\n" + "".join(
            f"{a},{b}\n" for a, b in zip(trees, trees[1:] + trees[:1])))
        (folder / "kinds.csv").write_text("".join(
            f"{tree},{('ash', 'elm')[i % 2]}\n" for i, tree in enumerate(trees)))
        start("salient-prepare", "edges", "--edges", folder / "edges.csv", "--columns", "from,to", "--labels",
              folder / "kinds.csv", "--ids", "text", "--make-features", "degree", "--split", "0.6,0.2,0.2", "--out",
              folder / "store")
        start("salient-train", "--dataset", folder / "store", *QUIET, "--hidden", 8, "--layers", 2, "--fanout",
              "3,3", "--eval-fanout", "3,3", "--epochs", 1, "--out", folder / "run")
        with Server(folder / "run") as server:
            by_id = server.predict({"nodes": ["tree-7", "tree-29"]})
            self.assertEqual([p["id"] for p in by_id], ["tree-7", "tree-29"])
            self.assertTrue(all(p["name"] == ("ash", "elm")[p["class"]] for p in by_id))
            self.assertEqual(server.predict({"nodes": [p["node"] for p in by_id], "nodes_by": "row"}), by_id)
            text = server.ask("POST", "/predict", '{"new_nodes": [{"features": []}]}')[2]
            features = [1] * int(re.search(r"the data set has (\d+)", text)[1])
            new = server.predict({"new_nodes": [{"features": features, "neighbors": ["tree-7"]}]})
            self.assertEqual(len(new), 1)
            status, _, text = server.ask("POST", "/predict", '{"nodes": ["oak"]}')
            self.assertEqual(status, 400)
            self.assertIn("no node has this id", text)

    def test_every_command_of_the_document(self):
        blocks = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text(), re.S)
        # Those of links are of other runs: serve_links_test.py.
        commands = [b for b in blocks if b.startswith("curl") and not re.search("/score|/recommend", b)]
        self.assertGreaterEqual(len(commands), 4)
        if shutil.which("curl") is None:
            self.skipTest("no curl")
        for command in commands:
            done = subprocess.run(["bash", "-ec", command.replace("curl ", "curl -sSf ").replace(
                ":8080", f":{self.server.port}")], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, command + done.stderr)
            if "predict" in command:
                self.assertIn("class", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
