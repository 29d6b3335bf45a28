#!/usr/bin/env python3
"""tests/faults/output_faults_test.py - kills and failing output calls in prepare, train, resume, infer and report.

    output_faults_test.py BIN_DIRECTORY PRELOADED_LIBRARY [--all | --distinct] [--only SCENARIO] [--kinds kill,eio]
                          [--keep]

Each scenario runs once to count its output calls. Then it runs again and again, and call n kills it, or fails; for some
n, with --distinct for the first one of each function on each file (epoch-0003 and epoch-0004 are one), or with --all
(SALIENT_FAULTS=all) for each. After each fault the results must be the old ones or whole new ones,
nothing of the user's may be gone, and repeating or resuming must succeed and end with the figures of an undisturbed
run.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import small_runs
from small_runs import Programs

KINDS = ("kill", "torn", "enospc", "eio")
CALLS_PER_KIND = {"prepare": 6, "replace": 6, "train": 4, "resume": 7, "infer": 4, "report": 6}  # of the short form


class Broken(Exception):
    """What must hold after a fault does not."""


def check(holds, what):
    if not holds:
        raise Broken(what)


@dataclasses.dataclass
class Case:
    """One scenario in its own folder."""
    programs: Programs
    folder: pathlib.Path   # everything below is counted
    reference: pathlib.Path
    said: str = ""         # standard error of all programs

    def __post_init__(self):
        """What is there before it."""

    def start(self, fault):
        """The program that the fault hits."""
        raise NotImplementedError

    def check_after(self, result):
        """After the fault, and after a repetition that is not disturbed."""
        raise NotImplementedError

    def must_work(self, result, what):
        self.said += result.stderr
        check(result.returncode == 0, f"{what}: exit code {result.returncode}: {result.stderr.strip()[-400:]}")

    def check_store(self, store):
        self.must_work(self.programs.verify(store), "verify")

    def check_same_metrics(self, run, epochs):
        check(small_runs.metrics(run) == small_runs.metrics(self.reference / "run4")[:epochs],
              f"metrics.jsonl has not the rows of epochs 1 to {epochs}")
        check(small_runs.metrics_csv(run) == small_runs.metrics_csv(self.reference / "run4")[:epochs],
              f"metrics.csv has not the rows of epochs 1 to {epochs}")

    def check_whole_run(self, run):
        self.check_same_metrics(run, 4)
        check(small_runs.checkpoints(run) == small_runs.checkpoints(self.reference / "run4"),
              f"checkpoints are {small_runs.checkpoints(run)}")
        check('"finished"' in (run / "run.json").read_text(), "run.json does not say finished")
        check((run / "report.html").stat().st_size > 10000, "report.html is not whole")


class Prepare(Case):
    def start(self, fault):
        return self.programs.prepare(self.folder / "store", env=fault)

    def check_after(self, result):
        store = self.folder / "store"
        if store.exists():
            self.check_store(store)
        check(result.returncode != 0 or store.exists(), "exit code 0 without a store")
        self.must_work(self.programs.prepare(store, "--force"), "prepare again")
        self.check_store(store)


class Replace(Case):
    """prepare --force over an older store."""
    def __post_init__(self):
        shutil.copytree(self.reference / "store", self.folder / "store")

    def start(self, fault):
        return self.programs.prepare(self.folder / "store", "--force", seed=2, env=fault)

    def check_after(self, result):
        self.check_store(self.folder / "store")
        self.must_work(self.programs.prepare(self.folder / "store", "--force", seed=2), "prepare again")
        self.check_store(self.folder / "store")


class Train(Case):
    def start(self, fault):
        return self.programs.train(self.reference / "store", self.folder / "run", 4, env=fault)

    def check_after(self, result):
        run = self.folder / "run"
        if result.returncode == 0:
            self.check_whole_run(run)
        again = self.programs.resume(run, 4)
        if (run / "config.toml").exists():
            self.must_work(again, "resume")
            self.check_whole_run(run)
        else:
            self.said += again.stderr
            check(again.returncode == 66 and len(small_runs.error_lines(again)) == 1,
                  f"resume without config.toml: exit code {again.returncode}: {again.stderr}")
            shutil.rmtree(run, ignore_errors=True)


class Resume(Case):
    """Epochs 3 and 4 of a run that has 1 and 2, and a file of the user's in its folder."""
    def __post_init__(self):
        shutil.copytree(self.reference / "run2", self.folder / "run", symlinks=True)
        (self.folder / "run" / "notes.txt").write_text("mine\n")

    def start(self, fault):
        return self.programs.resume(self.folder / "run", 4, env=fault)

    def check_after(self, result):
        run = self.folder / "run"
        expected = small_runs.metrics(self.reference / "run4")[:2]
        check(small_runs.metrics_of_whole_lines(run)[:2] == expected, "metrics.jsonl lost earlier epochs")
        epochs = [row["epoch"] for row in small_runs.metrics_csv(run)]
        check(epochs[:2] == ["1", "2"], "metrics.csv lost earlier epochs")
        if result.returncode == 0:
            self.check_whole_run(run)
        self.must_work(self.programs.resume(run, 4), "resume again")
        self.check_whole_run(run)
        check((run / "notes.txt").read_text() == "mine\n", "the user's file is gone")


