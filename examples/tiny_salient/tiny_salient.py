#!/usr/bin/env python3
# examples/tiny_salient/tiny_salient.py - the whole method in one file, to be read: the same losses as salient-train.
"""SALIENT in NumPy and PyTorch, without its speed: what the engine computes, in the order in which it happens.

    tiny_salient.py data/wordnet --epochs 5 --fanout 15,10,5          a folder that salient-prepare made

1. random numbers    a function of what they decide, so that no thread or rank can change them
2. the graph         as salient-prepare stores it
3. sampling          which nodes and edges a mini-batch has
4. batches           one block of memory each, prepared ahead by threads
5. the model         GraphSAGE
6. training          mini-batches, gradients of all ranks summed, Adam; then evaluation, sampled as well

Losses, sampled edges and accuracies are those of `salient-train --device cpu --precision fp32` with the same options,
to the rounding of sums. The file of the engine that does the same, fast, is named beside each part.
"""
import argparse
import collections
import concurrent.futures
import pathlib
from typing import NamedTuple

import numpy as np
import torch

# ---------------------------------------------------------------------------------------------------------------------
# 1. Random numbers: core/philox.h, sampler/draws.h
#
# Nothing has a generator with a state. Each decision computes its random number from its own name: "neighbour 3 of node
# 17 in hop 1 of batch 5 of epoch 2". Whoever computes it, whenever, gets the same bits.

LOW_HALF = np.uint64(0xFFFFFFFF)
INFERENCE = 0x494E4652  # "INFR", in the place of the epoch: these draws are not those of any training epoch
ORDER_HOP = 0xFFFFFFFF  # in the place of the hop: draws that order an epoch's seeds


def philox(key, counter):
    """Philox4x32-10 (Salmon et al., SC 2011): 128 random bits for a key of two numbers and a counter of four.

    @param counter  four arrays, or numbers, of 32 bits that broadcast      @return  uint64 [4, ...], each below 2^32
    """
    k0, k1 = key
    c0, c1, c2, c3 = np.broadcast_arrays(*(np.atleast_1d(np.asarray(word, np.uint64)) for word in counter))
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1 = (b >> np.uint64(32)) ^ c1 ^ np.uint64(k0), b & LOW_HALF
        c2, c3 = (a >> np.uint64(32)) ^ c3 ^ np.uint64(k1), a & LOW_HALF
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return np.stack([c0, c1, c2, c3])


class BatchKey(NamedTuple):
    """Names a mini-batch of a run. `batch` counts the batches of all ranks together."""

    seed: int
    epoch: int
    batch: int


def draw_below(key, hop, nodes, draw, bound):
    """Draw number `draw` of each of `nodes` in `hop`: uniform in [0, bound). All may be arrays.

    Four draws share a Philox block. A word times the bound has the result in its upper half (Lemire, 2019); where the
    lower half shows that this word would favour some results, the same word of a later block takes its place.
    """
    nodes, draw, bound = (np.array(a, np.uint64) for a in np.broadcast_arrays(np.atleast_1d(nodes), draw, bound))
    block, word = draw // np.uint64(4), (draw % np.uint64(4)).astype(int)
    result = np.empty(len(nodes), np.int64)
    todo = np.arange(len(nodes))
    while len(todo) > 0:
        words = philox((key.seed, key.epoch), (nodes[todo], hop, key.batch, block[todo]))
        product = words[word[todo], np.arange(len(todo))] * bound[todo]
        is_fair = (product & LOW_HALF) >= (np.uint64(2**32) - bound[todo]) % bound[todo]
        result[todo[is_fair]] = product[is_fair] >> np.uint64(32)
        todo = todo[~is_fair]
        block[todo] += np.uint64(2**16)
    return result


# ---------------------------------------------------------------------------------------------------------------------
# 2. The graph: store/, docs/DATASETS.md


class Graph(NamedTuple):
    """Row v of the adjacency, indices[indptr[v]:indptr[v + 1]], has the nodes that v aggregates from."""

    indptr: np.ndarray  # int64 [N + 1]
    indices: np.ndarray  # uint32 [E]
    features: np.ndarray  # f16 or f32 [N, D]
    labels: np.ndarray  # [N]: a class, below 0 where there is none
    train: np.ndarray  # ids of the nodes of each split
    valid: np.ndarray
    test: np.ndarray


def open_graph(folder):
    """Maps the files into memory; nothing is read before it is used."""
    files = {name: pathlib.Path(folder) / f"{name}.npy" for name in Graph._fields}
    return Graph(**{name: np.load(file, mmap_mode="r") for name, file in files.items()})


