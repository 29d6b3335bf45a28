"""tests/faults/small_runs.py - the smallest store and runs for the tests of this folder, and what must hold."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
import word_bags

DOCUMENTED = {0, 1, 2, 65, 66, 69, 71, 72, 74, 75, 130, 143}  # exit codes; 70 is for our own mistakes
SYNTHETIC = ["--nodes", "60", "--mean-degree", "4", "--features", "4", "--classes", "3", "--threads", "1"]
TRAIN = ["--device", "cpu", "--workers", "1", "--threads", "1", "--hidden", "4", "--layers", "2", "--fanout", "2,2",
         "--eval-fanout", "3,3", "--batch-size", "18", "--eval-batch-size", "64", "--lr", "0.05", "--progress", "none",
         "--log-level", "warning", "--keep", "1"]
INFER = ["--device", "cpu", "--workers", "1", "--threads", "1", "--progress", "none", "--log-level", "warning"]


class Programs:
    """Starts the programs of one folder."""

    def __init__(self, folder, launch=()):
        self.folder, self.launch = pathlib.Path(folder).resolve(), list(launch)

    def command(self, program, *args):
        return [*self.launch, str(self.folder / program), *map(str, args)]

    def run(self, program, *args, env=None, **more):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        return subprocess.run(self.command(program, *args), env=environment, capture_output=True, text=True,
                              errors="replace", timeout=300, stdin=subprocess.DEVNULL, **more)

    def prepare(self, out, *more, seed=1, **keywords):
        return self.run("salient-prepare", "synthetic", *SYNTHETIC, "--rng-seed", seed, "--out", out, *more, **keywords)

    def prepare_sparse(self, out, *more, seed=1):
        """The same size, of bags of words that are kept sparse."""
        source = pathlib.Path(f"{out}.source")
        word_bags.write(source, word_bags.parsed([str(source), "--nodes", "60", "--columns", "40", "--values", "4",
                                                  "--degree", "4", "--classes", "3", "--seed", str(seed)]))
        return self.run("salient-prepare", "edges", "--edges", source / "edges.csv", "--features", source / "x.npz",
                        "--labels", source / "y.npy", "--split", "0.5,0.25,0.25", "--feature-layout", "csr",
                        "--threads", "1", "--rng-seed", seed, "--name", "bags", "--out", out, *more)

    def verify(self, store):
        return self.run("salient-prepare", "verify", store)

    def train(self, store, out, epochs, *more, **keywords):
        where = ["--dataset", store, "--out", out, "--epochs", epochs]
        return self.run("salient-train", *where, *TRAIN, *more, **keywords)

    def resume(self, run, epochs, *more, **keywords):
        return self.run("salient-train", "--resume", run, "--epochs", epochs, *TRAIN, *more, **keywords)

    def infer(self, run, out, *more, **keywords):
        return self.run("salient-infer", "--run", run, "--out", out, "--nodes", "all", *INFER, *more, **keywords)

    def report(self, run, **keywords):
        return self.run("salient-report", run, **keywords)


def error_lines(result):
    return [line for line in result.stderr.splitlines() if ": error: " in line]


def complaint_about(result):
    """Why this end of a program is not one of the documented ones; empty when it is."""
    if result.returncode < 0:
        return f"ended by signal {-result.returncode}"
    if result.returncode not in DOCUMENTED:
        return f"exit code {result.returncode}"
    wanted = 0 if result.returncode in (0, 130, 143) else 1
    if len(error_lines(result)) != wanted:
        return f"{len(error_lines(result))} error lines with exit code {result.returncode}"
    return ""


TIMES = ("seconds", "rss")


def is_repeatable(column):
    return not any(word in column for word in TIMES)


def repeatable_rows(lines):
    rows = [json.loads(line) for line in lines]
    return [{name: value for name, value in row.items() if is_repeatable(name)} for row in rows]


def metrics(run):
    """The figures of metrics.jsonl that do not depend on time, a row an epoch."""
    return repeatable_rows((run / "metrics.jsonl").read_text().splitlines())


def metrics_of_whole_lines(run):
    """The same without a last line that was cut off."""
    return repeatable_rows((run / "metrics.jsonl").read_text().split("\n")[:-1])


def metrics_csv(run):
    with open(run / "metrics.csv", newline="") as file:
        return [{name: value for name, value in row.items() if is_repeatable(name)} for row in csv.DictReader(file)]


def checkpoints(run):
    """What is in checkpoints: folders by name, and where the links lead."""
    entries = sorted((run / "checkpoints").iterdir()) if (run / "checkpoints").is_dir() else []
    return {p.name: os.readlink(p) if p.is_symlink() else "folder" for p in entries}


def temporary_names(folder):
    """Names below `folder` that a finished program would not leave."""
    return sorted(str(p) for p in folder.rglob("*") if ".tmp" in p.name or ".old-" in p.name)


class FaultTest(programs.ProgramTest):
    """A suite with a store and a run of two epochs, copies of which are spoilt. A class of it sets PROGRAMS."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store, cls.run_folder = cls.work / "store", cls.work / "run"
        for made in (cls.PROGRAMS.prepare(cls.store), cls.PROGRAMS.train(cls.store, cls.run_folder, 2)):
            assert made.returncode == 0, made.stderr

    def new(self, name):
        """A path of this test alone."""
        return self.work / f"{self.id().rsplit('.', 1)[1]}-{name}"

    def copy(self, folder, name):
        shutil.rmtree(self.new(name), ignore_errors=True)
        return shutil.copytree(folder, self.new(name), symlinks=True)

    def assert_ends(self, result, *codes):
        self.assertIn(result.returncode, codes, result.stderr[-500:])
        self.assertEqual(complaint_about(result), "", result.stderr[-500:])
