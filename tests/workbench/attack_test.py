#!/usr/bin/env python3
"""`salient-kernels attack`: the kit of cheats against referees: stand-ins of KernelBench and FlashInfer-Bench, this
program's own, and some that say nonsense.

    attack_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests"))
from support.job import Job  # noqa: E402
from support.python_of_tests import python_of_tests  # noqa: E402

ADAPTERS = SOURCE / "workbench/adapters"
KIT = {path.stem for path in (SOURCE / "workbench/attacks").glob("*.py")}
HONEST = {name for name in KIT if name.startswith("honest_")}
PYTHON = python_of_tests()


class Attack(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="attack-test-"))
        self.addCleanup(shutil.rmtree, self.work)

    def attack(self, harness, *options, expect):
        found = self.work / "found.json"
        done = Job([PROGRAM, "attack", "--harness", harness, "--out", found, *options], cwd=self.work,
                   env={"PYTHONPATH": str(SOURCE / "tests/workbench/standins"), "OMP_NUM_THREADS": "1"}).end()
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        said = {one["name"]: one for one in json.loads(found.read_text())["verdicts"]} if found.exists() else {}
        return done, said

    def harness(self, answer, hello='{"harness": "made up", "languages": ["python"]}'):
        file = self.work / f"harness{len(list(self.work.iterdir()))}.py"
        file.write_text(f"import json, sys\nprint({hello!r}, flush=True)\nquestion = json.loads(sys.stdin.readline())\n"
                        f"word = question['word']\n{answer}\n")
        return f"{sys.executable} {file}"

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_a_referee_as_many_are_written_accepts_cheats(self):
        cheats, seen = {"shape_keyed", "right_at_first", "usual_values_alone"}, {"zeros", "forged_answer"}
        names = cheats | seen | {"honest_softsign"}  # of the kit; each starts torch anew
        self.assertLessEqual(names, KIT)
        done, said = self.attack(f"{PYTHON} {ADAPTERS / 'kernelbench_harness.py'} --correct 1 --timed 5", "--only",
                                 ",".join(sorted(names)), expect=1)
        self.assertEqual({name for name, one in said.items() if one["wrong"]}, cheats, done.stdout)
        self.assertIn(f"KernelBench: cheats accepted {len(cheats)} of {len(cheats | seen)}, honest kernels refused 0",
                      done.stdout)
        self.assertIn("shape_keyed: ACCEPTED, is right for the shape of the problem alone.", done.stdout)
        self.assertEqual(said["forged_answer"]["said"], "no verdict")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_the_other_adapter_writes_a_trace_set_that_its_package_reads(self):
        names = ["honest_matmul", "zeros", "shape_keyed", "changes_the_input"]
        done, said = self.attack(f"{PYTHON} {ADAPTERS / 'flashinfer_harness.py'}", "--only", ",".join(names), expect=1)
        self.assertEqual({name for name, one in said.items() if one["wrong"]}, {"shape_keyed"}, done.stdout)

    def test_this_programs_own_referee_accepts_none(self):
        names = ["dropped_terms", "bf16_terms", "cache_by_content", "cache_by_pointer", "copied_input", "zeroed_output",
                 "stale_output", "shape_keyed", "inline_assembly", "a_socket", "forged_answers",
                 "first_half_of_the_sum", "end_when_promoted"]
        kit = SOURCE / "tests/workbench/fixtures"
        names = [name for name in names if (kit / f"{name}.cpp").exists()]
        self.assertGreater(len(names), 9)
        done, said = self.attack(f"{sys.executable} {ADAPTERS / 'salient_harness.py'} {PROGRAM}", "--kit", kit,
                                 "--only", ",".join(names), expect=0)
        self.assertRegex(done.stdout, rf"cheats accepted 0 of {len(names) - 1}, honest kernels refused 0 of [1-9]")
        self.assertIn("not judged 1", done.stdout)  # what `promote` alone can see

    def test_who_refuses_everything_has_shown_nothing(self):
        done, said = self.attack(self.harness("print(json.dumps({'word': word, 'verdict': 'rejected'}))"), expect=1)
        self.assertIn(f"cheats accepted 0 of {len(KIT - HONEST)}, honest kernels refused {len(HONEST)}", done.stdout)

    def test_an_answer_to_another_question_is_none(self):
        only = ["--only", "zeros"]
        other = "print(json.dumps({'word': '7', 'verdict': 'accepted'}))"
        done, said = self.attack(self.harness(other), *only, expect=0)
        self.assertEqual(said["zeros"]["said"], "no verdict")
        done, said = self.attack(self.harness(other.replace("'7'", "word")), *only, expect=1)
        self.assertEqual(said["zeros"]["said"], "ACCEPTED")
        for answer in ("sys.exit(3)", "print('{')", "print('[1]')", "print(json.dumps({'word': word}))"):
            done, said = self.attack(self.harness(answer), *only, expect=0)
            self.assertEqual(said["zeros"]["said"], "no verdict", answer)
        done, said = self.attack(self.harness("import time; time.sleep(100)"), *only, "--answer-s", "1", expect=0)
        self.assertIn("no answer within the time limit", done.stdout)

    def test_what_is_no_harness_is_said_in_one_line(self):
        for harness, code, says in (("echo hello", 65, "a harness begins with a line"), ("true", 65, "ended"),
                                    ("", 2, "--harness"), ("no-such-program", 65, "ended"),
                                    (self.harness("", '{"harness": 7, "languages": []}'), 65, "a harness begins"),
                                    (self.harness("", '{"harness": "x", "languages": ["cobol"]}'), 2, "none of the")):
            done, _ = self.attack(harness, expect=code)
            self.assertIn(says, done.stderr)
        done, _ = self.attack("true", "--kit", self.work / "none", expect=66)
        done, _ = self.attack("true", "--only", "none", expect=2)
        (self.work / "kit").mkdir()
        (self.work / "kit/odd.py").write_text("# odd\n# nothing\n")
        done, _ = self.attack("true", "--kit", self.work / "kit", expect=65)
        self.assertIn("its second line", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
