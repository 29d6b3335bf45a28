#!/usr/bin/env python3
"""Epochs of every model by two builds, in turns: whether a change makes any of them slower.

    benchmarks/compare_builds.py BEFORE AFTER [--models sage,gcn,gin,gat,gatv2,sage-ri] [--rounds 2] [--bound 3]
                                 [--dataset synthetic:products] [-- OPTIONS of salient-bench scaling]

BEFORE and AFTER are folders of programs, build/release/bin or bin/ of a bundle. Seconds are the median epoch of each
process; "slower" is the best of AFTER beyond the best of BEFORE, in per cent. Exits with 1 if that is above --bound for
a model, with 2 where a build does not run. Without OPTIONS steps are resident, in bf16, six epochs, on one GPU: a call
takes some 10 seconds a model, build and round.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = "sage,gcn,gin,gat,gatv2,sage-ri"
RESIDENT = "--features device --sampler device --step resident --precision bf16".split()


def epoch_seconds(folder, model, dataset, options):
    with tempfile.TemporaryDirectory() as work:
        result = pathlib.Path(work) / "result.json"
        command = [folder / "salient-bench", "scaling", "--ranks", "1", "--model", model, "--dataset", dataset,
                   "--json", result, *options]
        try:
            done = subprocess.run(command, text=True, capture_output=True)
        except OSError as error:
            fail(f"{command[0]} does not run: {error.strerror}")
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [""]
            fail(f"{command[0]} scaling --model {model} ended with {done.returncode}: {lines[-1]}")
        return json.loads(result.read_text())["rows"][0]["epoch_seconds_median"]


def fail(reason):
    print(f"compare_builds.py: error: {reason}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, metavar="BEFORE")
    parser.add_argument("after", type=pathlib.Path, metavar="AFTER")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bound", type=float, default=3)
    parser.add_argument("--dataset", default="synthetic:products")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:end])
    if args.rounds < 1:
        parser.error("--rounds is at least 1")
    options = given[end + 1:] or RESIDENT

    print(f"{'model':<8} {'before, s':<24} {'after, s':<24} slower", flush=True)
    slower = []
    for model in args.models.split(","):
        before, after = [], []
        for _ in range(args.rounds):
            before.append(epoch_seconds(args.before, model, args.dataset, options))
            after.append(epoch_seconds(args.after, model, args.dataset, options))
        per_cent = 100 * (min(after) / min(before) - 1)
        if per_cent > args.bound:
            slower.append(model)
        seconds = [", ".join(f"{value:.4f}" for value in side) for side in (before, after)]
        print(f"{model:<8} {seconds[0]:<24} {seconds[1]:<24} {per_cent:+.1f} %{' <' if model in slower else ''}",
              flush=True)
    if slower:
        print(f"slower by more than {args.bound:g} %: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
