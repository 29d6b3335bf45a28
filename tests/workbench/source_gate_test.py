#!/usr/bin/env python3
"""The gate on candidates in Python, without their languages: kernels pass, what runs while they are compiled does not.

    source_gate_test.py SOURCE_FOLDER"""
import inspect
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "workbench/python"))
import lowering  # noqa: E402  of the folder above
import source_gate  # noqa: E402

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
    ("X: __import__('os').system('true') = 3\n", "a type is"),
    ("X: 'tl.constexpr' = 3\n", "a type is"),
    ("X = b'a'\n", "a constant is"),
    ("X = 1j\n", "a constant is"),
    ("@triton.jit\ndef f(x=b'a'): pass\n", "a constant is"),
    ("b'a'\n", "Expr outside"),
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
    ("y = b'a'", "a constant is"),
    ("k(**x)", r"the argument \*\*"),
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
                  ("T.reduce_sum(x, b'a b;c')", "a constant is"), ("T.copy(x, **x)", r"the argument \*\*"),
                  ("with T.Kernel(1, prelude='a') as c: pass", "the argument prelude"),
                  ("x[..., None] = True", None),
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

    def test_no_text_but_words_lies_outside_of_a_kernels_lines(self):
        text = OTHERS["tilelang"][0].format("pass")
        for old, new, reason in (
                ("n = T.", "S = 'any; text'\nn = T.", "a text that is no word"),
                ("n = T.", "S = b'text'\nn = T.", "a constant is"),
                ("n = T.", "S: open('x') = 3\nn = T.", "the name open"),
                ("dynamic('n'", "dynamic('n); f(m'", "a text that is no word"),
                ("'float32')", "'float32'), a='any ; text'", "a text that is no word"),
                ("'float32')", "'float32'), a=b'text'", "a constant is"),
                ("'float32')", "'float 32;')", "a text that is no word")):
            with self.subTest(new=new), self.assertRaisesRegex(source_gate.Refused, reason):
                source_gate.check("tilelang", text.replace(old, new, 1))
        source_gate.check("tilelang", text.replace("n = T.", "S = 'local.var'\nn = T.", 1))

    def test_a_text_of_type_parameters_is_refused(self):
        function = "@triton.jit\ndef f(x): pass\n"
        tree = source_gate.ast.parse(HEAD + function)
        tree.body[-1].type_params = [source_gate.ast.Name("T")]  # def f[T](x), of Python 3.12
        with self.assertRaisesRegex(source_gate.Refused, "type parameters"):
            source_gate.Gate(source_gate.WORDS["triton"], ()).check_module(tree)

    def test_a_param_is_a_constant_where_the_language_says_so(self):
        text = OTHERS["cutile"][0].format("y = ct.zeros((TILE,), ct.float32)")
        source_gate.check("cutile", text, {"TILE"})
        with self.assertRaisesRegex(source_gate.Refused, "the name TILE"):
            source_gate.check("cutile", text)

    def test_what_is_no_python_is_a_syntax_error(self):
        with self.assertRaises(SyntaxError):
            check("// launch k grid=1")


# Triton looks for "def NAME(" at the begin of a line of the text that Python says is the function's.
HIDDEN = HEAD + '@triton.jit\ndef \\\n    k(x):\n    """a text\ndef k(x):\n    x.__class__\n    """\n    return x + N\n'


class Lowering(unittest.TestCase):
    """What is judged is what compilers read and what runs, with a stand-in for Triton."""

    def setUp(self):
        language = types.ModuleType("triton.language")
        language.constexpr = None
        triton = types.ModuleType("triton")
        triton.jit, triton.language = lambda function: function, language
        modules = mock.patch.dict(sys.modules, {"triton": triton, "triton.language": language})
        modules.start()
        self.addCleanup(modules.stop)

    def load(self, source, constants=()):
        with tempfile.TemporaryDirectory() as folder:
            given, path = pathlib.Path(folder, "candidate.py"), pathlib.Path(folder, "judged.py")
            given.write_bytes(source)
            module = lowering.load(lowering.judge("triton", given, dict(constants)), path, dict(constants))
            return module, inspect.getsource(module.k)

    def test_a_text_that_looks_like_the_kernel_is_not_read(self):
        module, text = self.load(HIDDEN.encode(), {"N": 3})
        self.assertEqual(module.k(4), 7)
        self.assertEqual(text, "@triton.jit\ndef k(x):\n    return x + N\n")

    def test_another_encoding_is_refused(self):
        # By utf-7 the second line ends after "#", and a call follows.
        for head in (b"# coding: utf-7\n#+AAo-print(1)\n", b"# vim: set fileencoding=latin-1 :\n", b"\xef\xbb\xbf"):
            with self.subTest(head=head), self.assertRaises(SystemExit) as ended, mock.patch("sys.stderr"):
                self.load(head + KERNEL.format("pass").encode())
            self.assertEqual(ended.exception.code, 65)
        self.load(b"# -*- coding: utf-8 -*-\n" + KERNEL.format("pass").encode())

    def test_bytes_that_are_no_text_are_no_python(self):
        for head in (b"# \xff\n", b"# coding: none\n", b"\0"):
            with self.subTest(head=head), self.assertRaises(SystemExit) as ended, mock.patch("sys.stderr"):
                self.load(head + KERNEL.format("pass").encode())
            self.assertEqual(ended.exception.code, 1)

    def test_what_is_missing_is_a_package_a_program_or_what_a_compiler_did_not_write(self):
        for missing, package, code in (("nvcc", "triton", 72), ("FOLDER/k.ptx", "triton", 1), (None, "absent_one", 66)):
            with self.subTest(missing=missing), tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder, "candidate.py")
                source.write_text(KERNEL.format("pass"))
                question = {"source": str(source), "constants": {}, "out": f"{folder}/out"}

                def lower(_module, _question, name=str(missing).replace("FOLDER", folder)):
                    raise FileNotFoundError(2, "No such file or directory", name)

                with self.assertRaises(SystemExit) as ended, mock.patch("sys.stderr"), mock.patch(
                        "sys.stdin", io.StringIO(json.dumps(question))):
                    lowering.run("triton", package, lower, are_constants=False)
                self.assertEqual(ended.exception.code, code)

    def test_a_source_is_judged_without_its_language_and_without_a_folder_to_write_in(self):
        for file in sorted((ROOT / "workbench/cases/kernels").glob("*.py")):
            language = language_of(file)
            with self.subTest(file=file.name), tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder, "out")
                question = {"source": str(file), "constants": dict.fromkeys(CONSTANTS, 1), "judge_only": True,
                            "out": str(out)}
                script = ROOT / f"workbench/python/lower_{language.replace('-', '_')}.py"
                made = subprocess.run([sys.executable, "-I", "-B", script], input=json.dumps(question), text=True,
                                      capture_output=True, cwd="/proc")
                self.assertEqual((made.returncode, made.stderr), (0, ""))
                self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
