#!/usr/bin/env python3
# tests/scripts/workbench_model_test.py - scripts/workbench_model.sh without a network: what is missing is one line,
# and with a server and a salient-kernels that are stand-ins, the last lines, and that nothing is left running.
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/workbench_model.sh"

SERVER = """
import os, sys, types
def CommonParams():
    return types.SimpleNamespace(model=types.SimpleNamespace(), cpuparams=types.SimpleNamespace(),
                                 cpuparams_batch=types.SimpleNamespace())
class Server:
    listening_address = "http://127.0.0.1:9"
    def __init__(self, parameters):
        open(os.environ["PIDS"], "a").write(f"{os.getpid()}\\n")
        if "BROKEN" in os.environ:
            raise RuntimeError("no such model")
"""

KERNELS = """#!/usr/bin/env bash
echo "$*" >>"$CALLS"
echo "key ${OPENAI_API_KEY:-none}" >>"$CALLS"
[ "$1" = optimize ] || exit 0
echo $$ >>"$PIDS"
if [ -n "${KILL:-}" ]; then kill "$(head -n 1 "$PIDS")" && sleep 1; fi
if [ -n "${HANG:-}" ]; then exec sleep 60; fi
echo "requests 3, without a usable answer 2"
echo "candidates 1: COMPILE_ERROR 1"
echo "best 1.000x of the start kernel (all rounds are done)"
echo "run folder some/run"
exit "${STATUS:-0}"
"""


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class WorkbenchModel(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = pathlib.Path(temporary.name) / "a folder"
        kernels = self.dir / "build/bin/salient-kernels"
        kernels.parent.mkdir(parents=True)
        kernels.write_text(KERNELS)
        kernels.chmod(0o755)
        self.pids, self.calls = self.dir / "pids", self.dir / "calls"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.dir / "cache"), PIDS=str(self.pids),
                                CALLS=str(self.calls), OPENAI_API_KEY="secret")

    def put_server(self):
        table = (ROOT / "scripts/lib/wheels.sh").read_text()
        version = re.search(r"^xllamacpp +(\S+)", table, re.MULTILINE)[1]
        folder = self.dir / f"cache/salient/model-server-{version}"
        folder.mkdir(parents=True)
        (folder / "xllamacpp.py").write_text(SERVER)
        (folder / ".complete").touch()

    def start(self, *arguments, **variables):
        return subprocess.Popen([SCRIPT, "--build", self.dir / "build", *arguments],
                                env=self.environment | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def run_script(self, *arguments, expect=0, **variables):
        process = self.start(*arguments, **variables)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, expect, out + err)
        self.assert_nothing_runs()
        return out, err

    def fails(self, *arguments, expect, says, **variables):
        _, err = self.run_script(*arguments, expect=expect, **variables)
        self.assertRegex(err, rf"\Aworkbench_model: error: [^\n]*{says}[^\n]*\n\Z")

    def assert_nothing_runs(self):
        for pid in self.pids.read_text().split() if self.pids.exists() else []:
            self.assertFalse(is_running(pid), pid)

    def wait_for_pids(self, count):
        for _ in range(300):
            if self.pids.exists() and len(self.pids.read_text().split()) == count:
                return
            time.sleep(0.1)
        self.fail("it did not start")

    def test_help_is_the_head_of_the_script(self):
        out, _ = self.run_script("--help")
        for word in ("--case", "--method", "--rounds", "--repairs", "--out", "--build", "Exit codes"):
            self.assertIn(word, out)

    def test_wrong_options(self):
        self.fails("--cases", expect=2, says="unknown option --cases")
        self.fails("--case", expect=2, says="--case needs a value")

    def test_without_the_program(self):
        self.fails("--build", str(self.dir / "none"), expect=66, says="none/bin/salient-kernels is not there")

    def test_without_a_network(self):
        self.fails(expect=75, says="xllamacpp==", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0",
                   PIP_EXTRA_INDEX_URL="", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
        self.assertFalse(self.pids.exists())

    def test_the_last_lines_say_what_the_model_reached(self):
        self.put_server()
        out, err = self.run_script("--case", "swish", "--method", "single", "--out", "some/run")
        self.assertEqual(err, "")
        lines = out.splitlines()
        self.assertRegex(lines[-4], r"SmolLM2-135M-Instruct.Q4_1 on swish by single, \d+ s")
        self.assertEqual(lines[-3:], ["workbench_model: requests 3, without a usable answer 2",
                                      "workbench_model: candidates 1: COMPILE_ERROR 1",
                                      "workbench_model: best 1.000x of the start kernel (all rounds are done)"])
        calls = self.calls.read_text()
        self.assertRegex(calls, r"optimize swish .*--method single .*--endpoint http://127.0.0.1:9/v1 .*--out some/run")
        self.assertIn("\nreport some/run\n", calls)
        self.assertIn("\nverify-ledger some/run\n", calls)
        self.assertNotIn("secret", calls)

    def test_a_failed_run_has_its_own_exit_code(self):
        self.put_server()
        self.run_script(expect=70, STATUS="70")

    def test_a_server_that_does_not_start_or_dies(self):
        self.put_server()
        self.fails(expect=75, says="did not start: RuntimeError: no such model", BROKEN="1")
        self.pids.unlink()
        self.fails(expect=75, says="the model server died", KILL="1")

    def test_nothing_outlives_a_stopped_script(self):
        self.put_server()
        for name, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            process = self.start(HANG="1")
            self.wait_for_pids(2)
            process.send_signal(name)
            process.communicate(timeout=300)
            self.assertEqual(process.returncode, code)
            self.assert_nothing_runs()
            self.pids.unlink()

    def test_the_server_ends_with_a_killed_script(self):
        self.put_server()
        process = self.start(HANG="1")
        self.wait_for_pids(2)
        server, kernels = self.pids.read_text().split()
        process.kill()
        process.wait()
        os.kill(int(kernels), signal.SIGKILL)
        for _ in range(300):
            if not is_running(server):
                break
            time.sleep(0.1)
        self.assertFalse(is_running(server))
        process.stdout.close()
        process.stderr.close()


if __name__ == "__main__":
    unittest.main()
