#!/usr/bin/env python3
"""salient-kernels as a user runs it: verbs, generators against a made-up model server, the commands of docs/KERNELS.md.

    salient_kernels_test.py PROGRAM SOURCE_DIR
"""
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
KERNELS = SOURCE / "workbench/cases/kernels"
KEY = "sk-secret-0123456789"
GOOD = (KERNELS / "softsign.cpp").read_text()
QUICK = ["--backend", "host", "--samples", "4", "--rounds", "1", "--repairs", "0"]


class ModelServer(http.server.BaseHTTPRequestHandler):
    """Speaks /chat/completions. `mode` decides what it answers; `requests` is what it got."""
    mode, requests = "good", []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cls = type(self)
        cls.requests.append((self.path, self.headers.get("Authorization"), body))
        text, status, mode = f"Here you are:\n```cpp\n{GOOD}```\nGood luck!", 200, cls.mode
        if mode == "busy once" and len(cls.requests) == 1:
            return self.reply(429, {"error": {"message": "slow\ndown"}})
        if mode == "slow":
            time.sleep(3)
        if mode == "refused":
            return self.reply(401, {"error": {"message": "no such key"}})
        if mode == "broken json":
            return self.raw(200, b'{"choices": [{"mess')
        if mode == "no choices":
            return self.reply(200, {"choices": []})
        if mode == "odd types":
            return self.reply(200, {"choices": [{"message": {"content": 7}}]})
        if mode == "huge":
            text = "x" * (10 << 20)
        if mode == "empty":
            text = ""
        if mode == "prose":
            text = "I would rather talk about the weather."
        if mode == "malformed":
            text = '{"source": "// launch'
        return self.reply(status, {"choices": [{"message": {"role": "assistant", "content": text}}]})

    def reply(self, status, value):
        self.raw(status, json.dumps(value).encode())

    def raw(self, status, data):
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def log_message(self, *args):
        pass


class SalientKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}/v1"

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-kernels-test-"))
        self.addCleanup(shutil.rmtree, self.work)
        ModelServer.mode, ModelServer.requests = "good", []

    def run_it(self, *args, expect=0, **more):
        result = subprocess.run([PROGRAM, *map(str, args)], text=True, capture_output=True, timeout=250, cwd=self.work,
                                env={**os.environ, "OPENAI_API_KEY": KEY}, **more)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        self.assertNotIn(KEY, result.stdout + result.stderr)
        return result

    def ask_server(self, mode, *more):
        ModelServer.mode, ModelServer.requests = mode, []
        run = self.work / mode.replace(" ", "-")
        result = self.run_it("optimize", "softsign", "--generator", "openai", "--endpoint", self.url, "--model", "m",
                             "--method", "single", *QUICK, "--out", run, *more)
        for file in run.rglob("*"):
            if file.is_file():
                self.assertNotIn(KEY, file.read_text(errors="replace"), file)
        return result, run

    def test_verbs_and_exit_codes(self):
        self.assertIn("softsign", self.run_it("list").stdout)
        good = self.run_it("check", "softsign", KERNELS / "softsign.cpp", "--backend", "host")
        self.assertIn("ACCEPTED", good.stdout)
        bad = SOURCE / "tests/workbench/fixtures/zeroed_output.cpp"
        rejected = self.run_it("check", "softsign", bad, "--backend", "host", expect=1)
        self.assertIn("INCORRECT", rejected.stdout)
        self.run_it(expect=2)
        for args, code, word in ((["what"], 2, "what"), (["check", "softsign"], 2, "check CASE FILE"),
                                 (["check", "nothing", bad], 66, "there are"),
                                 (["check", "softsign", "absent"], 66, "absent"),
                                 (["list", "--backend", "x"], 2, "--backend"),
                                 (["optimize", "softsign"], 2, "--generator"),
                                 (["optimize", "softsign", "--generator", "openai"], 2, "--endpoint"),
                                 (["verify-ledger", "absent"], 66, "absent"),
                                 (["list", "--rouns", "1"], 2, "--rounds")):
            with self.subTest(args=args):
                self.assertIn(word, self.run_it(*args, expect=code).stderr)

    def test_a_run_can_be_verified_reported_and_replayed(self):
        script = self.work / "model.py"
        script.write_text("import json, sys\nrequest = json.load(sys.stdin)\nassert request['protocol'] == 1\n"
                          f"print(json.dumps({{'source': {GOOD!r} + '// again' }}))\n")
        run = self.work / "run"
        self.run_it("optimize", "softsign", "--generator", "command", "--command", f"{sys.executable} {script}",
                    "--method", "cutegen", *QUICK, "--rounds", "2", "--out", run)
        self.assertIn("records", self.run_it("verify-ledger", run).stdout)
        self.assertIn("reproduced", self.run_it("replay", run).stdout)
        self.run_it("report", run)
        self.assertIn("x of start", (run / "report.md").read_text())
        self.assertTrue((run / "report.html").read_text().startswith("<!doctype html>"))
        best = json.loads((run / "best.json").read_text())
        self.assertGreaterEqual(best["of_start"], 1)
        self.assertIn("has a ledger", self.run_it("optimize", "softsign", "--generator", "command", "--command", "true",
                                                  *QUICK, "--out", run, expect=2).stderr)
        best_source = (run / "best.cpp").read_text()
        (run / "best.cpp").write_text(best_source + "//")
        self.assertIn("not the best", self.run_it("verify-ledger", run, expect=65).stderr)
        (run / "best.cpp").write_text(best_source)
        ledger = run / "ledger.jsonl"
        ledger.write_text(ledger.read_text().replace('"reason":"', '"reason":"not ', 1))
        self.run_it("verify-ledger", run, expect=65)
        self.run_it("replay", run, expect=65)

    def test_a_model_server_is_asked_with_the_key_and_tried_again_when_busy(self):
        result, run = self.ask_server("busy once")
        self.assertIn("without a usable answer 0", result.stdout)
        self.assertEqual(len(ModelServer.requests), 2)
        path, authorization, body = ModelServer.requests[1]
        self.assertEqual((path, authorization, body["model"]), ("/v1/chat/completions", f"Bearer {KEY}", "m"))
        self.assertEqual([message["role"] for message in body["messages"]], ["system", "user"])
        self.assertIn("softsign", body["messages"][1]["content"])
        self.run_it("replay", run)

    def test_a_bad_answer_costs_one_round_and_one_line(self):
        for mode, line in (("prose", None), ("malformed", None), ("empty", "answered nothing"),
                           ("broken json", "no JSON"),
                           ("no choices", "choices"), ("odd types", "choices"), ("huge", "larger than"),
                           ("refused", "401: no such key"), ("slow", "imeout")):
            with self.subTest(mode=mode):
                result, run = self.ask_server(mode, "--answer-s", "1", "--tries", "1")
                self.assertIn("candidates 0", result.stdout)
                if line:
                    lines = [text for text in result.stderr.splitlines() if "coder:" in text]
                    self.assertEqual(len(lines), 1, result.stderr)
                    self.assertIn(line, lines[0])
                self.run_it("replay", run)

    def test_a_dead_endpoint_costs_its_round(self):
        result = self.run_it("optimize", "softsign", "--generator", "openai", "--endpoint", "http://127.0.0.1:1/v1",
                             "--model", "m", "--tries", "1", *QUICK, "--out", self.work / "dead")
        self.assertIn("without a usable answer 1", result.stdout)

    def test_a_folder_takes_answers_from_files(self):
        folder, run = self.work / "answers", self.work / "run"
        process = subprocess.Popen([PROGRAM, "optimize", "softsign", "--generator", "folder", "--folder", folder,
                                    "--method", "astra", "--roles", "planner,coder", *QUICK, "--out", run],
                                   cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for name, text in (("001-planner.answer.md", "Do less."), ("002-coder.answer.cpp", GOOD)):
            question = folder / (name.split(".")[0] + ".request.md")
            deadline = time.time() + 60
            while not question.exists() and time.time() < deadline:
                time.sleep(0.1)
            self.assertIn("TASK", question.read_text())
            (folder / name).write_text(text)
        out, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out)
        self.assertIn("candidates 1", out)

    def test_ctrl_c_ends_a_run_with_a_whole_record(self):
        run = self.work / "run"
        process = subprocess.Popen([PROGRAM, "optimize", "softsign", "--generator", "folder", *QUICK, "--out", run],
                                   cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.time() + 60
        while not list(run.glob("answers/*.request.md")) and time.time() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        self.run_it("verify-ledger", run)

    def test_tune_tries_every_value(self):
        source = GOOD.replace("// launch", "// param CHUNK=4096 values=1024,8192\n// launch").replace("4096", "CHUNK")
        source = source.replace("CHUNK=CHUNK", "CHUNK=4096")
        (self.work / "k.cpp").write_text(source)
        out = self.run_it("tune", "softsign", "k.cpp", "--backend", "host", "--samples", "4",
                          "--out", "best.cpp").stdout
        self.assertIn("CHUNK=1024", out)
        self.assertIn("CHUNK=8192", out)
        self.assertRegex((self.work / "best.cpp").read_text(), "param CHUNK=(1024|8192) values")

    def test_every_command_of_the_documentation_works(self):
        (self.work / "workbench").symlink_to(SOURCE / "workbench")
        for number in range(1, 4):
            (self.work / "work").mkdir(exist_ok=True)
            (self.work / f"work/00{number}-coder.answer.md").write_text(f"```cpp\n{GOOD}```\n")
        blocks = re.findall(r"^```\n(.*?)^```", (SOURCE / "docs/KERNELS.md").read_text(), re.M | re.S)
        lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()
                 if line.startswith("salient-kernels ")]
        self.assertGreater(len(lines), 8)
        for line in lines:
            words = shlex.split(re.sub(r"https?://\S+/v1", self.url, line))[1:]
            if words[0] == "optimize":
                words += QUICK
            if words[0] == "bench":
                words += ["--samples", "4"]
            with self.subTest(line=line):
                result = subprocess.run([PROGRAM, *words], text=True, capture_output=True, timeout=250, cwd=self.work)
                self.assertIn(result.returncode, (0, 1) if words[0] == "bench" else (0,), result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
