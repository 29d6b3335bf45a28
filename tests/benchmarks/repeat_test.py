#!/usr/bin/env python3
"""benchmarks/repeat.sh on small graphs, with the parts that need no GPU.

    repeat_test.py SOURCE_DIRECTORY BIN_DIRECTORY [MPIEXEC]     the last: there is MPI
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT, BIN, HAS_MPI = pathlib.Path(sys.argv[1]) / "benchmarks/repeat.sh", sys.argv[2], len(sys.argv) > 3


class Repeat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logs = pathlib.Path(folder.name) / "logs"

    def repeat(self, *parts):
        return subprocess.run([SCRIPT, BIN, self.logs, *parts], text=True, capture_output=True,
                              env={**os.environ, "SCALE": "0.001", "OMPI_MCA_rmaps_base_oversubscribe": "1"})

    def test_rows_of_both_draws_are_shown_and_logged(self):
        done = self.repeat("labor")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [int(n) for n in re.findall(r"^(\d+) rows a batch", done.stdout, re.MULTILINE)]
        self.assertEqual(len(rows), 4, done.stdout)
        self.assertGreater(rows[0], rows[2], "labor meets fewer rows of products")
        self.assertIn("rows a batch", (self.logs / "labor-products-labor.log").read_text())

    @unittest.skipUnless(HAS_MPI, "a build without MPI")
    def test_losses_of_partitioned_rows_are_those_of_rows_on_the_host(self):
        done = self.repeat("partitioned")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        losses = re.findall(r"^epoch 2: loss (\d+\.\d+)", done.stdout, re.MULTILINE)
        self.assertEqual(len(losses), 5, done.stdout)
        self.assertEqual(losses[:3], [losses[0]] * 3, "dealt evenly")

    def test_what_is_asked_wrongly_is_named_and_ends_with_2(self):
        self.assertEqual(subprocess.run([SCRIPT, BIN], capture_output=True).returncode, 2)
        unknown = self.repeat("nothing")
        self.assertEqual((unknown.returncode, "there is no part nothing" in unknown.stderr), (2, True))
        self.assertEqual(self.repeat("labor").returncode, 2, "the folder is there")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
