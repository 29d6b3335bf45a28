#!/usr/bin/env python3
"""The commands of docs/TRAINING.md that predict sizes of Debian's packages, on a small list of packages.

    debian_packages_test.py BIN_DIRECTORY SOURCE       CPU; seconds
"""
import csv
import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SMALLER = {"salient-train": ["--device", "cpu", "--hidden", "8", "--epochs", "2", "--progress", "none"]}
COUNT = 300


def packages():
    """As apt lists them: every third one is of the source of the one before, and needs it and an alternative."""
    for i in range(COUNT):
        yield (f"Package: p{i}\n" + (f"Source: p{i - 1} (1.0)\n" if i % 3 == 1 else "")
               + f"Architecture: {'all' if i % 2 else 'amd64'}\nMaintainer: Team {i % 4} <team@example.org>\n"
               + f"Installed-Size: {10 * (i + 1)}\nDepends: p{(i + 7) % COUNT} (>= 1) | other, p{(i * 5) % COUNT}:any,"
               f" p{i - 1 if i else 1}\nDescription: a package of many\n more of it\nTag: role::program,\n use::edit\n"
               f"Section: {'games' if i % 5 else 'contrib/net'}\nPriority: optional\n")


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="salient-debian-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "lists").mkdir()
        (cls.folder / "lists/example_Packages").write_text("\n".join(packages()))

    def start(self, *words):
        program = [sys.executable, SOURCE / words[1]] if words[0] == "python3" else [BIN / words[0], *words[1:2]]
        done = subprocess.run([*program, *words[2:]], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_commands_of_the_page(self):
        [block] = [block for block in re.findall(r"^```[a-z]*\n(.*?)^```", (SOURCE / "docs/TRAINING.md").read_text(),
                                               re.M | re.S) if "packages.py" in block]
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if "--baselines" in words and importlib.util.find_spec("numpy") is None:
                continue
            words += ["--lists", "lists"] if words[0] == "python3" else SMALLER.get(words[0], [])
            printed = self.start(*words)
            if "--baselines" in words:
                self.assertRegex(printed, r"(?m)^mean: r2 -?0\.\d+, rmse \d.*\nlinear: r2 ")
            elif words[0] == "python3":
                self.assertIn(f"200 sources of {COUNT} packages", printed)
                self.check_tables()
            elif words[0] == "salient-train":
                self.assertRegex(printed, r"(?m)^test r2 -?\d")

    def check_tables(self):
        with open(self.folder / "packages.csv") as file:
            rows = {row["source"]: row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 200)
        self.assertEqual((rows["p0"]["binaries"], rows["p0"]["section"], rows["p0"]["for_any_machine"]),
                         ("2", "net", "0.50"))
        self.assertAlmostEqual(10 ** float(rows["p0"]["log_size"]), 10 + 20, delta=0.01)
        edges = (self.folder / "edges.csv").read_text().splitlines()
        self.assertIn("p2,p9", edges)
        self.assertNotIn("p0,p0", edges)
        parts = [set((self.folder / f"{part}.csv").read_text().splitlines()[1:]) for part in ("train", "valid", "test")]
        self.assertEqual([len(part) for part in parts], [120, 40, 40])
        self.assertEqual(set.union(*parts), set(rows))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
