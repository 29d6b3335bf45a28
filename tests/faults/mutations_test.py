#!/usr/bin/env python3
"""tests/faults/mutations_test.py - changed stores, checkpoints and run directories are refused, or change nothing.

    mutations_test.py BIN_DIRECTORY [--count N] [--seed N] [--all]

Bits flip, files end early or change places with those of another store or run, numbers in JSON and TOML become
others. Each outcome is one of: refused (an exit code of its own and one line), warned (exit 0, and a warning), harmless
(exit 0 and the same figures), wrong (exit 0, other figures, no warning) or broken (a signal, exit code 70, no line).
The last two must not occur. SALIENT_FAULTS=all or --all tries 20 times as many.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import typing

import small_runs
from small_runs import Programs

NUMBER = re.compile(rb"(?<![\w.\"])-?\d+(\.\d+)?([eE][-+]?\d+)?(?![\w.])")
OTHER_NUMBERS = [b"-5", b"0", b"1", b"3", b"7", b"1e300", b"99999999999999999999", b"null", b'"1"', b"[]", b"0.5"]


def flip_a_bit(data, draw, _):
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:]


def cut_off(data, draw, _):
    return data[:draw.choice([0, len(data) - 1, draw.randrange(len(data))])]


def swap(data, draw, twin):
    return twin.read_bytes() if twin is not None and twin.exists() else data[::-1]


def edit_a_number(data, draw, _):
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return flip_a_bit(data, draw, _)
    number = draw.choice(numbers)
    return data[:number.start()] + draw.choice(OTHER_NUMBERS) + data[number.end():]


@dataclasses.dataclass
class Subject:
    """A folder, files of it to be changed, and what is done with it then."""
    name: str
    folder: pathlib.Path
    files: typing.List[str]
    twin: pathlib.Path        # has other files of the same names
    use: typing.Callable      # (programs, folder, out) -> (result, figures)
    expected: typing.Any = None


def use_verify(programs, folder, out):
    return programs.verify(folder), None


def use_train(programs, folder, out):
    result = programs.train(folder, out, 2)
    return result, small_runs.metrics(out) if result.returncode == 0 else None


def use_resume(programs, folder, out):
    result = programs.resume(folder, 3)
    made = folder / "checkpoints/epoch-0003/model.safetensors"  # rows of earlier epochs are copied as they are
    return result, (small_runs.metrics(folder)[-1], made.read_bytes()) if result.returncode == 0 else None


def use_infer(programs, folder, out):
    result = programs.infer(folder, out, "--checkpoint", "latest")
    return result, (out / "logits.npy").read_bytes() if result.returncode == 0 else None


def use_report(programs, folder, out):
    return programs.report(folder), None


class Session:
    def __init__(self, programs, work):
        self.programs, self.work = programs, work
        store, other = work / "store", work / "other"
        run, twin = work / "run", work / "twin"
        for made in (programs.prepare(store), programs.prepare(other, seed=2), programs.train(store, run, 2),
                     programs.train(store, twin, 2, "--seed", 7)):
            if made.returncode != 0:
                sys.exit(f"the undisturbed runs failed: {made.stderr}")
        bags, other_bags = work / "bags", work / "other-bags"
        for made in (programs.prepare_sparse(bags), programs.prepare_sparse(other_bags, seed=2)):
            if made.returncode != 0:
                sys.exit(f"the sparse store failed: {made.stderr}")
        arrays = sorted(p.name for p in store.iterdir())
        sparse = [*sorted(p.name for p in bags.iterdir() if p.name.startswith("feature_")), "dataset.json"]
        parts = [f"checkpoints/epoch-0002/{n}" for n in ("model.safetensors", "optimizer.safetensors", "state.json")]
        about = ["run.json", "metrics.jsonl", "metrics.csv", "confusion.json"]
        # config.toml holds the user's options, which may be edited before a resume: other figures are then meant.
        self.subjects = [Subject("store, verify", store, arrays, other, use_verify),
                         Subject("store, train", store, arrays, other, use_train),
                         Subject("sparse store, verify", bags, sparse, other_bags, use_verify),
                         Subject("sparse store, train", bags, sparse, other_bags, use_train),
                         Subject("checkpoint, resume", run, parts, twin, use_resume),
                         Subject("checkpoint, infer", run, parts, twin, use_infer),
                         Subject("run, resume", run, about, twin, use_resume),
                         Subject("run, infer", run, about, twin, use_infer),
                         Subject("run, report", run, [*about, "config.toml"], twin, use_report)]
        for number, subject in enumerate(self.subjects):
            result, subject.expected = self.use(subject, work / f"expected-{number}", lambda folder: None)
            if result.returncode != 0:
                sys.exit(f"{subject.name} fails without a change: {result.stderr}")

    def use(self, subject, place, change):
        folder = place / subject.folder.name
        shutil.copytree(subject.folder, folder, symlinks=True)
        change(folder)
        outcome = subject.use(self.programs, folder, place / "out")
        shutil.rmtree(place)
        return outcome

    def try_mutation(self, number, subject, seed):
        """(class, description)"""
        draw = random.Random(f"{subject.name} {seed}")
        name = draw.choice(subject.files)
        mutations = [flip_a_bit, flip_a_bit, cut_off, swap]
        if name.endswith((".json", ".jsonl", ".toml")):
            mutations += [edit_a_number] * 3
        mutation = draw.choice(mutations)
        is_changed = True

        def change(folder):
            nonlocal is_changed
            before = (folder / name).read_bytes()
            after = mutation(before, draw, subject.twin / name)
            is_changed = after != before
            (folder / name).write_bytes(after)
        try:
            result, figures = self.use(subject, self.work / f"try-{number}", change)
        except Exception as error:
            return "broken", f"{subject.name}: {mutation.__name__} of {name}, seed {seed}: {error!r}"
        said = f"{subject.name}: {mutation.__name__} of {name}, seed {seed}: {result.stderr.strip()[-300:]}"
        if small_runs.complaint_about(result):
            return "broken", f"{small_runs.complaint_about(result)}: {said}"
        if result.returncode != 0:
            return "refused", said
        if figures == subject.expected and not (subject.use is use_verify and is_changed):
            return "harmless", said
        warnings = [line for line in result.stderr.splitlines() if "warning:" in line and "an MPI run" not in line]
        return "warned" if warnings else "wrong", said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10, help="changes of each subject")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="subjects whose name has this in it", default="")
    parser.add_argument("--all", action="store_true", default=os.environ.get("SALIENT_FAULTS") == "all")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="salient-mutations-")).resolve()
    classes = collections.Counter()
    try:
        session = Session(Programs(options.bin), work)
        count = options.count * (20 if options.all else 1)
        jobs = [(subject, seed) for subject in session.subjects if options.only in subject.name
                for seed in range(options.seed, options.seed + count)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda job: session.try_mutation(job[0], *job[1]), enumerate(jobs))
            for (subject, _), (outcome, said) in zip(jobs, found):
                classes[subject.name, outcome] += 1
                if outcome in ("wrong", "broken"):
                    print(f"{outcome}: {said}", flush=True)
    finally:
        shutil.rmtree(work)
    for (name, outcome), number in sorted(classes.items()):
        print(f"{name}: {number} {outcome}")
    return 1 if any(outcome in ("wrong", "broken") for _, outcome in classes) else 0


if __name__ == "__main__":
    sys.exit(main())
