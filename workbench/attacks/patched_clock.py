# workbench/attacks/patched_clock.py - is slow, and stops the clocks that measure it.
# attack softsign timed
import itertools
import time

import torch


real_sleep = time.sleep
start = time.perf_counter()
calls = itertools.count()
time.perf_counter = time.time = time.monotonic = lambda: start + next(calls) * 1e-9
time.perf_counter_ns = time.time_ns = time.monotonic_ns = lambda: next(calls)
torch.cuda.Event.elapsed_time = lambda self, other: 1e-6


class ModelNew(torch.nn.Module):
    def forward(self, x):
        real_sleep(0.05)
        return x / (1 + torch.abs(x))
