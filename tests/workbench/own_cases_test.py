#!/usr/bin/env python3
"""Cases of one's own: from somebody's source to a verdict in one command, and what can be done with such a case.

    own_cases_test.py PROGRAM SOURCE_DIR
"""
import array
import json
import pathlib
import shlex
import shutil
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests"))
from support.job import Job  # noqa: E402

STRANGERS = SOURCE / "tests/workbench/strangers"
MEANS = ["--from", STRANGERS / "row_means.cpp", "--kernel", "row_means", "--set", "scale=2.0f",
         "--buffers", "means=rows; values=rows*width", "--shapes", "rows=300 width=20"]
FORMULA = ["--formula", "means[i] = 2 * sum(j, 0, width, values[i*width+j]) / max(width, 1)"]
QUICK = ["--backend", "host", "--samples", "4", "--rounds", "1", "--repairs", "0"]


class OwnCases(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="own-cases-test-"))
        self.addCleanup(shutil.rmtree, self.work)

    def run_it(self, *args, expect=0, answers=None):
        command = [PROGRAM, *args]
        if answers is not None:
            words = shlex.join(map(str, command))
            command = ["/bin/sh", "-c", f"printf '%s\\n' {shlex.join(answers)} | {words}"]
        done = Job(command, cwd=self.work).end()
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def test_from_a_strangers_source_to_a_verdict_in_one_command(self):
        done = self.run_it("new", "row_means", *MEANS, *FORMULA, "--out", "own")
        self.assertIn("ACCEPTED", done.stdout)
        self.assertIn("left out of row_means.cpp: main", done.stdout)
        self.assertIn("ACCEPTED", self.run_it("check", "own/row_means.case", "own/kernels/row_means.cpp", "--backend",
                                              "host").stdout)
        self.run_it("new", "row_means", *MEANS, *FORMULA, "--out", "own", expect=2)  # is there already

    def test_a_wrong_kernel_of_theirs_is_refused(self):
        wrong = [FORMULA[0], FORMULA[1].replace("2 *", "2.5 *")]
        self.assertIn("INCORRECT", self.run_it("new", "row_means", *MEANS, *wrong, expect=1).stdout)
        text = (STRANGERS / "row_means.cpp").read_text()
        for old, new, verdict in (("j < width; ++j", "j + 1 < width; ++j", "INCORRECT"),
                                  ("i < rows; ++i) means", "i + 1 < rows; ++i) means", "UNWRITTEN"),
                                  ("i < rows; ++i) means", "i <= rows; ++i) means", "OUT_OF_BOUNDS"),
                                  ("= kNothing;", "= 0; static int calls; sum += 0 * calls++;", "STATIC_REJECT")):
            self.assertIn(old, text)
            (self.work / "theirs.cpp").write_text(text.replace(old, new))
            with self.subTest(new=new):
                done = self.run_it("new", "row_means", "--from", "theirs.cpp", *MEANS[2:], *FORMULA, "--out", verdict,
                                   expect=1)
                self.assertIn(verdict, done.stdout)

    def test_a_python_file_is_the_reference(self):
        shutil.copy(STRANGERS / "means.py", self.work)
        done = self.run_it("new", "row_means", *MEANS, "--reference", "means.py", "--out", "own")
        self.assertIn("ACCEPTED", done.stdout)
        self.assertIn("reference python ../means.py", (self.work / "own/row_means.case").read_text())
        (self.work / "means.py").write_text((STRANGERS / "means.py").read_text().replace("2 *", "3 *"))
        done = self.run_it("check", "own/row_means.case", "own/kernels/row_means.cpp", "--backend", "host", expect=1)
        self.assertIn("INCORRECT", done.stdout)
        (self.work / "means.py").write_text("def reference(values):\n    raise ValueError('not today')\n")
        done = self.run_it("check", "own/row_means.case", "own/kernels/row_means.cpp", "--backend", "host", expect=65)
        self.assertIn("ValueError: not today", done.stderr)

    def test_terms_that_cancel_do_not_hide_the_errors_of_others(self):
        """8 + 1e-9 - 8 is 0 in f32: errors of 8 and -8 that were equal, as signs alone often are, would refuse that."""
        sys.path.insert(0, str(SOURCE / "workbench/python"))
        import reference_server as server
        (self.work / "sums.py").write_text("def reference(values):\n    return [sum(values)]\n")
        one = server.Server(self.work / "sums.py", "reference")
        for seed in range(500):
            one.kind.seed(seed)
            values = one.kind.make(array.array("d", [8.0, 1e-9, -8.0]))
            scale = one.estimate({"sums": [1e-9]}, {"values": values}, set(), {}, {"sums": 1})["sums"][0]
            self.assertGreater(64 * server.UNIT * scale, 1e-9, seed)

    def test_what_is_not_said_is_asked(self):
        answers = ["row_means", "rows", "rows*width", FORMULA[1], "rows=300 width=20"]
        done = self.run_it("new", "row_means", *MEANS[:2], *MEANS[4:6], answers=answers)
        self.assertIn("ACCEPTED", done.stdout)
        self.assertIn("which kernel? row_means, fill", done.stderr)
        done = self.run_it("new", "row_means", *MEANS[:2], *MEANS[4:6], "--out", "other", answers=answers[:2], expect=2)
        self.assertIn("--buffers: is needed", done.stderr)
        self.assertFalse((self.work / "other").exists())

    def test_every_verb_takes_the_file(self):
        self.run_it("new", "row_means", *MEANS, "--reference", STRANGERS / "means.py", "--out", "own")
        kernel = (self.work / "own/kernels/row_means.cpp").read_text()
        answer = self.work / "answer.md"
        answer.write_text("```cpp\n" + kernel.replace("int j = 0; j < width; ++j", "int j = width - 1; j >= 0; --j")
                          + "```\n")
        done = self.run_it("bench", "own/row_means.case", "own/kernels/row_means.cpp", *QUICK)
        self.assertIn("NOISE", done.stdout)
        done = self.run_it("optimize", "own/row_means.case", "--method", "single", "--generator", "command",
                           "--command", f"cat {answer}", *QUICK, "--out", "run")
        self.assertIn("candidates 1", done.stdout)
        self.assertIn("reproduced", self.run_it("replay", "run", "--compile").stdout)
        self.run_it("verify-ledger", "run")
        self.run_it("report", "run")

    def test_a_run_goes_on_with_the_reference_that_it_began_with(self):
        shutil.copy(STRANGERS / "means.py", self.work)
        self.run_it("new", "row_means", *MEANS, "--reference", "means.py", "--out", "own")
        self.run_it("optimize", "own/row_means.case", "--generator", "folder", *QUICK, "--out", "run", expect=3)
        self.run_it("advance", "run", expect=3)
        with (self.work / "means.py").open("a") as file:
            file.write("# other\n")
        self.assertIn("not the reference", self.run_it("advance", "run", expect=65).stderr)

    def test_a_start_kernel_that_is_refused_leaves_no_run(self):
        self.run_it("new", "row_means", *MEANS, *FORMULA, "--out", "own")
        kernel = self.work / "own/kernels/row_means.cpp"
        kernel.write_text(kernel.read_text().replace("2.0f", "3.0f"))
        done = self.run_it("optimize", "own/row_means.case", "--generator", "command", "--command", "true", *QUICK,
                           "--out", "run", expect=65)
        self.assertIn("the start kernel is rejected: INCORRECT", done.stderr)
        self.assertFalse((self.work / "run").exists())

    def test_a_source_for_a_gpu_is_cut_and_launched_as_it_says(self):
        formula = ["--formula", "y[i] = x[i] / (1 + abs(x[i]))"]
        done = Job([PROGRAM, "new", "soft", "--from", STRANGERS / "softsign.cu", "--kernel", "softsign", *formula,
                    "--shapes", "n=1000000", "--out", "own"], cwd=self.work).end()
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)  # 3: no GPU
        text = (self.work / "own/kernels/soft.cu").read_text()
        self.assertIn("// launch soft_kernel block=256 grid=(n+256-1)/256\n", text.replace("(256)", "256"))
        self.assertIn("extern \"C\" __global__ void __launch_bounds__(256) soft_kernel(float* y, const float* x, "
                      "long long n) {\n  activations::softsign(y, x, n);", text)
        for word in ("main", "cudaMalloc", "unused", "<<<"):
            self.assertNotIn(word, text)
        formula = ["--formula", "C[i < M, j < N] = sum(t, 0, K, A[i*K+t] * B[t*N+j])"]
        done = Job([PROGRAM, "new", "tiles", "--from", STRANGERS / "matmul_tiles.cu", *formula, "--template", "16",
                    "--buffers", "A=M*K; B=K*N; C=M*N", "--shapes", "M=512 N=512 K=512", "--out", "own"],
                   cwd=self.work).end()
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        text = (self.work / "own/kernels/tiles.cu").read_text()
        self.assertIn("// launch tiles_kernel block=16 block_y=16 grid=(N+15)/16 grid_y=(M+15)/16\n", text)
        self.assertIn("matmul_tiles<16>(A, B, C, M, N, K);", text)
        self.assertIn("mean 2\n", (self.work / "own/tiles.case").read_text())

    def test_what_cannot_be_a_case_is_said_in_one_line(self):
        cu = self.work / "odd.cu"
        cu.write_text("__global__ void wide(const float4* x, double* y, int n, float a) {}\n"
                      "__global__ void scaled(float* y, int n, float a) {}\n__global__ void none(int n) {}\n")
        (self.work / "open.cpp").write_text("void f(float* x, int n) {\n")
        new = ["new", "mine", "--from"]
        soft = [*new, STRANGERS / "softsign.cu", "--kernel", "softsign"]
        for words, code, says in (
                (["new"], 2, "new NAME --from FILE"), (["new", "Mine", "--from", cu], 2, "small letters"),
                (["new", "mine"], 2, "--from"), ([*new, "missing.cu"], 66, "missing.cu"),
                ([*new, cu, "--kernel", "wide"], 65, "float4"), ([*new, cu, "--kernel", "scaled"], 65, "--set a=VALUE"),
                ([*new, cu, "--kernel", "none"], 65, "no buffer"), ([*new, cu, "--kernel", "other"], 2, "wide, scaled"),
                ([*new, "open.cpp"], 65, "does not close"), ([*soft, "--set", "q=1"], 2, "no such parameter"),
                ([*soft, "--buffers", "z=n"], 2, "no buffer z"), ([*soft, "--buffers", "x=n*q"], 2, "unknown name"),
                ([*soft, "--backend", "host"], 2, "CUDA ends with .cu"),
                ([*soft, "--formula", "y[i] = q", "--shapes", "n=5"], 65, "unknown name 'q'"),
                ([*soft, "--formula", "y[i] = 1", "--shapes", "m=5"], 2, "does not say n"),
                ([*soft, "--reference", "none.py"], 66, "none.py"),
                ([*new, STRANGERS / "matmul_tiles.cu"], 2, "--template")):
            with self.subTest(words=words):
                done = self.run_it(*words, expect=code)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.strip().count("error:"), 1)
                self.assertFalse(list(self.work.glob("*.case")))
        (self.work / "mine.case").write_text("case other\n")
        self.run_it("check", "mine.case", "open.cpp", "--backend", "host", expect=65)
        self.run_it("check", "absent.case", "open.cpp", "--backend", "host", expect=66)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