# ---------------------------------------------------------------------------------------------------------------------
# 3. Sampling: sampler/reference_sampler.cpp, sampler/neighbor_sampler.cpp, on the GPU sampler/device_hop.cu
#
# A model of L layers needs the neighbours of the seeds, their neighbours, and so on: L hops. Each hop keeps at most
# `fanout` neighbours of every node that is known so far, and numbers the new ones in the order in which they appear.
# So the nodes of a hop are the first ones of the next, and the seeds are 0, 1, 2, ... everywhere.


class Hop(NamedTuple):
    """Destination i aggregates from the nodes indices[indptr[i]:indptr[i + 1]], by their numbers in the batch."""

    indptr: np.ndarray  # int64 [destinations + 1]
    indices: np.ndarray  # int64 [edges]


def choose(key, hop, nodes, degrees, fanout):
    """`fanout` distinct places in the row of each node, whose degrees are all larger (Floyd's algorithm).

    Every subset is equally likely: the i-th draw is from [0, last]; if it was taken already, `last` is not.
    """
    chosen = np.empty((len(nodes), fanout), np.int64)
    for i in range(fanout):
        last = degrees - fanout + i
        drawn = draw_below(key, hop, nodes, i, last + 1)
        is_taken = (chosen[:, :i] == drawn[:, None]).any(axis=1)
        chosen[:, i] = np.where(is_taken, last, drawn)
    return chosen


def number(nodes, neighbors):
    """Adds what is new in `neighbors` behind `nodes`. @return  all of them, and the number of each neighbour"""
    ids, first, place = np.unique(np.concatenate([nodes, neighbors]), return_index=True, return_inverse=True)
    order = np.argsort(first)
    number_of = np.empty_like(order)
    number_of[order] = np.arange(len(order))
    return ids[order], number_of[place.reshape(-1)[len(nodes) :]]


def sample(graph, seeds, fanouts, key):
    """The message-flow graph of a batch. @return  ids of its nodes, the seeds first; its hops, the outermost first"""
    nodes, hops = np.asarray(seeds, np.int64), []
    for hop, fanout in enumerate(fanouts):
        begin = graph.indptr[nodes]
        degrees = graph.indptr[nodes + 1] - begin
        kept = degrees if fanout == -1 else np.minimum(degrees, fanout)
        places = np.tile(np.arange(kept.max(initial=0)), (len(nodes), 1))  # of a row that is kept whole
        is_long = degrees > kept
        if is_long.any():
            places[is_long] = choose(key, hop, nodes[is_long], degrees[is_long], fanout)
        is_kept = np.arange(places.shape[1]) < kept[:, None]
        neighbors = graph.indices[(begin[:, None] + places)[is_kept]].astype(np.int64)
        nodes, indices = number(nodes, neighbors)
        hops.insert(0, Hop(np.concatenate([[0], np.cumsum(kept)]), indices))
    return nodes, hops


