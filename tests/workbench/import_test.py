#!/usr/bin/env python3
"""`salient-kernels import`: problems in the form of KernelBench, FlashInfer-Bench and SOL-ExecBench become cases that
judge kernels. The problems are of this test, made in the forms of those suites.

    import_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import resource
import shutil
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests"))
from support.job import Job  # noqa: E402
from support.python_of_tests import python_of_tests  # noqa: E402

PYTHON = python_of_tests()
MODULE = """import torch


class Model(torch.nn.Module):
    def __init__(self{arguments}):
        super().__init__()
{state}
    def forward(self, {inputs}):
        {forward}


def get_inputs():
    return [{made}]


def get_init_inputs():
    return [{init}]
"""


def module(forward, made, inputs="x", arguments="", state="        pass\n", init=""):
    return MODULE.format(forward=forward, made=made, inputs=inputs, arguments=arguments, state=state, init=init)


MODULES = {
    "1_layer.py": module("return torch.sigmoid(self.linear(x)) * self.scale", "torch.rand(10, 16)",
                         arguments=", features, scale", init="16, 2.0",
                         state="        self.linear = torch.nn.Linear(features, 24)\n        self.scale = scale\n"),
    "2_product.py": module("return a @ b", "torch.rand(8, 32), torch.rand(32, 4)", inputs="a, b"),
    "3_scaled_in_place.py": module("return x.mul_(3)", "torch.rand(100)"),
    "4_two_results.py": module("return x.max(dim=1)", "torch.rand(6, 50)"),
    "5_labels.py": module("return torch.nn.functional.cross_entropy(x, y)",
                          "torch.randn(12, 7), torch.randint(0, 7, (12,))", inputs="x, y"),
    "6_norm.py": module("return self.norm(x)", "torch.rand(4, 8, 6)",
                        state="        self.norm = torch.nn.BatchNorm1d(8)\n"),
    "7_wide.py": module("return torch.relu(x)", "torch.rand(3, 2**28)"),
    "dropout.py": module("return torch.nn.functional.dropout(x)", "torch.rand(9)"),
    "state.py": module("return x + self.table", "torch.rand(9)",
                       state="        self.register_buffer('table', torch.rand(9))\n"),
    "mask.py": module("return x > 0", "torch.rand(9)"),
    "large.py": module("return x + y", "*[torch.empty(1, 1).expand(2**17, 2**16)] * 2", inputs="x, y"),
    "broken.py": "import torch\n\n\nclass Model(torch.nn.Module:\n",
    "raises.py": module("return x.absent", "torch.rand(9)"),
    "other.py": "print('hello')\n", "numpy_like.py": module("return x.numpy() * 2", "torch.rand(9)"),
    "lists.py": module("return x[0]", "[torch.rand(9)]")}
REASONS = {"dropout.py": "its result is random", "state.py": "a state of its own, table", "mask.py": "is of bool",
           "large.py": "GiB, a case has 16 at most", "broken.py": "SyntaxError", "raises.py": "AttributeError",
           "other.py": "it has no Model", "numpy_like.py": "its code fails", "lists.py": "an input is a list"}
LAYER = """// launch layer grid=1
#include <cmath>
#include "workbench_kernel.h"
extern "C" void layer(WorkbenchBlock block, const float* x, const float* w, const float* b, float* y, long long n) {
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 24; ++j) {
      float sum = b[j];
      for (int t = 0; t < TERMS; ++t) sum += x[i * 16 + t] * w[j * 16 + t];
      y[i * 24 + j] = 2 / (1 + std::exp(-sum));
    }
}
"""
SCALED = """// launch scaled grid=1
#include "workbench_kernel.h"
extern "C" void scaled(WorkbenchBlock block, float* x, long long n) {
  for (long long i = 0; i < n; ++i) x[i] *= FACTOR;
}
"""
RMSNORM = """// launch norm grid=rows
#include <cmath>
#include "workbench_kernel.h"
extern "C" void norm(WorkbenchBlock block, const half* x, const half* weight, half* out, long long rows) {
  const long long i = block.x;
  float sum = 0;
  for (int j = 0; j < 64; ++j) sum += float(x[i * 64 + j]) * float(x[i * 64 + j]);
  const float scale = 1 / std::sqrt(sum / 64 + EPS);
  for (int j = 0; j < 64; ++j) out[i * 64 + j] = half(float(x[i * 64 + j]) * scale * float(weight[j]));
}
"""
DEFINITION = {
    "name": "rmsnorm_h64", "op_type": "rmsnorm",
    "axes": {"rows": {"type": "var"}, "hidden": {"type": "const", "value": 64}},
    "inputs": {"x": {"shape": ["rows", "hidden"], "dtype": "float16"},
               "weight": {"shape": ["hidden"], "dtype": "float16"},
               "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"out": {"shape": ["rows", "hidden"], "dtype": "float16"}},
    "reference": "import torch\n\ndef run(x, weight, eps):\n    wide = x.to(torch.float32)\n"
                 "    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)\n"
                 "    return (wide * scale * weight.float()).to(torch.float16)\n"}


def workload(rows, eps=0.01):
    return {"uuid": str(rows), "axes": {"rows": rows},
            "inputs": {"x": {"type": "random"}, "weight": {"type": "random"}, "eps": {"type": "scalar", "value": eps}}}


@unittest.skipUnless(PYTHON, "no Python with torch")
class Import(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="import-test-"))
        self.addCleanup(shutil.rmtree, self.work)

    def run_it(self, *args, expect=0):
        done = Job([PROGRAM, *args, "--python", PYTHON], cwd=self.work, env={"OMP_NUM_THREADS": "1"}).end()
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def check(self, case, source, expect):
        (self.work / "candidate.cpp").write_text(source)
        done = self.run_it("check", self.work / f"cases/{case}.case", "candidate.cpp", "--backend", "host",
                           expect=0 if expect == "ACCEPTED" else 1)
        self.assertIn(f"candidate.cpp: {expect}", done.stdout)

    def put(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_inputs_of_floats_are_not_computed(self):
        self.put("theirs/wide.py", MODULES["7_wide.py"])
        self.run_it("import", "kernelbench", "theirs", "--out", "cases")
        self.assertIn("buffer x0 f32 in 805306368\n", (self.work / "cases/wide.case").read_text())
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 2 * 2**20, "KiB; the inputs are 3 GiB")

    def test_modules_with_get_inputs(self):
        for name, text in MODULES.items():
            self.put(f"theirs/{name}", text)
        done = self.run_it("import", "kernelbench", "theirs", "--out", "cases")
        self.assertIn(f"imported 7 of {len(MODULES)}", done.stdout)
        for name, reason in REASONS.items():
            self.assertRegex(done.stdout, rf"theirs/{name}: not imported, .*{reason}")
        text = (self.work / "cases/p1_layer.case").read_text()
        for line in ("buffer x0 f32 in 160", "buffer w_linear_weight f32 in 384", "buffer y0 f32 out 240",
                     "reference python p1_layer.py", "public n=240"):
            self.assertIn(line + "\n", text)
        self.assertIn("buffer x0 f32 inout 100\n", (self.work / "cases/p3_scaled_in_place.case").read_text())
        self.assertNotIn(" out ", (self.work / "cases/p3_scaled_in_place.case").read_text().split("buffer", 1)[1])
        self.assertIn("buffer y1 i32 out 6\n", (self.work / "cases/p4_two_results.case").read_text())
        self.assertIn("buffer x1 i32 in 12 index 7\n", (self.work / "cases/p5_labels.case").read_text())
        self.assertIn("flops 2048\n", (self.work / "cases/p2_product.case").read_text())
        self.check("p1_layer", LAYER.replace("TERMS", "16"), "ACCEPTED")
        self.check("p1_layer", LAYER.replace("TERMS", "15"), "INCORRECT")
        self.check("p3_scaled_in_place", SCALED.replace("FACTOR", "3"), "ACCEPTED")
        self.check("p3_scaled_in_place", SCALED.replace("FACTOR", "3.5f"), "INCORRECT")
        done = self.run_it("import", "kernelbench", "theirs/2_product.py", "--out", "cases", expect=1)
        self.assertIn("is there already", done.stdout)

    def test_a_definition_with_workloads(self):
        self.put("trace/definitions/rmsnorm/rmsnorm_h64.json", json.dumps(DEFINITION))
        self.put("trace/workloads/rmsnorm/rmsnorm_h64.jsonl", "".join(
            json.dumps({"definition": "rmsnorm_h64", "solution": None, "workload": workload(rows)}) + "\n"
            for rows in (5, 33)))
        inputs = {**DEFINITION["inputs"], "ids": {"shape": ["rows"], "dtype": "int32"}}
        other = {**DEFINITION, "name": "other", "inputs": inputs}
        self.put("trace/definitions/other.json", json.dumps(other))
        self.put("trace/workloads/other.jsonl", json.dumps({"workload": workload(5)}) + "\n")
        self.put("trace/definitions/quantised.json", json.dumps(
            {**DEFINITION, "name": "quantised", "outputs": {"out": {"shape": ["rows"], "dtype": "float8_e4m3"}}}))
        self.put("trace/workloads/quantised.jsonl", json.dumps({"workload": workload(5)}) + "\n")
        self.put("trace/definitions/half.json", "{")
        done = self.run_it("import", "flashinfer", "trace", "--out", "cases")
        for says in ("imported 1 of 4", "other.json: not imported, ids: it is not said what its numbers point into",
                     "quantised.json: not imported, .*float8_e4m3", "half.json: not imported, its code fails"):
            self.assertRegex(done.stdout, says)
        text = (self.work / "cases/rmsnorm_h64.case").read_text()
        self.assertIn("buffer x f16 in rows*64\n", text)
        self.assertIn("public rows=5\npublic rows=33\n", text)
        self.check("rmsnorm_h64", RMSNORM.replace("EPS", "0.01f"), "ACCEPTED")
        self.check("rmsnorm_h64", RMSNORM.replace("EPS", "0.2f"), "INCORRECT")

    def test_a_problem_of_sol(self):
        theirs = {**DEFINITION, "name": "sol_norm"}
        self.put("sol/001_norm/reference.py", theirs.pop("reference"))
        self.put("sol/001_norm/definition.json", json.dumps(theirs))
        self.put("sol/001_norm/workload.jsonl", json.dumps(workload(9)) + "\n")
        self.put("sol/002/definition.json", json.dumps({**theirs, "name": "b", "custom_inputs_entrypoint": "make"}))
        self.put("sol/002/workload.jsonl", json.dumps(workload(9)) + "\n")
        done = self.run_it("import", "sol", "sol", "--out", "cases")
        self.assertIn("imported 1 of 2", done.stdout)
        self.assertIn("its inputs are made by code of its own", done.stdout)
        self.check("sol_norm", RMSNORM.replace("EPS", "0.01f"), "ACCEPTED")

    def test_what_cannot_be_read_is_said_in_one_line(self):
        for words, code, says in ((["import"], 2, "import kernelbench"),
                                  (["import", "other", "x", "--out", "y"], 2, "import kernelbench"),
                                  (["import", "kernelbench", "absent", "--out", "y"], 66, "no such file"),
                                  (["import", "kernelbench", self.work], 2, "--out")):
            self.assertIn(says, self.run_it(*words, expect=code).stderr)
        done = Job([PROGRAM, "import", "kernelbench", self.work, "--out", "y", "--python", "/bin/false"],
                   cwd=self.work).end()
        self.assertEqual(done.returncode, 66)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
