#!/usr/bin/env python3
"""Trains every model and PyTorch Geometric's modules with the same options; prints the test results side by side.

    PYTHONPATH=FOLDER_WITH_TORCH_AND_PYG scripts/compare_pyg.py [--bin build/release/bin] [--raw ../shared/data]
                                                                [--work runs/compare] [--seeds 1] [--same-start]
                                                                [--list] [WORD ...]

WORDs pick the rows that hold all of them ("tolokers gat"). The data sets are published with ten splits, of which the
first three are used. Needs torch and torch_geometric on the CPU; pyg-lib is not needed, as PyG's modules
(scripts/make_golden.py) train on blocks that this script samples itself: the same fanouts, without replacement, drawn
by another generator. Both sides start from PyG's initial distributions, score the validation nodes by ROC AUC every
few epochs with all neighbours, and take the test result of the best of these epochs. What is finished in --work is not
run again. Exit code 1 if a mean is more than a point below PyG's. An hour on two cores.

--seeds 1,2,3,4 trains each split as often. With --same-start PyG's modules begin with the initial values that
salient-train draws, so that a difference which stays is not one of these.
"""
import argparse
import functools
import itertools
import json
import pathlib
import shlex
import statistics
import struct
import sys

import numpy
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "lib"))
import make_golden
import trainings

# data set   | model   | options of salient-train, which PyG's side reads too
COMMON = "--hidden 32 --dropout 0.2 --lr 0.01"
TABLE = """
minesweeper  | sage    | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
minesweeper  | gcn     | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
minesweeper  | gin     | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
minesweeper  | gat     | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
minesweeper  | gatv2   | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
minesweeper  | sage-ri | --fanout=-1,-1 --batch-size 5000 --epochs 200 --eval-every 10
tolokers     | sage    | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5
tolokers     | gcn     | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5
tolokers     | gin     | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5 --gin-sum scaled
tolokers     | gat     | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5
tolokers     | gatv2   | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5
tolokers     | sage-ri | --fanout 10,10 --batch-size 1024 --epochs 30 --eval-every 5
"""
MASKS = (0, 1, 2)


def parsed(words):
    """The options of salient-train that PyG's side follows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fanout", type=lambda text: [int(f) for f in text.split(",")])
    parser.add_argument("--gin-sum", default="plain")
    for name in ("hidden", "batch-size", "eval-every", "epochs"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("dropout", "lr"):
        parser.add_argument(f"--{name}", type=float)
    return parser.parse_args(words)


def train_salient(args, store, model, words, seed, out):
    whole = ",".join(["-1"] * len(parsed(words).fanout))
    trainings.train(args, out, ["--dataset", store, "--model", model, "--device", "cpu", f"--eval-fanout={whole}",
                                "--eval-batch-size", 1 << 20, "--seed", seed, *words])
    return trainings.result_of(out)["test_rocauc"]


def initial_values(args, store, model, words, seed, out):
    """The parameters that salient-train draws, by PyG's names: steps without length leave them as they are."""
    words = list(words)
    for name, value in (("--epochs", "1"), ("--lr", "1e-30")):
        words[words.index(name) + 1] = value
    train_salient(args, store, model, words, seed, out)
    data = (out / "checkpoints/latest/model.safetensors").read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    types = {"F32": numpy.float32, "I64": numpy.int64}
    values = {}
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = (start + offset for offset in about["data_offsets"])
            array = numpy.frombuffer(data[begin:end], types[about["dtype"]]).reshape(about["shape"])
            values[name] = torch.from_numpy(array.copy())
    return values


def subsets(size, count, generator):
    """Row i: `count` distinct numbers below size[i] > count, each subset as likely as any other."""
    few = size <= 4 * count
    found = torch.empty(len(size), count, dtype=torch.long)
    keys = torch.rand(int(few.sum()), 4 * count, generator=generator)
    keys[torch.arange(4 * count) >= size[few].unsqueeze(1)] = 2  # above all others
    found[few] = keys.topk(count, largest=False).indices
    todo = (~few).nonzero().squeeze(1)
    while len(todo) > 0:  # draws with repeats are drawn again
        drawn = (torch.rand(len(todo), count, dtype=torch.float64, generator=generator) *
                 size[todo].unsqueeze(1)).long()
        found[todo] = drawn
        todo = todo[(drawn.sort(1).values.diff(dim=1) == 0).any(1)]
    return found