def shuffled(seeds, key):
    """The order of an epoch's seeds: Fisher and Yates from the last place down (sampler/seed_order.cpp)."""
    seeds = np.array(seeds)
    last = np.arange(len(seeds) - 1, 0, -1)
    draw = np.arange(len(last))  # a name has 2^16 draws, in the place of the node
    others = draw_below(key, ORDER_HOP, draw // 2**16, draw % 2**16, last + 1)
    for place, other in zip(last, others):
        seeds[[place, other]] = seeds[[other, place]]
    return seeds


# ---------------------------------------------------------------------------------------------------------------------
# 4. Batches: loaders/batch_maker.cpp, loaders/batch_pipeline.h
#
# All parts of a batch lie in one block of memory, the slab: y | nodes | hops | x. One copy brings it to a GPU, instead
# of a dozen, and the parts are views of it on either side. Threads prepare the next batches while the model computes.


class Batch(NamedTuple):
    key: BatchKey
    y: torch.Tensor  # int64 [seeds]
    nodes: torch.Tensor  # int64 [N_b], ids in the graph
    hops: list  # of Hop, of tensors
    x: torch.Tensor  # f16 or f32 [N_b, D]


def to_slab(arrays):
    """One block that holds all arrays, each from a multiple of 256 bytes on, as views of its memory."""
    begins = np.cumsum([0] + [-(-array.nbytes // 256) * 256 for array in arrays])
    slab = torch.empty(int(begins[-1]), dtype=torch.uint8)
    views = []
    for begin, array in zip(begins, arrays):
        part = slab[begin : begin + array.nbytes].view(torch.from_numpy(array[:0]).dtype).view(array.shape)
        part.copy_(torch.from_numpy(array))
        views.append(part)
    return slab, views


def prepare(graph, seeds, fanouts, key):
    """What a worker does: samples, gathers the rows of the features, and writes all of it into a slab."""
    nodes, hops = sample(graph, seeds, fanouts, key)
    y, x = graph.labels[nodes[: len(seeds)]].astype(np.int64), graph.features[nodes]
    _, parts = to_slab([y, nodes, *(array for hop in hops for array in hop), x])
    y, nodes, *of_hops, x = parts
    return Batch(key, y, nodes, [Hop(*pair) for pair in zip(of_hops[::2], of_hops[1::2])], x)


def batches(graph, requests, fanouts, workers, slots=8):
    """The batches of `requests`, [(seeds, key)], in their order, of which `slots` are prepared ahead by `workers`."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        ahead = collections.deque()
        for seeds, key in requests:
            ahead.append(pool.submit(prepare, graph, seeds, fanouts, key))
            if len(ahead) > slots:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


# ---------------------------------------------------------------------------------------------------------------------
# 5. The model: models/sage.cpp, models/conv_stack.cpp, models/init.cpp, models/kernels/dropout.h


def initial(name, shape, seed):
    """Uniform within 1 / sqrt(inputs), from Philox with the parameter's name: the same on every rank."""
    name_hash = 2166136261  # FNV-1a
    for byte in name.encode():
        name_hash = (name_hash ^ byte) * 16777619 % 2**32
    size = shape[0] * shape[1]
    words = philox((seed, name_hash), (np.arange(-(-size // 4)), 0, 0, 0x494E4954)).T.reshape(-1)[:size]
    unit = (words >> np.uint64(8)).astype(np.float64) * 2.0**-24
    values = ((2 * unit - 1) / np.sqrt(shape[1])).astype(np.float32)
    return torch.nn.Parameter(torch.from_numpy(values.reshape(shape)))


def dropout(h, p, key, nodes, layer):
    """Element (row, column) is kept with probability 1 - p, by bits of its own: of (seed, step, node, column, layer).

    @param key  (seed, step)
    """
    nodes, columns = nodes[: len(h), None].numpy(), np.arange(h.shape[1])
    if p == 0.5:  # one bit decides: 128 columns share a block
        block, word, bit, size, tag = columns // 128, columns % 128 // 32, columns % 32, 2, 0x48414C46
    else:  # 16 bits decide: 8 columns share a block
        block, word, bit, size, tag = columns // 8, columns % 8 // 2, columns % 2 * 16, 2**16, 0x44524F50
    words = philox(key, (nodes, block, layer, tag))
    drawn = np.take_along_axis(words, np.broadcast_to(word, h.shape)[None], axis=0)[0]
    drawn = (drawn >> bit.astype(np.uint64)) % np.uint64(size)
    threshold = round(p * size)
    return h * torch.from_numpy((drawn >= threshold).astype(np.float32)) * (size / (size - threshold))


class GraphSage(torch.nn.Module):
    """h_i' = W_l mean(h_j : j in N(i)) + W_r h_i, with ReLU and dropout between the layers.

    Layer 0 computes the destinations of the outermost hop from all nodes of the batch, the last one the seeds' logits.
    """

    def __init__(self, widths, p, seed):
        super().__init__()
        self.p, self.seed = p, seed
        shapes = list(zip(widths[1:], widths))
        names = [f"convs.{i}.lin_{side}.weight" for i in range(len(shapes)) for side in "lr"]
        self.weights = torch.nn.ParameterList(initial(name, shapes[i // 2], seed) for i, name in enumerate(names))

    def forward(self, batch, step):
        h = batch.x.float()
        for layer, hop in enumerate(batch.hops):
            counts = hop.indptr.diff()
            destination = torch.repeat_interleave(torch.arange(len(counts)), counts)
            sums = torch.zeros(len(counts), h.shape[1]).index_add(0, destination, h[hop.indices])
            mean = sums / counts.clamp(min=1)[:, None]
            left, right = self.weights[2 * layer], self.weights[2 * layer + 1]
            h = mean @ left.T + h[: len(counts)] @ right.T
            if layer + 1 < len(batch.hops):
                h = h.relu()
                if self.training and self.p > 0:
                    h = dropout(h, self.p, (self.seed, step), batch.nodes, layer)
        return h


# ---------------------------------------------------------------------------------------------------------------------
# 6. Training: engine/train/epoch_trainer.cpp, evaluation: engine/infer/sampled_inference.cpp


class Options(NamedTuple):
    """Names and defaults are those of salient-train, as is the meaning."""

    fanout: tuple = (15, 10, 5)
    eval_fanout: tuple = (20, 20, 20)
    hidden: int = 256
    dropout: float = 0.5
    batch_size: int = 1024  # seeds of a rank and step
    epochs: int = 20
    lr: float = 0.003
    seed: int = 1
    workers: int = 2
    ranks: int = 1  # which take turns here


def shares(seeds, num_ranks):
    """Rank r's part of a step's seeds, contiguous, sizes at most one apart."""
    ends = [len(seeds) * rank // num_ranks for rank in range(num_ranks + 1)]
    return [seeds[begin:end] for begin, end in zip(ends, ends[1:])]


def requests_of_epoch(graph, options, epoch):
    """(seeds, key) of every rank's part of every step. All parts of a step have its key: a draw depends on its node."""
    key = BatchKey(options.seed, epoch, 0)
    seeds, size = shuffled(graph.train, key), options.batch_size * options.ranks
    for step, begin in enumerate(range(0, len(seeds), size)):
        for share in shares(seeds[begin : begin + size], options.ranks):
            yield share, key._replace(batch=step)


def train_epoch(graph, model, optimizer, options, epoch):
    """@return  the mean loss, and how many nodes and edges the hops have had, the seeds' own hop first"""
    model.train()
    loss_sum, nodes, edges = 0.0, np.zeros(len(options.fanout), int), np.zeros(len(options.fanout), int)
    global_size = options.batch_size * options.ranks
    steps = -(-len(graph.train) // global_size)
    requests = requests_of_epoch(graph, options, epoch)
    for i, batch in enumerate(batches(graph, requests, options.fanout, options.workers)):
        step, rank = divmod(i, options.ranks)
        if rank == 0:
            optimizer.zero_grad()
        num_seeds = min(global_size, len(graph.train) - step * global_size)  # of the step, over all ranks
        logits = model(batch, (epoch - 1) * steps + step)
        loss = torch.nn.functional.cross_entropy(logits, batch.y, reduction="sum")
        (loss / num_seeds).backward()  # adds to the gradients: between processes this sum is the all-reduce
        loss_sum += loss.item()
        nodes += [len(hop.indptr) - 1 for hop in batch.hops[-2::-1]] + [len(batch.nodes)]
        edges += [len(hop.indices) for hop in batch.hops[::-1]]
        if rank == options.ranks - 1:
            optimizer.step()
    return {"loss": loss_sum / len(graph.train), "hop_nodes": nodes.tolist(), "hop_edges": edges.tolist()}


@torch.no_grad()
def accuracy(graph, model, nodes, options):
    """Share of `nodes` whose class the model finds from sampled neighbours: the draws are the same each time."""
    model.eval()
    parts = [nodes[begin : begin + 1024] for begin in range(0, len(nodes), 1024)]
    requests = [(part, BatchKey(options.seed, INFERENCE, i)) for i, part in enumerate(parts)]
    right = 0
    for batch in batches(graph, requests, options.eval_fanout, options.workers):
        right += int((model(batch, 0).argmax(dim=1) == batch.y).sum())
    return right / len(nodes)


def train(graph, options):
    """Yields a dict per epoch: epoch, loss, hop_nodes, hop_edges, valid_accuracy."""
    num_classes = int(graph.labels.max()) + 1
    widths = [graph.features.shape[1], *[options.hidden] * (len(options.fanout) - 1), num_classes]
    model = GraphSage(widths, options.dropout, options.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    for epoch in range(1, options.epochs + 1):
        figures = train_epoch(graph, model, optimizer, options, epoch)
        yield {"epoch": epoch, **figures, "valid_accuracy": accuracy(graph, model, graph.valid, options)}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="a folder that salient-prepare made, of one class a node")
    for name, default in Options._field_defaults.items():
        is_list = isinstance(default, tuple)
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            default=default,
            type=(lambda text: tuple(map(int, text.split(",")))) if is_list else type(default),
        )
    words = vars(parser.parse_args())
    return words.pop("dataset"), Options(**words)


def main():
    dataset, options = parse_options()
    for row in train(open_graph(dataset), options):
        print(
            f"epoch {row['epoch']}: loss {row['loss']:.6f}, valid accuracy {row['valid_accuracy']:.4f}, "
            f"{sum(row['hop_edges'])} edges sampled"
        )


if __name__ == "__main__":
    main()
