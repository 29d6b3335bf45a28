#!/usr/bin/env python3
"""salient-kernels as a user runs it: verbs, generators against a made-up model server, the commands of docs/KERNELS.md.

    salient_kernels_test.py PROGRAM SOURCE_DIR
"""
import atexit
import hashlib
import http.server
import io
import json
import lzma
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
KERNELS = SOURCE / "workbench/cases/kernels"
RESULTS = SOURCE / "workbench/results"
KEY = "sk-secret-0123456789"
GOOD = (KERNELS / "softsign.cpp").read_text()


def small_workbench():
    """A folder with softsign in small shapes, in which a check takes a tenth of the time: verbs are tested here."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="salient-kernels-small-"))
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(SOURCE / "workbench/cases", folder / "cases")
    for name in ("prompts", "results"):
        (folder / name).symlink_to(SOURCE / "workbench" / name)
    case = folder / "cases/softsign.case"
    text = case.read_text()
    for large, small in (("n=1048576\n", "n=16384\n"), ("n=262147\n", "n=5003\n"), ("n=2..70000\n", "n=2..4000\n"),
                         ("n=70001..1000000\n", "n=4001..9000\n"), ("n=1048577..1300000\n", "n=16385..20000\n")):
        assert large in text, large
        text = text.replace(large, small)
    case.write_text(text)
    return folder


SLOW = ["--backend", "host", "--samples", "4", "--rounds", "1", "--repairs", "0"]
SMALL = ["--workbench-dir", small_workbench()]
QUICK = [*SLOW, *SMALL]


class ModelServer(http.server.BaseHTTPRequestHandler):
    """Speaks /chat/completions. `mode` decides what it answers; `requests` is what it got."""
    mode, requests = "good", []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cls = type(self)
        cls.requests.append((self.path, self.headers.get("Authorization"), body))
        text, status, mode = f"Here you are:\n```cpp\n{GOOD}```\nGood luck!", 200, cls.mode
        if mode == "busy once" and len(cls.requests) == 1:
            return self.reply(429, {"error": {"message": "slow\ndown"}}, {"Retry-After": "3"})
        if mode == "slow":
            time.sleep(3)
        if mode == "refused":
            return self.reply(401, {"error": {"message": "no such key"}})
        if mode.isdigit():
            return self.reply(int(mode), {"error": {"message": "not so\u009b"}})
        if mode == "thinking":
            text = "<think>\n```\n// launch draft block=1 grid=1\n" + "long " * 1000 + "\n```\n</think>\n" + text
        if mode == "drafts":
            text = f"```\n// launch draft block=1 grid=1\n{'// long' * 1000}\n```\nBetter:\n~~~cpp\n{GOOD}~~~\n"
        if mode == "parts":
            text = [{"type": "reasoning", "text": "// launch draft"}, {"type": "text", "text": text[:20]},
                    {"type": "text", "text": text[20:]}]
        if mode == "cut":
            return self.reply(200, {"choices": [{"finish_reason": "length", "message": {"content": text}}]})
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
        return self.reply(status, {"choices": [{"message": {"role": "assistant", "content": text}}], "model": "m-2026",
                                   "usage": {"prompt_tokens": 700, "completion_tokens": 300}})

    def reply(self, status, value, headers={}):
        self.raw(status, json.dumps(value).encode(), headers)

    def raw(self, status, data, headers={}):
        try:
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
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

    def run_it(self, *args, expect=0, path=os.environ["PATH"]):
        result = subprocess.run([PROGRAM, *map(str, args)], text=True, capture_output=True, timeout=250, cwd=self.work,
                                env={**os.environ, "OPENAI_API_KEY": KEY, "PATH": path})
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        self.assertNotIn(KEY, result.stdout + result.stderr)
        return result

    def ask_server(self, mode, *more, expect=0):
        ModelServer.mode, ModelServer.requests = mode, []
        run = self.work / mode.replace(" ", "-")
        result = self.run_it("optimize", "softsign", "--generator", "openai", "--endpoint", self.url, "--model", "m",
                             "--method", "single", *QUICK, "--out", run, *more, expect=expect)
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
                                 (["optimize", "softsign", "--generator", "folder", "--backend", "host", "--language",
                                   "cute"], 2, "does not compile cute"),
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
        whole = self.run_it("verify-ledger", run).stdout
        self.assertIn("records", whole)
        head = re.search("(?m)^head ([0-9a-f]{64})$", whole)[1]
        self.run_it("verify-ledger", run, "--head", head)
        self.assertIn(f"has the hash {head}", self.run_it("verify-ledger", run, "--head", "0" * 64, expect=65).stderr)
        self.assertIn("reproduced", self.run_it("replay", run).stdout)
        self.run_it("report", run)
        pages = [(run / name).read_bytes() for name in ("report.md", "report.html")]
        closed = subprocess.run([PROGRAM, "report", run], close_fds=False, preexec_fn=lambda: os.closerange(0, 3))
        self.assertEqual(closed.returncode, 0)  # no line of it got into a file that took a stream's number
        self.assertEqual([(run / name).read_bytes() for name in ("report.md", "report.html")], pages)
        with open("/dev/full", "w") as full:
            unsaid = subprocess.run([PROGRAM, "verify-ledger", run], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(unsaid.returncode, 74)
        self.assertIn("standard output: cannot write", unsaid.stderr)
        self.assertIn("x of start", (run / "report.md").read_text())
        self.assertTrue((run / "report.html").read_text().startswith("<!doctype html>"))
        others = self.work / "baselines.json"
        others.write_text(json.dumps({"cases": {"softsign": {"n=5003": {"torch": 0.5}}}}))
        self.run_it("report", run, "--baselines", others)
        for text, code in (("{", 65), ('{"cases": 3}', 65), ('{"cases": {"softsign": {"n": 1}}}', 65)):
            others.write_text(text)
            self.run_it("report", run, "--baselines", others, expect=code)
        best = json.loads((run / "best.json").read_text())
        self.assertGreaterEqual(best["of_start"], 1)
        kept = (run / "options.toml").read_bytes()
        self.assertIn("has a ledger", self.run_it("optimize", "softsign", "--generator", "command", "--command", "true",
                                                  *QUICK, "--out", run, expect=2).stderr)
        self.assertEqual((run / "options.toml").read_bytes(), kept, "a refused run changes nothing of the other")
        (run / "best.json").write_text(json.dumps({**best, "of_start": 99}))
        self.assertIn("not the best", self.run_it("verify-ledger", run, expect=65).stderr)
        (run / "best.json").write_text(json.dumps(best))
        best_source = (run / "best.cpp").read_text()
        (run / "best.cpp").write_text(best_source + "//")
        self.assertIn("not the best", self.run_it("verify-ledger", run, expect=65).stderr)
        (run / "best.cpp").write_text(best_source)
        ledger = run / "ledger.jsonl"
        ledger.write_text(ledger.read_text().replace('"reason":"', '"reason":"not ', 1))
        self.run_it("verify-ledger", run, expect=65)
        self.run_it("replay", run, expect=65)

    def test_a_tree_search_replays(self):
        (self.work / "good.cpp").write_text(f"```\n{GOOD}```\n")
        for method in ("beam", "mcts"):
            run = self.work / method
            self.run_it("optimize", "softsign", "--generator", "command", "--command", "cat good.cpp", *QUICK,
                        "--method", method, "--width", "1", "--rounds", "3", "--out", run)
            self.assertIn("candidates 3", self.run_it("replay", run).stdout)

    def test_a_model_server_is_asked_with_the_key_and_tried_again_when_busy(self):
        begin = time.monotonic()
        result, run = self.ask_server("busy once")
        self.assertGreater(time.monotonic() - begin, 3, "the endpoint said when")
        self.assertIn("without a usable answer 0", result.stdout)
        self.assertEqual(len(ModelServer.requests), 2)
        path, authorization, body = ModelServer.requests[1]
        self.assertEqual((path, authorization, body["model"]), ("/v1/chat/completions", f"Bearer {KEY}", "m"))
        self.assertEqual([message["role"] for message in body["messages"]], ["system", "user"])
        self.assertIn("softsign", body["messages"][1]["content"])
        self.assertEqual(set(body), {"model", "messages"}, "what was not asked for is not sent")
        self.run_it("replay", run)
        self.run_it("report", run)
        self.assertIn("Answers were written by: m-2026 (1).", (run / "report.md").read_text())
        self.assertIn("tokens 1000: asked 700, answered 300", result.stdout)
        run = self.work / "dear"
        spent = self.run_it("optimize", "softsign", "--generator", "openai", "--endpoint", self.url, "--model", "m",
                            "--method", "single", *QUICK, "--rounds", "5", "--budget-tokens", "1500", "--out", run,
                            expect=3).stdout
        self.assertIn("paused: 2000 tokens are spent, of 1500", spent)
        self.assertIn("tokens 5000", self.run_it("advance", run).stdout)
        self.assertIn("tokens 5000", self.run_it("replay", run).stdout)
        run = self.work / "in money"
        paused = ["optimize", "softsign", "--generator", "openai", "--endpoint", self.url, "--model", "m", "--method",
                  "beam", *QUICK, "--rounds", "3", "--out", run, "--budget-cost", "0.005"]
        self.assertIn("needs prices of tokens", self.run_it(*paused, expect=2).stderr)
        spent = self.run_it(*paused, "--price-asked", "2", "--price-answered", "10", expect=3).stdout
        self.assertIn("paused: 0.0088 is spent, of 0.0050", spent)
        advanced = self.run_it("advance", run).stdout
        self.assertIn("cost 0.0132", advanced)
        replayed = self.run_it("replay", run).stdout
        self.assertIn("cost 0.0132", replayed)
        self.assertEqual(*([line for line in text.splitlines() if line.startswith("seconds ")] for text in
                           (advanced, replayed)))
        more = ["--max-tokens", "9000", "--token-field", "max_completion_tokens", "--temperature", "0.5"]
        self.ask_server("good", *more)
        body = ModelServer.requests[0][2]
        self.assertEqual((body["max_completion_tokens"], body["temperature"]), (9000, 0.5))
        self.assertNotIn("max_tokens", body)

    def test_an_answer_is_found_behind_thoughts_and_drafts_and_in_parts(self):
        for mode in ("thinking", "drafts", "parts"):
            with self.subTest(mode=mode):
                result, run = self.ask_server(mode)
                self.assertIn("without a usable answer 0", result.stdout)
                self.assertIn("candidates 1", result.stdout)
                self.assertNotIn("ERROR", result.stdout)

    def test_a_bad_answer_costs_one_round_and_one_line(self):
        for mode, line in (("prose", "has no source"), ("malformed", "has no source"), ("empty", "answered nothing"),
                           ("broken json", "no JSON"),
                           ("no choices", "choices"), ("odd types", "answered nothing"), ("huge", "larger than"),
                           ("cut", "cut at its limit of tokens"), ("slow", "imeout")):
            with self.subTest(mode=mode):
                result, run = self.ask_server(mode, "--answer-s", "1", "--tries", "1", expect=1)
                self.assertIn("candidates 0", result.stdout)
                self.assertIn("no candidate was judged", result.stderr)
                lines = [text for text in result.stderr.splitlines() if "coder:" in text]
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertIn(line, lines[0])
                self.assertIn("without a usable answer 1", self.run_it("replay", run).stdout)
                self.run_it("report", run)
                self.assertIn("1 requests had no usable answer", (run / "report.md").read_text())

    def test_where_no_request_can_be_answered_the_run_stays_open(self):
        refused, run = self.ask_server("refused", expect=3)
        self.assertEqual(refused.stdout.count("401: no such key; the key is read from the environment variable"), 1)
        dead = self.work / "dead"
        result = self.run_it("optimize", "softsign", "--generator", "openai", "--endpoint", "http://127.0.0.1:1/v1",
                             "--model", "m", "--tries", "1", *QUICK, "--method", "single", "--out", dead, expect=3)
        self.assertRegex(result.stdout, "(?m)^the endpoint: .*http://127.0.0.1:1/v1$")
        stopped = [(run, refused), (dead, result)]
        for status in ("307", "400", "404", "422", "429", "503"):
            out, folder = self.ask_server(status, "--tries", "1", expect=3)
            self.assertIn(f"the endpoint answered {status}: not so\\xc2\\x9b", out.stdout)
            stopped.append((folder, out))
        ModelServer.mode = "good"
        for folder, out in stopped:
            self.assertNotIn("coder:", out.stderr, "no round was lost")
            done = self.run_it("advance", folder, *(["--endpoint", self.url] if folder == dead else []))
            self.assertIn("requests 1, without a usable answer 0", done.stdout)
            self.run_it("replay", folder)

    def test_a_folder_run_waits_with_its_own_exit_code_and_goes_on_when_answers_are_there(self):
        folder, run = self.work / "answers", self.work / "run"
        first = self.run_it("optimize", "softsign", "--generator", "folder", "--folder", folder, "--method", "astra",
                            "--roles", "planner,coder", *QUICK, "--out", run, expect=3)
        self.assertIn("waiting for", first.stdout)
        self.assertIn("001-planner.answer.md", first.stdout)
        self.assertIn(f"salient-kernels advance {run}", first.stdout)
        request = (folder / "001-planner.request.md").read_text()
        self.assertTrue(request.startswith("# Request 1, round 1: you are the planner\n"), request[:80])
        for part in ("TASK", "WHAT CAN HELP", "MEASUREMENTS", "001-planner.answer.md"):
            self.assertIn(part, request)
        go_on = ["advance", run, "--folder", folder]
        records = (run / "ledger.jsonl").read_text()
        self.run_it(*go_on, expect=3)
        self.assertEqual((run / "ledger.jsonl").read_text(), records, "nothing happened, nothing is recorded")
        (folder / "001-planner.answer.md").write_text("Do less.")
        self.assertIn("002-coder", self.run_it(*go_on, expect=3).stdout)
        (folder / "002-coder.answer.cpp").write_text(GOOD)
        self.assertIn("candidates 1", self.run_it(*go_on).stdout)
        self.assertIn("candidates 1", self.run_it(*go_on).stdout, "a run that has ended stays as it is")
        self.run_it("verify-ledger", run)
        self.assertIn("reproduced", self.run_it("replay", run).stdout)
        self.assertEqual((run / "ledger.jsonl").read_text().count('"kind":"request"'), 2)

    def test_a_folder_run_survives_odd_answers_and_a_broken_last_line(self):
        run = self.work / "run"
        self.run_it("optimize", "softsign", "--generator", "folder", "--method", "cutegen", *QUICK, "--rounds", "4",
                    "--repairs", "1", "--out", run, expect=3)
        answers = run / "answers"
        (answers / "001-coder.answer.md").write_text(" \n")
        self.assertIn("001-coder", self.run_it("advance", run, expect=3).stdout, "it is still being written")
        for slip, said in (("Sorry.", "has no source"), ("x" * (10 << 20), "larger than"),
                           ('{"source": 3}', "no text")):
            (answers / "001-coder.answer.md").write_text(slip)
            self.assertIn(said, self.run_it("advance", run, expect=3).stdout)
        self.assertNotIn('"kind":"answer"', (run / "ledger.jsonl").read_text(), "a slip is no round")
        with (run / "ledger.jsonl").open("a") as ledger:
            ledger.write('{"kind":"answer","n":7')  # a process was killed while it wrote
        (answers / "001-coder.answer.md").write_text("\ufeff~~~\n// launch k block=1 grid=1\nthis is no code\n~~~\n")
        self.assertIn("002-diagnosis", self.run_it("advance", run, expect=3).stdout)
        (answers / "002-diagnosis.answer.md").write_text("It is prose.")
        self.assertIn("003-repair", self.run_it("advance", run, expect=3).stdout)
        (answers / "003-repair.answer.json").write_text('{"edits": [{"from": ')
        self.assertIn("has no {", self.run_it("advance", run, expect=3).stdout)
        (answers / "003-repair.answer.json").write_text('{"edits": [{"from": 2, "to": 2, "lines": ["nor this"]}]}')
        self.assertIn("004-coder", self.run_it("advance", run, expect=3).stdout)
        (answers / "004-coder.answer.cpp").write_text("\ufeff" + GOOD)
        done = self.run_it("advance", run, expect=3)
        self.assertRegex(done.stderr, "candidate 1: COMPILE_ERROR|candidate 3: (ACCEPTED|NOISE|SLOWER)")
        self.run_it("replay", run)

    def test_what_does_not_compile_is_rejected_without_a_gpu(self):
        def answered(name):
            run = self.work / name
            shutil.copytree(SOURCE / "workbench/results/matmul_bf16-cutegen.cute", run)
            (run / "answers").mkdir()
            (run / "answers/003-coder.answer.md").write_text("```\n// launch k block=1 grid=1\nwhat\n```\n")
            return run

        for compiles in (False, True):  # to what is no cubin
            with self.subTest(compiles=compiles):
                run = answered(f"run-{compiles}")
                nvcc = self.work / "nvcc"
                nvcc.write_text('#!/bin/sh\nfor last; do :; done\n' + (
                    'case $* in *-ptx*) echo ".visible .entry k(" && seq -f ".param .u64 p_%g," 1 6 && echo ")";; esac '
                    '>"$last"\n' if compiles else 'echo "candidate.cu(2): error: no such word" >&2; exit 1\n'))
                nvcc.chmod(0o755)
                if pathlib.Path("/dev/nvidia0").exists():
                    self.skipTest("a GPU would run what the made-up compiler makes")
                out = self.run_it("advance", run, "--nvcc", nvcc, expect=3)
                self.assertIn("004-diagnosis", out.stdout)
                self.assertEqual("COMPILE_ERROR, error: no such word" in out.stderr, not compiles, out.stderr)
                self.run_it("replay", run)
        waiting = self.run_it("advance", answered("run-absent"), "--nvcc", "/absent", expect=3)
        self.assertIn("waiting for a machine", waiting.stdout)

    def test_a_folder_run_pauses_when_its_time_is_over(self):
        run = self.work / "run"
        self.run_it("optimize", "softsign", "--generator", "folder", *QUICK, "--out", run, expect=3)
        (run / "answers/001-coder.answer.cpp").write_text(GOOD)
        paused = self.run_it("advance", run, "--budget-s", "0.000001", expect=3)
        self.assertIn("paused", paused.stdout)
        self.assertIn("candidates 1", self.run_it("advance", run).stdout)

    def interrupt(self, run, command, record):
        """Ctrl-C for all processes of a terminal, once the record is there. @return what was printed"""
        process = subprocess.Popen([PROGRAM, "optimize", "softsign", "--generator", "command", "--command", command,
                                    "--method", "single", *SLOW, "--rounds", "3", "--out", run],
                                   cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        ledger = run / "ledger.jsonl"
        deadline = time.time() + 60
        while time.time() < deadline and not (ledger.exists() and f'"kind":"{record}"' in ledger.read_text()):
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out)
        self.assertRegex(out, f"advance {run}\n")
        self.assertNotIn('"kind":"end"', ledger.read_text())
        self.run_it("verify-ledger", run)
        self.run_it("replay", run)
        return out

    def test_ctrl_c_leaves_a_run_open(self):
        (self.work / "good.cpp").write_text(f"```\n{GOOD}```\n")
        go_on = ["--generator", "command", "--command", "cat good.cpp"]
        begin = time.time()
        self.interrupt(self.work / "asked", "sleep 100", "request")
        self.assertLess(time.time() - begin, 60, "the command is not waited for")
        self.assertIn("candidates 3", self.run_it("advance", self.work / "asked", *go_on).stdout)
        judged = self.interrupt(self.work / "judged", "cat good.cpp", "answer")
        self.assertNotIn("RUNTIME_ERROR", judged, "the signal is not the candidate's fault")
        self.assertIn("candidates 3", self.run_it("advance", self.work / "judged").stdout)

    def test_a_budget_leaves_a_run_open_whoever_answers(self):
        run, go_on = self.work / "run", ["--generator", "command", "--command", "cat good.cpp"]
        (self.work / "good.cpp").write_text(f"```\n{GOOD}```\n")
        out = self.run_it("optimize", "softsign", *go_on, "--method", "single", *QUICK, "--budget-s", "0.000001",
                          "--out", run, expect=3).stdout
        self.assertIn("paused", out)
        self.assertRegex(out, f"salient-kernels advance {run}\n")
        self.assertIn("candidates 1", self.run_it("advance", run).stdout)
        self.run_it("replay", run)

    def test_every_committed_run_is_whole_and_replays(self):
        # Those of a GPU are not compiled again: nvcc takes minutes for them, and CuTe's headers may not be there.
        folders = [ledger.parent for folder in ("examples", "results")
                   for ledger in sorted((SOURCE / "workbench" / folder).glob("*/ledger.jsonl"))]
        with tarfile.open(RESULTS / "runs.tar.xz") as archive:
            archived = sorted({name.split("/")[0] for name in archive.getnames()})
            ledgers = {run: archive.extractfile(f"{run}/ledger.jsonl").read().decode() for run in archived}
        ledgers |= {run: (run / "ledger.jsonl").read_text() for run in folders}
        self.assertGreaterEqual(len(folders) + len(archived), 30)
        readme = (RESULTS / "README.md").read_text()
        for run in [*folders, *archived]:
            with self.subTest(run=run):
                self.run_it("verify-ledger", run)
                records = [json.loads(line) for line in ledgers[run].splitlines()]
                is_host = records[0]["backend"] == "host"
                out = self.run_it("replay", run, *(["--compile"] if is_host else [])).stdout
                self.assertIn("reproduced", out)
                if not is_host:
                    name = pathlib.Path(run).name
                    self.assertRegex(readme, rf"(?m)^\| {name} \|.*\| {records[-1]['hash'][:12]} \|$")

    def test_a_run_of_the_archive_is_read_by_its_name(self):
        name, out = "gather_mean-astra", self.work / "out"
        for run in (name, RESULTS / name, f"{RESULTS / name}/", "gelu-cutegen"):
            self.assertIn("records; chain", self.run_it("verify-ledger", run).stdout)
        self.assertIn("--out: is needed", self.run_it("report", name, expect=2).stderr)
        self.run_it("report", name, "--out", out, "--baselines", RESULTS / "baselines_h200.json")
        self.assertIn(name.split("-")[0], (out / "report.md").read_text())
        self.assertIn("there are: attention_backward-astra, ", self.run_it("replay", "nothing", expect=66).stderr)
        self.assertEqual(list(self.work.glob("*")), [out])

    def test_a_hostile_or_damaged_archive_gets_one_line(self):
        results = self.work / "bench/results"
        results.mkdir(parents=True)
        for name in ("cases", "prompts"):
            (self.work / "bench" / name).symlink_to(SOURCE / "workbench" / name)
        packed = (RESULTS / "runs.tar.xz").read_bytes()
        said = (RESULTS / "runs.tar.xz.sha256").read_text()

        def refused(data, line, digest=None, verb="replay", expect=65, **more):
            (results / "runs.tar.xz").write_bytes(data)
            (results / "runs.tar.xz.sha256").write_text(digest or hashlib.sha256(data).hexdigest() + "  runs.tar.xz\n")
            error = self.run_it(verb, "gather_mean-astra", "--workbench-dir", self.work / "bench", "--out",
                                self.work / "out", expect=expect, **more).stderr
            self.assertEqual(len(error.splitlines()), 1, error)
            self.assertIn(line, error)
            self.assertIn("runs.tar.xz: ", error)

        def tar(*members):
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w:xz", format=tarfile.USTAR_FORMAT) as archive:
                for path, kind in members:
                    member = tarfile.TarInfo(path)
                    member.type, member.linkname = kind, "/etc/passwd"
                    archive.addfile(member)
            return buffer.getvalue()

        for at in (0, 20, len(packed) // 2, len(packed) - 1):
            changed = bytearray(packed)
            changed[at] ^= 1
            refused(bytes(changed), "its SHA-256 is not that of", said)
            refused(bytes(changed), "xz cannot unpack it")
        refused(packed, "its SHA-256 is not that of", "0" * 64)
        for size in (0, 1000, len(packed) - 40):
            refused(packed[:size], "xz cannot unpack it")
        refused(lzma.compress(lzma.decompress(packed).rstrip(b"\0")), "its end is missing")
        for verb in ("replay", "verify-ledger", "report"):
            refused(tar(("../../gather_mean-astra/best.json", tarfile.REGTYPE)), "is no file of a recorded run",
                    verb=verb)
        refused(tar(("/gather_mean-astra/best.json", tarfile.REGTYPE)), "is no file of a recorded run")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE):
            refused(tar(("gather_mean-astra/best.json", kind)), "is no file of a recorded run")
        refused(tar(("gather_mean-astra/\x1b[2J\nbest.json", tarfile.REGTYPE)), "\\x1b[2J\\nbest.json' is no file")
        refused(lzma.compress(bytes(80 << 20)), "more than 64 MiB")
        refused(packed, "takes the program xz", expect=66, path="/nowhere")
        self.assertFalse((self.work / "out").exists())

    def test_tune_tries_every_value(self):
        source = GOOD.replace("// launch", "// param CHUNK=4096 values=1024,8192\n// launch").replace("4096", "CHUNK")
        source = "// here param CHUNK=4096 is no declaration\n" + source.replace("CHUNK=CHUNK", "CHUNK=4096")
        source = source.replace("// param CHUNK=4096 values", "//  param   CHUNK=4096   values")
        (self.work / "k.cpp").write_text(source)
        (self.work / "bare.cpp").write_text('#include "workbench_kernel.h"\nextern "C" void k() {}\n')
        self.assertIn("LAUNCH_ERROR", self.run_it("tune", "softsign", "bare.cpp", "--backend", "host", expect=1).stdout)
        self.assertIn("is a folder", self.run_it("tune", "softsign", "k.cpp", "--backend", "host", "--out", self.work,
                                                 expect=2).stderr)
        out = self.run_it("tune", "softsign", "k.cpp", "--backend", "host", "--samples", "4", *SMALL,
                          "--out", "best.cpp").stdout
        self.assertIn("CHUNK=1024", out)
        self.assertIn("CHUNK=8192", out)
        best = re.search("(?m)^best: CHUNK=(1024|8192) $", out)[1]
        self.assertEqual((self.work / "best.cpp").read_text(), source.replace("CHUNK=4096   v", f"CHUNK={best}   v"))

    def test_every_command_of_the_documentation_works(self):
        (self.work / "workbench").symlink_to(SOURCE / "workbench")
        shutil.copy(SOURCE / "tests/workbench/strangers/row_means.cpp", self.work)
        for number in range(1, 4):
            (self.work / "work/answers").mkdir(parents=True, exist_ok=True)
            (self.work / f"work/answers/00{number}-coder.answer.md").write_text(f"```cpp\n{GOOD}```\n")
        blocks = re.findall(r"^```\n(.*?)^```", (SOURCE / "docs/KERNELS.md").read_text(), re.M | re.S)
        lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()
                 if line.startswith("salient-kernels ") and not re.search(r"--harness|^\S+ import", line)]
        self.assertGreater(len(lines), 8)
        if not pathlib.Path("/dev/nvidia0").exists():
            lines = [line for line in lines if "--backend cuda" not in line and "runs/kernels/softsign" not in line]
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
