#!/usr/bin/env python3
"""Trains each row of the table below twice, with eager steps in fp32 and with resident steps in bf16, and prints the
test accuracies of both, the same seeds for both.

    scripts/compare_steps.py [--bin build/release/bin] [--raw ../shared/data] [--work runs/steps] [--seeds 10]
                             [--jobs 1] [--gpus 0] [--precision bf16] [--list] [WORD ...]

WORDs pick the rows that hold all of them. --raw and --work are those of reproduce_accuracy.py. Seeds are 1, 2, ...;
on each of the --gpus, numbers as CUDA_VISIBLE_DEVICES takes them, --jobs trainings run at a time. A training that has
ended is not repeated. "difference" is resident less eager, in points, with its standard error over the pairs of seeds:
"<" is behind those that are beyond 0.2 points by more than two standard errors, "more seeds" behind others whose error
is above 0.1. Exits with 1 if there is a "<". Seeds of gin on the amazon sets differ by a point: take 100.
"""
import concurrent.futures
import pathlib
import queue
import shlex
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "lib"))
import trainings

SMALL = "--hidden 64 --epochs 40 --batch-size 512"
DATASETS = {  # options for every model; generated graphs have names with a colon
    "wordnet": "--epochs 20",
    "amazon-computers": SMALL,
    "amazon-photo": SMALL,
    "synthetic:arxiv": "--epochs 10",
    "synthetic:papers100M:0.02": "--epochs 10",
}
RECIPES = {
    **{model: f"--model {model}" for model in ("sage", "gcn", "gat", "gatv2")},
    # the fanouts of the recipes of gin and sage-ri are for larger graphs
    "gin": "--model gin --fanout 20,20 --eval-fanout 20,20",
    "sage-ri": "--model sage-ri --hidden 256 --fanout 15,10,5 --eval-fanout 20,20,20",
    # what is around convolutions, and several heads
    "sage-layer": "--model sage --norm layer --residual",
    "gcn-layer": "--model gcn --norm layer --residual",
    "gcn-jk": "--model gcn --norm layer --jk max",
    "sage-jk": "--model sage --norm batch --residual --jk cat",
    "gat-heads": "--model gat --heads 4",
    "gatv2-heads": "--model gatv2 --heads 4 --norm layer --residual",
    "transformer": "--model transformer --heads 4",
}
BOUND = 0.2  # points


def train(args, gpus, store, name, options):
    """The test accuracy of one training, on a GPU that has room."""
    gpu = gpus.get()
    try:
        trainings.train(args, args.work / name, ["--dataset", store, "--device", "cuda", "--metric", "accuracy",
                                                 *shlex.split(options)], {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})
    finally:
        gpus.put(gpu)
    return 100 * trainings.result_of(args.work / name)["test_accuracy"]


def spread(values):
    return f"{statistics.mean(values):.2f} +- {statistics.stdev(values) if len(values) > 1 else 0:.2f}"


def compare(eager, resident):
    """A row's text, and whether the two differ by more than the bound."""
    pairs = [b - a for a, b in zip(eager, resident)]
    error = statistics.stdev(pairs) / len(pairs) ** 0.5 if len(pairs) > 1 else float("inf")
    is_beyond = abs(statistics.mean(pairs)) - 2 * error > BOUND
    verdict = " <" if is_beyond else " more seeds" if error > BOUND / 2 else ""
    difference = f"{statistics.mean(pairs):+.2f} +- {error:.2f}{verdict}"
    return f"{spread(eager):<15} {spread(resident):<15} {difference}", is_beyond


def main():
    parser = trainings.parser_of(__doc__, "runs/steps")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gpus", default="")
    parser.add_argument("--precision", default="bf16")
    args = parser.parse_args()
    rows = trainings.chosen([(data, model) for data in DATASETS for model in RECIPES], args.words)
    ways = {"eager": "--step eager --precision fp32", "resident": f"--step resident --precision {args.precision}"}
    stores = {data: data if ":" in data else trainings.prepare(args, data) for data, _ in rows} if not args.list else {}

    gpus = queue.Queue()
    for gpu in args.gpus.split(",") * args.jobs:
        gpus.put(gpu)

    def start(pool, data, model, way, seed):
        # A GPU's worth of small trainings: two workers each are enough for what the host still does.
        options = f"{DATASETS[data]} {RECIPES[model]} {ways[way]} --workers 2 --seed {seed}"
        return pool.submit(train, args, gpus, stores[data], f"{data.replace(':', '-')}-{model}-{way}-{seed}", options)

    resident = f"resident {args.precision}"
    print(f"{'data set':<26} {'model':<12} {'eager fp32':<15} {resident:<15} difference", flush=True)
    beyond = 0
    with concurrent.futures.ThreadPoolExecutor(gpus.qsize()) as pool:
        results = {(*row, way): [] for row in rows for way in ways if not args.list and stores[row[0]]}
        for row in rows:  # pair by pair, so that a table that is broken off has pairs
            for seed in range(1, args.seeds + 1):
                for way in ways:
                    if (*row, way) in results:
                        results[*row, way].append(start(pool, *row, way, seed))
        for data, model in rows:
            text = f"{DATASETS[data]} {RECIPES[model]}" if args.list else "no data"
            if (data, model, "eager") in results:
                eager, resident = ([job.result() for job in results[data, model, way]] for way in ways)
                text, is_beyond = compare(eager, resident)
                beyond += is_beyond
            print(f"{data:<26} {model:<12} {text}", flush=True)
    if beyond:
        print(f"{beyond} of {len(rows)} differ by more than {BOUND} points (marked <)")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
