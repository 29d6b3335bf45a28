#!/usr/bin/env python3
"""salient-serve on a GPU: resident where that can be, eager otherwise, and in both cases the answers of salient-infer.

    serve_gpu_test.py BIN_DIRECTORY       half a minute on a GPU; skipped without one
"""
import concurrent.futures
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / "support"), str(pathlib.Path(__file__).resolve().parent)]
import npy

BIN = pathlib.Path(sys.argv[1]).resolve()
NO_DEVICE, USAGE, SKIPPED = 69, 2, 77
NODES, FEATURES, ASKED = 12000, 64, 500
ON_GPU = ["--device", "cuda"]
RUNS = {  # three layers of 256: one kernel is a layer; another model: its own kind of graph
    "sage": ["--fanout", "10,5,5", "--eval-fanout", "8,8,8"],
    "gat": ["--model", "gat", "--hidden", "32", "--fanout", "5,4", "--eval-fanout", "8,8", "--precision", "fp32"],
}
TOLERANCE = {"sage": 0.02, "gat": 1e-3}  # of probabilities, in bf16 and fp32


def start(*command, expect=0):
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, timeout=300)
    assert done.returncode == expect, (done.returncode, done.stdout + done.stderr)
    return done


def softmax(logits):
    weights = [math.exp(x - max(logits)) for x in logits]
    return [w / sum(weights) for w in weights]


class ServeOnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-serve-gpu-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        start(BIN / "salient-prepare", "synthetic", "--nodes", NODES, "--mean-degree", 8, "--features", FEATURES,
              "--classes", 5, "--out", cls.work / "graph")
        for name, options in RUNS.items():
            start(BIN / "salient-train", "--dataset", cls.work / "graph", "--out", cls.work / name, "--epochs", 2,
                  "--eval-batch-size", ASKED, "--lr", "0.01", "--progress", "none", *ON_GPU, *options)
        cls.ids = random.Random(1).sample(range(NODES), ASKED)
        npy.write_ids(cls.work / "ids.npy", cls.ids)

    def expected(self, run, *options):
        """Probabilities of each node."""
        out = self.work / f"{run}{''.join(options)}"
        start(BIN / "salient-infer", "--run", self.work / run, "--nodes", self.work / "ids.npy", "--out", out,
              "--progress", "none", *ON_GPU, *options)
        rows = npy.rows(npy.read(out / "logits.npy"))
        return dict(zip(npy.read(out / "ids.npy").values, map(softmax, rows), strict=True))

    def predict(self, address, body):
        with urllib.request.urlopen(f"{address}/predict", json.dumps(body).encode(), 30) as answer:
            return json.load(answer)["predictions"]

    def ask(self, address, seed):
        """Some requests of a client. @return predictions"""
        draw, found = random.Random(seed), []
        for _ in range(40):
            nodes = draw.sample(self.ids, draw.choice((1, 8, 50)))
            found += self.predict(address, {"nodes": nodes, "probabilities": True})
        return found

    def ask_of_new_nodes(self, address, seed):
        """The same of nodes that the data set lacks, between requests for known ones. @return predictions of both"""
        draw, found = random.Random(seed), []
        for _ in range(40):
            new = [{"features": [draw.gauss(0, 1) for _ in range(FEATURES)], "neighbors": draw.sample(range(NODES), 6)}
                   for _ in range(draw.choice((1, 5)))]
            found += self.predict(address, {"new_nodes": new, "probabilities": True})
            found += self.predict(address, {"nodes": draw.sample(self.ids, 3), "probabilities": True})
        return found

    def served(self, run, *options, ask=None):
        """What four clients were told, and the server's log."""
        ask = ask or self.ask
        server = subprocess.Popen([BIN / "salient-serve", "--run", self.work / run, "--port", "0", *ON_GPU, *options],
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            address = server.stdout.readline().split()[-1:]
            assert address, server.communicate()
            with concurrent.futures.ThreadPoolExecutor(4) as clients:
                found = [p for part in clients.map(lambda seed: ask(address[0], seed), range(4)) for p in part]
        finally:
            server.terminate()
            log = server.communicate(timeout=300)[1]
        self.assertEqual(server.returncode, 0, log)
        return found, log

    def check(self, run, told, *options):
        found, log = self.served(run, *options)
        self.assertEqual(log.count(told), 1, log)
        self.assertEqual(log.count("predictions are "), 1, log)
        expected = self.expected(run, *options)
        for prediction in found:
            probabilities = expected[prediction["node"]]
            self.assertEqual(len(prediction["probabilities"]), len(probabilities))
            for a, b in zip(prediction["probabilities"], probabilities):
                self.assertLess(abs(a - b), TOLERANCE[run], (prediction, probabilities))

    def test_resident_answers_are_those_of_salient_infer(self):
        self.check("sage", "predictions are resident: sampling, gathering and arithmetic (bf16)", "--step", "resident")
        self.check("gat", "predictions are resident: sampling, gathering and arithmetic (fp32)", "--step", "resident")

    def test_a_server_is_resident_where_it_can_be(self):
        for run in RUNS:
            self.assertIn("predictions are resident", self.served(run)[1])

    def test_eager_answers_are_those_of_salient_infer(self):
        self.check("sage", "predictions are eager: asked for", "--step", "eager")
        self.check("sage", "predictions are eager: a fanout is not in 1 to 32", "--fanout", "-1,8,8")

    def test_new_nodes_beside_resident_answers_are_those_of_an_eager_server(self):
        for run in RUNS:
            resident, log = self.served(run, "--step", "resident", ask=self.ask_of_new_nodes)
            self.assertIn("predictions are resident", log)
            eager, _ = self.served(run, "--step", "eager", ask=self.ask_of_new_nodes)
            self.assertEqual(len(resident), len(eager))
            for one, other in zip(resident, eager):
                self.assertEqual(one.get("node"), other.get("node"))
                for a, b in zip(one["probabilities"], other["probabilities"], strict=True):
                    self.assertLess(abs(a - b), TOLERANCE[run], (one, other))

    def test_resident_answers_that_cannot_be_are_refused(self):
        done = start(BIN / "salient-serve", "--run", self.work / "sage", "--port", 0, *ON_GPU, "--step", "resident",
                     "--fanout", "-1,8,8", expect=USAGE)
        self.assertIn("resident predictions: a fanout is not in 1 to 32", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    probe = subprocess.run([BIN / "salient-train", "--dataset", "synthetic:arxiv:0.01", "--dry-run", *ON_GPU],
                           text=True, capture_output=True)
    if probe.returncode == NO_DEVICE:
        print("skipped: no GPU")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
