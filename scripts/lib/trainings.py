# scripts/lib/trainings.py - tables of trainings: their command line, their data sets, and runs that are not repeated.
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time


def parser_of(description, work):
    """The options that all tables have. @param work  the default of --work"""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--bin", type=pathlib.Path, default="build/release/bin")
    parser.add_argument("--raw", type=pathlib.Path, default="../shared/data")
    parser.add_argument("--work", type=pathlib.Path, default=work)
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    return parser


def rows_of(table, num_columns):
    """The rows of a text whose columns are separated by "|"; a row may go on in the next line, behind a backslash."""
    for line in filter(None, map(str.strip, table.splitlines())):
        row = tuple(part.strip() for part in line.split("|"))
        assert len(row) == num_columns, line
        yield row


def chosen(rows, words):
    """The rows with all words among their texts; ends the program where there is none. @param rows  tuples"""
    wanted = {word for text in words for word in text.split()}
    found = [row for row in rows if wanted <= set(filter(lambda part: isinstance(part, str), row))]
    return found or sys.exit("no row has all of: " + " ".join(sorted(wanted)))


class EpochWatch:
    """Shows the epochs of a training on standard error, the first, and then at most one in ten seconds, and the minutes
    that those to come take in all its trials if they take as long."""

    def __init__(self, name, command):
        def number(option, other):
            return int(command[command.index(option) + 1]) if option in command[:-1] else other

        self.name = name
        self.epochs, self.trials = number("--epochs", 0), number("--trials", 1)  # 0: not known
        self.trial = self.first = self.shown = 0
        self.start = time.monotonic()

    def see(self, line):
        if found := re.match(r"trial (\d+) of \d+", line):
            self.trial = int(found[1]) - 1
        found = re.match(r"epoch (\d+): .*", line)
        now = time.monotonic()
        if not found:
            return
        done = self.trial * self.epochs + int(found[1])
        self.first = self.first or done  # of a run that goes on
        if self.shown and now < self.shown + 10:
            return
        text = f"{self.name}: {found[0]}"
        if self.epochs:
            total = self.trials * self.epochs
            left = (total - done) * (now - self.start) / (done - self.first + 1)
            text += f"; {done} of {total} epochs, {left / 60:.1f} min left"
        print(text, file=sys.stderr, flush=True)
        self.shown = now


def run(command, environment=None, name=""):
    """Runs a command; ends the program with its errors where it fails. @param name  of a training, which is watched"""
    command = [str(part) for part in command]
    said, watch = [], EpochWatch(name, command) if name else None
    with subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={**os.environ, **(environment or {})}) as process:
        for line in process.stderr:
            said.append(line)
            if watch:
                watch.see(line)
    if process.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{''.join(said[-30:]).strip()}")


def prepare(args, dataset, mask=None):
    """The folder of the prepared data set, made if it is not there; None if its files are not here."""
    folder = args.work / "data" / (dataset if mask is None else f"{dataset}-{mask}")
    if dataset == "wordnet":
        source, verb = pathlib.Path("/usr/share/wordnet"), ["wordnet"]
    elif mask is not None:
        source = args.raw / f"{dataset}.npz"
        verb = ["npz", "--file", source, "--mask", mask]
    else:
        source = args.raw / dataset
        verb = ["ogb", "--raw", source]
    if (folder / "dataset.json").exists():
        return folder
    if not source.exists():
        return None
    run([args.bin / "salient-prepare", *verb, "--out", folder])
    return folder


def train(args, out, options, environment=None):
    """Trains, goes on with what was interrupted, or does nothing where the run in `out` has ended."""
    if (out / "run.json").exists() and json.loads((out / "run.json").read_text())["status"] == "finished":
        return
    where = ["--resume", out] if (out / "config.toml").exists() else ["--out", out]
    run([args.bin / "salient-train", "--progress", "none", *where, *options], environment, name=out.name)


def result_of(run_folder):
    """Accuracies and the like, by name."""
    return json.loads((run_folder / "run.json").read_text())["result"]
