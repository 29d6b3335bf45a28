#!/usr/bin/env python3
"""`salient-kernels export`: what it writes is built and called, by PyTorch, Hugging Face's kernels, TVM's interface and
C++. The packages kernels and tvm_ffi take part where the Python with torch has them.

    export_test.py PROGRAM SOURCE_DIR
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests"))
from support.job import Job  # noqa: E402
from support.python_of_tests import python_of_tests  # noqa: E402

KERNELS = SOURCE / "workbench/cases/kernels"
CHECK = SOURCE / "tests/workbench/export_check.py"
PYTHON = python_of_tests()
SUMS_CASE = """case sums
class reduction
| out = sum of x
reference formula
formula out[i] = sum(t, 0, n, x[t])
dims n
buffer x f32 in n
buffer out f32 out 1
bound 4
bytes 4*n
flops n
exponents -20 20
start host sums.cpp
public n=3000
edge n=1
hidden n=1..500
"""
SUMS = """// sums.cpp - parts of a sum in scratch, then their sum.
// param PART=64 values=32,64
// scratch parts f32 ceil(n, PART)
// launch first grid=ceil(n, PART) smem=64
// launch second grid=1
#include "workbench_kernel.h"
static void check() {}
extern "C" void first(WorkbenchBlock block, const float* x, float* out, long long n, float* parts) {
  check();
  float sum = 0;
  for (long long i = block.x * PART; i < n && i < (block.x + 1) * PART; ++i) sum += x[i];
  parts[block.x] = sum;
}
extern "C" void second(WorkbenchBlock block, const float* x, float* out, long long n, float* parts) {
  float sum = 0;
  for (long long i = 0; i < (n + PART - 1) / PART; ++i) sum += parts[i];
  out[0] = sum;
}
"""
MAIN = """#include "softsign_library.h"
#include <cmath>
#include <cstdio>
int main() {
  float x[5] = {1, -2, 3, 0, -0.5f}, out[5];
  void* const buffers[] = {x, out};
  std::int64_t n = 5;
  char message[256] = "";
  if (salient_softsign(buffers, &n, nullptr, message) != 0) return 3;
  for (int i = 0; i < 5; ++i)
    if (std::fabs(out[i] - x[i] / (1 + std::fabs(x[i]))) > 1e-6f) return 4;
  n = std::int64_t{1} << 40;
  return salient_softsign(buffers, &n, nullptr, message) == 1 ? std::puts(message), 0 : 5;
}
"""


class Export(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="export-test-"))
        self.addCleanup(shutil.rmtree, self.work)

    def run_it(self, *args, expect=0, program=PROGRAM):
        done = Job([program, *args], cwd=self.work, env={"XDG_CACHE_HOME": str(self.work / "cache")}).end()
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def export(self, case, kernel, kind, *options, expect=0):
        return self.run_it("export", case, kernel, "--as", kind, "--backend", "host", "--out", self.work / "out",
                           *options, expect=expect)

    def check(self, kind):
        done = self.run_it(CHECK, kind, self.work / "out", "cpu", program=PYTHON)
        self.assertEqual(done.stdout.splitlines()[-1], "ok")
        return done

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_an_operator_of_torch_with_a_fake_kernel_and_gradients(self):
        self.assertIn("with gradients", self.export("gather_mean", KERNELS / "gather_mean.cpp", "torch").stdout)
        self.check("gather_mean")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_the_best_kernel_of_a_run(self):
        self.run_it("export", SOURCE / "workbench/examples/matmul-host", "--out", self.work / "out")
        best = (SOURCE / "workbench/examples/matmul-host/best.cpp").read_text()
        self.assertEqual((self.work / "out/matmul_f32/matmul_f32.cpp").read_text(), best)
        self.check("matmul_f32")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_buffers_that_are_read_and_written(self):
        self.export("fused_add_rmsnorm", KERNELS / "fused_add_rmsnorm.cpp", "torch")
        self.check("fused_add_rmsnorm")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_scratch_parameters_and_several_launches(self):
        (self.work / "own/kernels").mkdir(parents=True)
        (self.work / "own/sums.case").write_text(SUMS_CASE)
        (self.work / "own/kernels/sums.cpp").write_text(SUMS)
        self.export(self.work / "own/sums.case", self.work / "own/kernels/sums.cpp", "torch")
        self.check("sums")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_a_folder_that_hugging_faces_kernels_loads(self):
        self.export("softsign", KERNELS / "softsign.cpp", "kernels")
        self.assertTrue((self.work / "out/build/torch-cpu/metadata.json").exists())
        self.check("kernels")
        for path in (self.work / "out").rglob("*.so"):  # one that came from elsewhere is built here, in a cache
            path.unlink()
        (self.work / "out/build/torch-cpu").chmod(0o555)
        self.check("kernels")

    @unittest.skipUnless(PYTHON, "no Python with torch")
    def test_a_function_of_tvms_interface(self):
        self.export("softsign", KERNELS / "softsign.cpp", "tvm-ffi")
        text = (self.work / "out/softsign/softsign_tvm_ffi.cpp").read_text()
        self.assertIn("TVM_FFI_DLL_EXPORT_TYPED_FUNC(softsign, salient::exported::call);", text)
        if subprocess.run([PYTHON, "-c", "import tvm_ffi"], capture_output=True).returncode != 0:
            self.skipTest("no package tvm_ffi: written, not called")
        self.check("tvm_ffi")

    def test_a_library_for_cpp(self):
        self.export("softsign", KERNELS / "softsign.cpp", "cpp")
        (self.work / "main.cpp").write_text(MAIN)
        self.run_it("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Iout", "main.cpp", "out/softsign_library.cpp", "-o",
                    "main", "-march=x86-64-v3", program="g++")
        self.assertIn("the largest that was tried", self.run_it(program=self.work / "main").stdout)

    @unittest.skipUnless(shutil.which("nvcc", path="/usr/local/cuda/bin"), "no nvcc")
    def test_a_kernel_for_a_gpu_compiles(self):
        out = self.work / "out"
        for name in ("gatv2_backward-astra", "gelu-cutegen"):
            if not (SOURCE / "workbench/results" / name).exists() and name != "gelu-cutegen":
                continue
            self.run_it("export", name, "--as", "cpp", "--out", out / name)
            case = name.split("-")[0]
            self.run_it("-std=c++20", "-arch=sm_90a", "-c", out / name / f"{case}_library.cu", "-o", out / "it.o",
                        program="/usr/local/cuda/bin/nvcc")

    def test_what_cannot_be_exported_is_said_in_one_line(self):
        (self.work / "wrong.cpp").write_text((KERNELS / "softsign.cpp").read_text().replace("1.0f", "1.1f"))
        self.assertIn("INCORRECT", self.export("softsign", self.work / "wrong.cpp", "torch", expect=65).stderr)
        self.assertFalse((self.work / "out").exists())
        for words, code in ((["export"], 2), (["export", "a", "b", "c", "--out", "x"], 2), (["export", "a"], 2),
                            (["export", "nothing", "--out", "x"], 66),
                            (["export", "gelu-cutegen", "--as", "wheel", "--out", "x"], 2),
                            (["export", "gelu-cutegen", "--out", self.work], 2)):
            self.run_it(*words, expect=code)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
