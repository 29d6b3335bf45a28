#!/usr/bin/env python3
"""What cuda_backend_gpu_test.py takes for a pass, by programs that say what the real one says without compilers.

    gpu_results_test.py SOURCE_FOLDER"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(sys.argv.pop(1)).resolve() / "tests/workbench"
CASES = TESTS.parents[1] / "workbench/cases"
# Kernels in Python end as `end` says, all others as they should.
PROGRAM = """#!/bin/sh
for last; do case $last in *.py) {end} ;; esac; done
verdict=$(sed -n 's/^.. expect \\([A-Z_]*\\).*/\\1/p' "$3")
echo "$3: ${{verdict:-ACCEPTED}}, as it should be"
[ -z "$verdict" ]
"""


class GpuResults(unittest.TestCase):
    def check(self, why, *, has_lowered):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "bin/salient-kernels")
            program.parent.mkdir()
            program.write_text(PROGRAM.format(end=f"echo '{why}'; exit 66"))
            program.chmod(0o755)
            if has_lowered:
                pathlib.Path(folder, "share/lowered").mkdir(parents=True)
            made = subprocess.run([sys.executable, TESTS / "cuda_backend_gpu_test.py", program, CASES,
                                   TESTS / "cuda_fixtures", "start", "attacks"], text=True, capture_output=True)
        counts = re.search(r"(\d+) checked, (\d+) skipped, (\d+) wrong$", made.stdout.strip())
        self.assertIsNotNone(counts, made.stdout + made.stderr)
        return made.returncode, int(counts[2]), int(counts[3])

    def test_what_cannot_be_compiled_is_counted_apart(self):
        kernels = len([*CASES.glob("kernels/*.py"), *(TESTS / "cuda_fixtures").glob("*.py")])
        for why in ("python3 has no tilelang; --python names a Python that has: x",
                    "cannot start /absent/bin/nvdisasm: none",
                    "the compiler of tilelang starts a program that is missing: nvcc"):
            with self.subTest(why=why):
                self.assertEqual(self.check(why, has_lowered=False), (0, kernels, 0))
        self.assertEqual(self.check("cannot read a file", has_lowered=False), (1, 0, kernels))

    def test_a_bundle_has_what_compilers_made(self):
        code, skipped, wrong = self.check("python3 has no x; --python names a Python that has", has_lowered=True)
        self.assertEqual(code, 1)
        self.assertGreaterEqual(wrong, len([*CASES.glob("kernels/*.py")]))
        self.assertGreater(skipped, 0, "attacks that a compiler refuses")


if __name__ == "__main__":
    unittest.main()
