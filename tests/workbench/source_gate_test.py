#!/usr/bin/env python3
"""The gate on candidates in Python, without their languages: kernels pass, what runs while they are compiled does not.

    source_gate_test.py SOURCE_FOLDER"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "workbench/python"))
import source_gate  # noqa: E402  of the folder above

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


# Whole candidates of the other languages, in whose kernel a line is put, and lines that are refused there.
OTHERS = {
    "cute-dsl": ("import cutlass\nimport cutlass.cute as cute\n@cute.kernel\n"
                 "def k(x: cute.Pointer, n: cutlass.Int64):\n"
                 "    i, _, _ = cute.arch.thread_idx()\n    {}\n",
                 [("cute.arch.load(x)", None), ("cute.arch.inline_asm(x)", "the attribute inline_asm"),
                  ("cute.compile(k)", "cute.compile"), ("cutlass.base_dsl", "cutlass.base_dsl"),
                  ("cute.printf('a')", "cute.printf"), ("m = cute", "the name cute"),
                  ("x._trait", "the attribute _trait"),
                  ("with x: pass", "With in a kernel"), ("open(x)", "the name open")]),
    "tilelang": ("import tilelang.language as T\nn = T.dynamic('n', 'int64')\n@T.prim_func\n"
                 "def k(x: T.Tensor((n,), 'float32')):\n    with T.Kernel(1, threads=32) as b:\n        {}\n",
                 [("T.gemm(x, x, x)", None), ("T.call_extern('handle', 'f')", "T.call_extern"),
                  ("T.import_source('a')", "T.import_source"), ("x.data", "the attribute data"),
                  ("T.reduce_sum(x, 'a b;c')", "a text that is no word"), ("T.print(x)", "T.print"),
                  ("f = T", "the name T")]),
    "cutile": ("import cuda.tile as ct\n@ct.kernel\ndef k(x, n, B: ct.Constant[int]):\n    {}\n",
               [("y = ct.load(x, index=(0,), shape=(B,))", None), ("ct.printf('a')", "ct.printf"),
                ("ct.launch(0, k)", "ct.launch"), ("x.__init__", "the attribute __init__"),
                ("ct.compilation.export_kernel(k)", "the attribute export_kernel|ct.compilation"),
                ("import os", "Import in a kernel")]),
}
TYPES = ["'open(1)'", "ct.Constant['open(1)']", "open", "(lambda: 1)()"]


def language_of(file):
    return re.search(r"^# language (\S+)$", file.read_text(), re.M).group(1)


CONSTANTS = {"BLOCK", "TILE", "ROWS", "COLUMNS", "DEPTH", "THREADS"}  # of params


def check(source):
    source_gate.check("triton", source)


class SourceGate(unittest.TestCase):
    def test_start_kernels_pass(self):
        files = sorted((ROOT / "workbench/cases/kernels").glob("*.py"))
        self.assertGreaterEqual(len(files), 6)
        self.assertEqual({language_of(file) for file in files}, {"triton", *OTHERS})
        for file in files:
            source_gate.check(language_of(file), file.read_text(), CONSTANTS)

    def test_what_kernels_use_passes(self):
        for line in ("y = tl.load(x + tl.arange(0, B), mask=n > 3, other=0.0)", "n = x.to(tl.float32).sum(axis=0)",
                     "for i in tl.static_range(4): n += i", "while n > 0: n = n // 2",
                     "tl.store(x, tl.where(n > 0, 1.0, -1.0), eviction_policy='evict_first')",
                     "n: tl.constexpr = 3", "y = x.dtype.element_ty", "return", "tl.static_assert(B > 1)"):
            with self.subTest(line=line):
                check(KERNEL.format(line))
        check(HEAD + "N = -3\nM: tl.constexpr = 4\nK = tl.constexpr(5)\n@triton.jit\ndef f(x):\n    "
                          "return x * N\n@triton.jit\ndef k(x):\n    tl.store(x, f(M) + K)\n")

    def test_python_outside_of_kernels_is_refused(self):
        for text, reason in OUTSIDE:
            with self.subTest(text=text), self.assertRaisesRegex(source_gate.Refused, reason):
                check(HEAD + text)

    def test_python_inside_of_kernels_is_refused(self):
        for line, reason in INSIDE:
            with self.subTest(line=line), self.assertRaisesRegex(source_gate.Refused, reason):
                check(KERNEL.format(line))

    def test_other_languages_take_their_own_words_alone(self):
        for language, (text, lines) in OTHERS.items():
            for line, reason in lines:
                with self.subTest(language=language, line=line):
                    if reason is None:
                        source_gate.check(language, text.format(line))
                        continue
                    with self.assertRaisesRegex(source_gate.Refused, reason):
                        source_gate.check(language, text.format(line))

    def test_types_of_parameters_are_no_texts_and_no_code(self):
        text = OTHERS["cutile"][0].format("pass")
        for kind in TYPES:
            with self.subTest(kind=kind), self.assertRaises(source_gate.Refused):
                source_gate.check("cutile", text.replace("ct.Constant[int]", kind))

    def test_a_param_is_a_constant_where_the_language_says_so(self):
        text = OTHERS["cutile"][0].format("y = ct.zeros((TILE,), ct.float32)")
        source_gate.check("cutile", text, {"TILE"})
        with self.assertRaisesRegex(source_gate.Refused, "the name TILE"):
            source_gate.check("cutile", text)

    def test_what_is_no_python_is_a_syntax_error(self):
        with self.assertRaises(SyntaxError):
            check("// launch k grid=1")


if __name__ == "__main__":
    unittest.main()