class Infer(Case):
    def start(self, fault):
        return self.programs.infer(self.reference / "run4", self.folder / "out", env=fault)

    def check_after(self, result):
        out, expected = self.folder / "out", self.reference / "out"
        names = ("ids.npy", "logits.npy", "predictions.npy")
        if out.exists():
            is_whole = all((out / n).read_bytes() == (expected / n).read_bytes() for n in names)
            check(is_whole, "predictions are not whole")
        check(result.returncode != 0 or out.exists(), "exit code 0 without predictions")
        self.must_work(self.programs.infer(self.reference / "run4", out, "--force"), "infer again")
        check(all((out / n).read_bytes() == (expected / n).read_bytes() for n in names), "predictions differ")


class Report(Case):
    def __post_init__(self):
        shutil.copytree(self.reference / "run4", self.folder / "run", symlinks=True)

    def start(self, fault):
        return self.programs.report(self.folder / "run", env=fault)

    def check_after(self, result):
        page = self.folder / "run" / "report.html"
        check(page.stat().st_size > 10000, "report.html is not whole")
        self.must_work(self.programs.report(self.folder / "run"), "report again")
        check(page.read_text().rstrip().endswith("</html>"), "report.html is not whole")


SCENARIOS = {"prepare": Prepare, "replace": Replace, "train": Train, "resume": Resume, "infer": Infer, "report": Report}


class Session:
    def __init__(self, options, work):
        self.programs, self.library, self.work = Programs(options.bin), str(options.library.resolve()), work
        self.reference = work / "reference"
        self.reference.mkdir()
        store, run2 = self.reference / "store", self.reference / "run2"
        for made in (self.programs.prepare(store), self.programs.train(store, run2, 2),
                     self.programs.train(store, self.reference / "run4", 4),
                     self.programs.infer(self.reference / "run4", self.reference / "out")):
            if made.returncode != 0:
                sys.exit(f"the undisturbed runs failed: {made.stderr}")

    def fault(self, folder, **more):
        return {"LD_PRELOAD": self.library, "SALIENT_FAULT_BELOW": str(folder),
                **{f"SALIENT_FAULT_{name.upper()}": str(value) for name, value in more.items()}}

    def calls_of(self, scenario):
        """"write PATH", ... in their order."""
        folder = self.work / f"{scenario}-count"
        folder.mkdir()
        log = self.work / f"{scenario}.calls"
        result = SCENARIOS[scenario](self.programs, folder, self.reference).start(self.fault(folder, log=log))
        if result.returncode != 0:
            sys.exit(f"{scenario} failed without a fault: {result.stderr}")
        return [line.split(" ", 1)[1] for line in log.read_text().splitlines()]

    def try_fault(self, scenario, kind, at):
        """None, or what is wrong."""
        folder = self.work / f"{scenario}-{kind}-{at}"
        folder.mkdir()
        (folder / "letters.txt").write_text("the user's\n")
        log = folder.with_suffix(".calls")
        try:
            case = SCENARIOS[scenario](self.programs, folder, self.reference)
            result = case.start(self.fault(folder, log=log, at=at, kind=kind))
            case.said += result.stderr
            is_killed = kind in ("kill", "torn") and result.returncode == -9
            problem = "" if is_killed else small_runs.complaint_about(result)
            check(not problem, f"{problem}: {result.stderr.strip()[-400:]}")
            case.check_after(result)
            check((folder / "letters.txt").read_text() == "the user's\n", "a file of the user's is gone")
            unnamed = [name for name in small_runs.temporary_names(folder) if name not in case.said]
            check(not unnamed, f"left behind and not named: {unnamed}")
        except Broken as broken:
            calls = log.read_text().splitlines() if log.exists() else []
            call = calls[at - 1] if at <= len(calls) else "no such call"
            return f"{scenario}, {kind} at call {call}: {broken}"
        except subprocess.TimeoutExpired as late:
            return f"{scenario}, {kind} at call {at}: not over after {late.timeout:.0f} s: {late.cmd[0]}"
        except Exception:
            return f"{scenario}, {kind} at call {at}: {traceback.format_exc()}"
        shutil.rmtree(folder)
        log.unlink()
        return None


def first_of_each(calls):
    first = {}
    for number, call in enumerate(calls, 1):
        first.setdefault(re.sub(r"\d+", "N", call), number)
    return list(first.values())


def spread_calls(scenario, kind, num_calls):
    """Evenly spread, at other calls for each kind."""
    wanted = min(CALLS_PER_KIND[scenario], num_calls)
    step = num_calls / wanted
    shift = step * KINDS.index(kind) / len(KINDS)
    return sorted({1 + int(i * step + shift) for i in range(wanted)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", default=os.environ.get("SALIENT_FAULTS") == "all")
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--only", choices=SCENARIOS, action="append")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", action="store_true", help="keep the folders of what failed")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="salient-faults-")).resolve()
    problems, num_faults = [], 0
    try:
        session = Session(options, work)
        jobs = []
        for scenario in options.only or SCENARIOS:
            calls = session.calls_of(scenario)
            distinct = first_of_each(calls)
            print(f"{scenario}: {len(calls)} output calls, {len(distinct)} of them distinct", flush=True)
            for kind in options.kinds.split(","):
                chosen = (distinct if options.distinct else range(1, len(calls) + 1) if options.all else
                          spread_calls(scenario, kind, len(calls)))
                jobs += [(scenario, kind, at) for at in chosen]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for problem in pool.map(lambda job: session.try_fault(*job), jobs):
                num_faults += 1
                if problem:
                    problems.append(problem)
                    print(problem, flush=True)
    finally:
        if not (options.keep and problems):
            shutil.rmtree(work)
    print(f"{num_faults} faults, {len(problems)} problems" + (f", in {work}" if options.keep and problems else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
