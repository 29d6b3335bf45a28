#!/usr/bin/env python3
# tests/python/soak.py - iterations that are broken off, restarted and collected by several threads, for a long time.
"""    soak.py SECONDS

Loaders of 0, 1 and 2 workers, each shared by 1, 2 and 6 threads. Every thread starts, breaks off, shares and drops
iterations in its own way; between them the threads of a loader share one whole iteration, whose batches must each be
there once. Prints the resident memory from the first round to the last. Exit code 1: a batch is missing or twice.
"""
import gc
import random
import sys
import threading
import time

import salient_gnn
import torch

torch.set_num_threads(1)


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


def use(loader, draws, left):
    """One iteration: broken off, raised from, left to the garbage collector, to another thread, or whole."""
    kind, most = draws.randrange(5), draws.randrange(1, 6)
    if kind == 0:
        for number, batch in enumerate(loader):
            if number == most:
                break
    elif kind == 1:
        try:
            for batch in loader:
                raise KeyError(batch.index)
        except KeyError:
            pass
    elif kind == 2:  # in a cycle, which any thread may collect
        cycle = [iter(loader)]
        cycle.append(cycle)
        next(cycle[0], None)
    elif kind == 3:
        left.append(iter(loader))
        for iterator in left[-2:]:
            next(iterator, None)
        if len(left) > 4:
            del left[:2]
    else:
        for batch in loader:  # none is kept: a loader keeps memory for as many as were held at the same time
            batch.nodes.sum()
    if draws.randrange(8) == 0:
        loader.close()
    if draws.randrange(16) == 0:
        gc.collect()


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def once_each(loader, num_threads):
    iterator, seen = iter(loader), []
    in_threads(num_threads, lambda _: seen.extend(batch.index for batch in iterator))
    return sorted(seen) == list(range(len(loader)))


def main():
    end = time.monotonic() + float(sys.argv[1])
    dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    pairs = [
        (salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, shuffle=True, workers=workers), num_threads)
        for workers in (0, 1, 2) for num_threads in (1, 2, 6)
    ]  # fmt: skip
    rounds, resident = 0, []
    while rounds < 2 or time.monotonic() < end:
        for loader, num_threads in pairs:
            left = []

            def breaks_off(number):
                draws = random.Random(f"{rounds} {loader.workers} {num_threads} {number}")
                for _ in range(10):
                    use(loader, draws, left)

            in_threads(num_threads, breaks_off)
            if not once_each(loader, num_threads):
                sys.exit(f"workers={loader.workers}, {num_threads} threads: batches are missing or twice")
        rounds += 1
        resident.append(resident_kib())
    shown = sorted({len(resident) * part // 10 for part in range(10)} | {len(resident) - 1})
    print(f"rounds {rounds}, resident KiB after round", *(f"{number + 1}: {resident[number]}" for number in shown))


main()