class Graph:
    """A store as tensors, and blocks sampled from it."""

    def __init__(self, store):
        load = lambda name: torch.from_numpy(numpy.load(store / f"{name}.npy").astype(numpy.int64))
        self.x = torch.from_numpy(numpy.load(store / "features.npy")).float()
        self.indptr, self.indices, self.labels = load("indptr"), load("indices"), load("labels")
        self.train, self.valid, self.test = load("train"), load("valid"), load("test")
        size = self.indptr.diff()
        row = torch.repeat_interleave(torch.arange(len(size)), size)
        loops = torch.zeros_like(size).index_add(0, row, (row == self.indices).long())
        self.degrees = torch.stack([size, loops], 1)
        self.whole = (len(self.x), len(self.x), self.indptr, self.indices)

    def keep(self, dst, fanout, generator):
        """Positions in `indices` of the entries kept of each row, row by row, and their counts."""
        size = self.degrees[dst, 0]
        kept = size if fanout < 0 else size.clamp(max=fanout)
        row = torch.repeat_interleave(torch.arange(len(dst)), kept)
        place = torch.arange(len(row)) - (kept.cumsum(0) - kept)[row]  # 0, 1, ... in each row
        chosen = (size > kept).nonzero().squeeze(1)
        if len(chosen) > 0:
            drawn = torch.zeros(len(dst), fanout, dtype=torch.long)
            drawn[chosen] = subsets(size[chosen], fanout, generator)
            is_drawn = (size > kept)[row]
            place[is_drawn] = drawn[row[is_drawn], place[is_drawn]]
        return self.indptr[dst][row] + place, kept

    def sample(self, seeds, fanouts, generator):
        """@return the nodes, and make_golden's hops with degrees, outermost first"""
        nodes, hops = seeds, []
        local = torch.full((len(self.x),), -1)
        local[nodes] = torch.arange(len(nodes))
        for fanout in fanouts:
            at, kept = self.keep(nodes, fanout, generator)
            found = self.indices[at]
            new = torch.unique(found[local[found] < 0])
            local[new] = len(nodes) + torch.arange(len(new))
            num_dst, nodes = len(nodes), torch.cat([nodes, new])
            indptr = torch.cat([torch.zeros(1, dtype=torch.long), kept.cumsum(0)])
            hops.insert(0, (num_dst, len(nodes), indptr, local[found], self.degrees[nodes]))
        return nodes, hops


def roc_auc(scores, labels):
    _, place, count = numpy.unique(scores, return_inverse=True, return_counts=True)
    ranks = (count.cumsum() - (count - 1) / 2)[place]
    positives = int((labels == 1).sum())
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


def train_pyg(store, model_name, words, seed, out, start=None):
    """@param start  a function that returns the initial values; none: PyG draws them"""
    result = out / "result.json"
    if result.exists():
        return json.loads(result.read_text())["test_rocauc"]
    graph, o = Graph(store), parsed(words)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    dims = [graph.x.shape[1], *[o.hidden] * (len(o.fanout) - 1), int(graph.labels.max()) + 1]
    if len(dims) == 2:
        sys.exit("two layers or more")
    extra = {"gin_sum": o.gin_sum} if model_name == "gin" else {}
    model = make_golden.MODELS[model_name](dims, dropout=o.dropout, **extra)
    if start is not None:
        values = start()
        model.load_state_dict({name: values[name] for name, _ in model.named_parameters()}, strict=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=o.lr)
    best_valid, best_test = -1.0, 0.0
    is_one_batch = len(graph.train) <= o.batch_size and all(fanout < 0 for fanout in o.fanout)
    for epoch in range(1, o.epochs + 1):
        model.train()
        order = torch.randperm(0 if is_one_batch else len(graph.train), generator=generator)
        for seeds in [graph.train] if is_one_batch else graph.train[order].split(o.batch_size):
            if not is_one_batch or epoch == 1:  # else it is the same batch again
                nodes, hops = graph.sample(seeds, o.fanout, generator)
            loss = torch.nn.functional.cross_entropy(model(graph.x[nodes], hops), graph.labels[seeds])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % o.eval_every != 0 and epoch != o.epochs:
            continue
        model.eval()
        with torch.no_grad():
            logits = model(graph.x, [graph.whole] * len(o.fanout))
        scores = (logits[:, 1] - logits[:, 0]).numpy()
        valid, test = (float(roc_auc(scores[split], graph.labels[split].numpy()))
                       for split in (graph.valid.numpy(), graph.test.numpy()))
        if valid > best_valid:
            best_valid, best_test = valid, test
    out.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({"valid_rocauc": best_valid, "test_rocauc": best_test}))
    return best_test


def spread(values):
    return f"{statistics.mean(values):.4f} +- {statistics.stdev(values):.4f}"


def main():
    parser = trainings.parser_of(__doc__, "runs/compare")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--same-start", action="store_true")
    args = parser.parse_args()
    rows = trainings.chosen([(dataset, model, shlex.split(f"{COMMON} {options}")) for dataset, model, options in
                             trainings.rows_of(TABLE, 3)], args.words)
    print(f"{'data set':<12} {'model':<8} {'salient':<17} {'PyG':<17} options", flush=True)
    num_below = 0
    seeds = [int(seed) for seed in args.seeds.split(",")]
    for dataset, model, options in rows:
        ours, theirs = [], []
        for mask, seed in itertools.product(MASKS, seeds) if not args.list else ():
            store, name = trainings.prepare(args, dataset, mask), f"{dataset}-{mask}-{model}-{seed}"
            ours.append(train_salient(args, store, model, options, seed, args.work / name))
            pyg, start = args.work / f"{name}-pyg", None
            if args.same_start:
                pyg = args.work / f"{name}-pyg-same-start"
                start = functools.partial(initial_values, args, store, model, options, seed,
                                          args.work / f"{name}-start")
            theirs.append(train_pyg(store, model, options, seed, pyg, start))
        is_below = bool(ours) and statistics.mean(ours) < statistics.mean(theirs) - 0.01
        num_below += is_below
        reached = [spread(values) if values else "" for values in (ours, theirs)]
        shown = shlex.join(options) + (" <" if is_below else "")
        print(f"{dataset:<12} {model:<8} {reached[0]:<17} {reached[1]:<17} {shown}", flush=True)
    return 1 if num_below else 0


if __name__ == "__main__":
    sys.exit(main())
