#!/usr/bin/env python3
"""Completion in bash, zsh and fish offers options, their words, commands, data sets and runs.

    completion_test.py SOURCE_DIRECTORY BIN_DIRECTORY      shells that are not there are left out
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
NAMES = ("salient-prepare", "salient-train", "salient-infer")


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="salient-completion-")
        cls.addClassCleanup(scratch.cleanup)
        cls.work = pathlib.Path(scratch.name)
        cls.share = cls.work / "share"
        for folder in ("data/mine", "data/wordnet", "runs/mine-sage-1", "elsewhere"):
            (cls.work / folder).mkdir(parents=True)
        programs = [BIN / name for name in NAMES if (BIN / name).exists()]
        subprocess.run([sys.executable, SOURCE / "scripts/help_pages.py", "--version", "1", "--share", cls.share,
                        *programs], check=True)

    def check(self, offered):
        """@param offered  (line) -> the words that a shell offers for its last one"""
        self.assertIn("--eval-fanout", offered("salient-train --eval-f"))
        self.assertNotIn("--epochs", offered("salient-train --eval-f"))
        self.assertEqual({"auto", "cpu", "cuda"} - set(offered("salient-train --device ")), set())
        self.assertIn("edges", offered("salient-prepare e"))
        self.assertIn("--columns", offered("salient-prepare edges --co"))
        self.assertNotIn("--columns", offered("salient-prepare ogb --co"))
        self.assertIn("mine", [word.rstrip("/") for word in offered("salient-train --dataset m")])
        self.assertIn("runs/mine-sage-1", [word.rstrip("/") for word in offered("salient-train --resume runs/m")])

    def shell(self, name):
        if shutil.which(name) is None:
            self.skipTest(f"no {name}")

    def test_bash(self):
        self.shell("bash")

        def offered(line):
            words = line.split(" ")
            file = self.share / "bash-completion/completions" / words[0]
            script = (f"source {file}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; "
                      f"_{words[0].replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(["bash", "-c", script], cwd=self.work, text=True, capture_output=True)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

        self.check(offered)
        self.assertIn("elsewhere", offered("salient-train --dataset el"))
        self.assertEqual(offered("salient-infer --run "), ["runs/mine-sage-1"])

    def test_fish(self):
        self.shell("fish")

        def offered(line):
            file = self.share / "fish/vendor_completions.d" / f"{line.split()[0]}.fish"
            done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], cwd=self.work,
                                  text=True, capture_output=True, env={**os.environ, "HOME": str(self.work)})
            self.assertEqual(done.stderr, "")
            return [found.split("\t")[0] for found in done.stdout.splitlines()]

        self.check(offered)

    def test_zsh(self):
        self.shell("zsh")

        def offered(line):
            """Of a shell at a terminal: what it writes behind the line when Tab is pressed."""
            pid, terminal = pty.fork()
            if pid == 0:
                os.chdir(self.work)
                os.environ.update(HOME=str(self.work), TERM="dumb")
                os.execvp("zsh", ["zsh", "-f", "-i"])
            begin = (f"fpath=({self.share}/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D; PS1=; "
                     "LISTMAX=0; stty cols 200; print re''ady\n")
            os.write(terminal, begin.encode())
            self.read(terminal, lambda text: "ready" in text.split("re''ady")[-1])
            os.write(terminal, f"{line}\t".encode())
            text = self.read(terminal, lambda text: False, quiet=1)
            os.write(terminal, b"\x03")
            os.close(terminal)
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x07|\x08", "\n", text)
            return text.replace(line, line.rsplit(" ", 1)[-1], 1).split()

        self.check(offered)

    def read(self, terminal, is_enough, quiet=30):
        """Until it is enough, or nothing came for so many seconds."""
        text = ""
        while not is_enough(text) and select.select([terminal], [], [], quiet)[0]:
            text += os.read(terminal, 4096).decode(errors="replace")
        return text


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
