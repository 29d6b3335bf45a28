#!/usr/bin/env python3
"""scripts/check_sizes.py and check_layers.py on a tree of folders in which one file breaks one rule.

    check_scripts_test.py SOURCE_DIRECTORY
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SCRIPTS = ("check_sizes.py", "check_layers.py")


def function(lines, head="void f()"):
    return f"{head} {{\n" + "  g();\n" * (lines - 2) + "}\n"


class CheckScripts(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="salient-checks-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "scripts").mkdir()
        for script in SCRIPTS:
            shutil.copy(SOURCE / "scripts" / script, self.root / "scripts")
        table = (SOURCE / "scripts/check_layers.py").read_text()
        for folder in re.findall(r'"([a-z/]+)"\]? *[:=] ', table):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name in re.findall(r'"(\w+)"', re.search(r"for name in \((.*?)\)", table, re.S)[1]):
            self.write(f"models/{name}.h", "")

    def check(self, script):
        done = subprocess.run([sys.executable, f"scripts/{script}"], cwd=self.root, text=True, capture_output=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def write(self, path, text):
        (self.root / path).write_text(f"// {path} - a file.\n{text}" if path.endswith((".h", ".cpp")) else text)

    def assert_found(self, script, path, text, words):
        self.write(path, text)
        code, said = self.check(script)
        self.assertEqual((code, len(said.splitlines())), (1, 1), said)
        self.assertIn(path, said)
        self.assertIn(words, said)
        (self.root / path).unlink()

    def assert_fine(self, script, path, text):
        self.write(path, text)
        self.assertEqual(self.check(script)[0], 0, self.check(script)[1])
        (self.root / path).unlink()

    def test_sizes(self):
        for fine, broken, words in (
                ("// " + "x " * 58 + "\n", "// " + "x " * 60 + "\n", "at most 120"),
                ("int a;\n" * 349, "int a;\n" * 350, "351 lines, at most 350"),
                (function(60), function(61), "f has 61 lines, at most 60"),
                ("class A {\n" + "  int a;\n" * 148 + "};\n", "class A {\n" + "  int a;\n" * 149 + "};\n",
                 "A has 151 lines, at most 150"),
                ("struct A::B final : C<int> {\n" + "  void f();\n" * 148 + "};\n",
                 "struct A::B final : C<int> {\n" + "  void f() {}\n" * 149 + "};\n", "A::B has 151 lines"),
                ("void f(int, int, int, int, int, int);\n", "void f(int, int, int, int, int, int, int);\n",
                 "7 parameters"),
                ("// Its seven parameters are a matrix.\nvoid f(int, int, int, int, int, int, int);\n",
                 "// It does it.\nvoid f(int, int, int, int, int, int, int);\n", "7 parameters")):
            with self.subTest(words=words):
                self.assert_fine("check_sizes.py", "core/a.cpp", fine)
                self.assert_found("check_sizes.py", "core/a.cpp", broken, words)
        self.assert_found("check_sizes.py", "scripts/a.py", "#" * 20 + " a" * 60 + "\n", "at most 120")

    def test_layers(self):
        self.write("store/b.h", "")
        for fine, broken, words in (
                ('#include "core/files/b.h"\n', '#include "engine/train/b.h"\n', "store may not include"),
                ("#include <vector>\n", "#include <mpi.h>\n", "store must not see mpi.h"),
                ("// the option of a program\n", '"use --epochs"\n', "names an option"),
                ("", 'int f = open(path, O_RDONLY);\n', "opens a file")):
            with self.subTest(words=words):
                self.assert_fine("check_layers.py", "store/a.cpp", fine)
                self.assert_found("check_layers.py", "store/a.cpp", broken, words)

    def test_what_operators_work_on_is_below_them_and_layers_are_above(self):
        self.write("models/layers.h", "")
        self.write("models/ops/b.h", "")
        self.assert_fine("check_layers.py", "models/ops/a.h", '#include "models/input_rows.h"\n')
        self.assert_fine("check_layers.py", "models/a.h", '#include "models/ops/b.h"\n#include "models/batch_view.h"\n')
        for path, target in (("models/ops/a.h", "models/layers.h"), ("models/sparse_rows.cpp", "models/ops/b.h"),
                             ("models/sparse_rows.cpp", "models/layers.h")):
            self.assert_found("check_layers.py", path, f'#include "{target}"\n', f"may not include {target}")

    def test_a_row_of_the_table_whose_folder_is_gone(self):
        self.assertEqual(self.check("check_layers.py")[0], 0, self.check("check_layers.py")[1])
        (self.root / "core/console").rmdir()
        code, said = self.check("check_layers.py")
        self.assertEqual(code, 1)
        self.assertIn("core/console is not there", said)

    def test_every_class_that_may_be_long_is_there(self):
        named = re.findall(r'^    "(\S+) (\S+)": \d+,$', (SOURCE / "scripts/check_sizes.py").read_text(), re.M)
        self.assertTrue(named)
        for path, name in named:
            self.assertRegex((SOURCE / path).read_text(), rf"(class|struct) {name}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
