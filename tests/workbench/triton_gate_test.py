#!/usr/bin/env python3
"""The gate on candidates in Triton, without Triton: kernels pass, Python that runs while they are compiled does not.

    triton_gate_test.py SOURCE_FOLDER"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "workbench/python"))
import triton_gate  # noqa: E402  of the folder above

HEAD = "import triton\nimport triton.language as tl\n"
KERNEL = HEAD + "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    {}\n"

# What a source says, and a part of the reason.
OUTSIDE = [
    ("import os\n", "imports are"),
    ("import triton.language\n", "imports are"),
    ("import triton as tl\n", "imports are"),
    ("from triton import jit\n", "ImportFrom outside"),
    ("print(1)\n", "Expr outside"),
    ("N = __import__('os').system('true')\n", "numbers alone"),
    ("N = tl.constexpr(print(1))\n", "numbers alone"),
    ("N, M = 1, 2\n", "numbers alone"),
    ("tl = 3\n", "the name tl"),
    ("range = 3\n", "the name range"),
    ("_a = 3\n", "the name _a"),
    ("class A: pass\n", "ClassDef outside"),
    ("if 1: pass\n", "If outside"),
    ("for i in range(3): pass\n", "For outside"),
    ("def f(): pass\n", "decorator"),
    ("@triton.jit\n@triton.jit\ndef f(): pass\n", "decorator"),
    ("@triton.autotune\ndef f(): pass\n", "decorator"),
    ("@print\ndef f(): pass\n", "decorator"),
    ("@triton.jit\nasync def f(): pass\n", "AsyncFunctionDef outside"),
    ("@triton.jit\ndef f(x=print(1)): pass\n", "a default"),
    ("@triton.jit\ndef f(x: print(1)): pass\n", "type"),
    ("@triton.jit\ndef f() -> print(1): pass\n", "type"),
    ("@triton.jit\ndef f(*x): pass\n", "plain parameters"),
    ("@triton.jit\ndef f(__x): pass\n", "the name __x"),
    ("@triton.jit\ndef len(x): pass\n", "the name len"),
]
INSIDE = [
    ("import os", "Import in a kernel"),
    ("open('/etc/passwd')", "the name open"),
    ("getattr(x, 'y')", "the name getattr"),
    ("eval('1')", "the name eval"),
    ("print(x)", "the name print"),
    ("x.__class__", "the attribute __class__"),
    ("x.handle", "the attribute handle"),
    ("k.fn", "the attribute fn"),
    ("k.src", "the attribute src"),
    ("tl.core", "tl.core"),
    ("tl.extra", "tl.extra"),
    ("tl.device_print('x')", "tl.device_print"),
    ("tl.static_print('x')", "tl.static_print"),
    ("tl.math.core", "the attribute core"),
    ("m = tl", "the name tl"),
    ("m = triton", "the name triton"),
    ("tl = x", "the name tl"),
    ("tl.load = x", "tl.load"),
    ("x.value = 3", "the attribute value"),
    ("(lambda: 1)()", "Lambda in a kernel"),
    ("[i for i in range(3)]", "ListComp in a kernel"),
    ("f'{x}'", "JoinedStr in a kernel"),
    ("with x: pass", "With in a kernel"),
    ("global x", "Global in a kernel"),
    ("del x", "Delete in a kernel"),
    ("def f(): pass", "FunctionDef in a kernel"),
    ("y = (z := x)", "NamedExpr in a kernel"),
    ("yield x", "Yield in a kernel"),
    ("raise x", "Raise in a kernel"),
    ("k(*x)", "Starred in a kernel"),
    ("y: print(1) = 3", "type"),
]


class TritonGate(unittest.TestCase):
    def test_start_kernels_pass(self):
        files = sorted((ROOT / "workbench/cases/kernels").glob("*.py"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            triton_gate.check(file.read_text())

    def test_what_kernels_use_passes(self):
        for line in ("y = tl.load(x + tl.arange(0, B), mask=n > 3, other=0.0)", "n = x.to(tl.float32).sum(axis=0)",
                     "for i in tl.static_range(4): n += i", "while n > 0: n = n // 2",
                     "tl.store(x, tl.where(n > 0, 1.0, -1.0), eviction_policy='evict_first')",
                     "n: tl.constexpr = 3", "y = x.dtype.element_ty", "return", "tl.static_assert(B > 1)"):
            with self.subTest(line=line):
                triton_gate.check(KERNEL.format(line))
        triton_gate.check(HEAD + "N = -3\nM: tl.constexpr = 4\nK = tl.constexpr(5)\n@triton.jit\ndef f(x):\n    "
                          "return x * N\n@triton.jit\ndef k(x):\n    tl.store(x, f(M) + K)\n")

    def test_python_outside_of_kernels_is_refused(self):
        for text, reason in OUTSIDE:
            with self.subTest(text=text), self.assertRaisesRegex(triton_gate.Refused, reason):
                triton_gate.check(HEAD + text)

    def test_python_inside_of_kernels_is_refused(self):
        for line, reason in INSIDE:
            with self.subTest(line=line), self.assertRaisesRegex(triton_gate.Refused, reason):
                triton_gate.check(KERNEL.format(line))

    def test_what_is_no_python_is_a_syntax_error(self):
        with self.assertRaises(SyntaxError):
            triton_gate.check("// launch k grid=1")


if __name__ == "__main__":
    unittest.main()
