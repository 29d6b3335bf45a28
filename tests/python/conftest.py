# tests/python/conftest.py - what the tests of the Python package share.
import os
import subprocess
import sys
import threading

import pytest
import salient_gnn
import torch

FANOUTS = [6, 4, 3]


@pytest.fixture(scope="session")
def dataset():
    return salient_gnn.Dataset.open("synthetic:arxiv:0.02")


@pytest.fixture
def loader(dataset):
    return salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 128, shuffle=True, workers=2)


@pytest.fixture
def arrays():
    """Six nodes: a ring in both directions, and one edge 0 -> 3."""
    ring = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    return {
        "edge_index": torch.cat([ring, ring.flip(0), torch.tensor([[0], [3]])], 1),
        "x": torch.arange(12.0).view(6, 2),
        "y": torch.tensor([0, 1, 2, 0, 1, -1]),
        "train": torch.tensor([True, True, False, False, False, False]),
        "valid": [2],
        "test": [4, 3],
    }


@pytest.fixture
def torchrun():
    """Runs a script as two processes and returns what they print."""

    def run(*words, limit=200):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *words]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        ) as job:
            # Its processes, in sessions of their own, hold the pipe: SIGKILL would leave them, SIGTERM ends them.
            timer = threading.Timer(limit, job.terminate)
            timer.start()
            output = job.stdout.read()
            timer.cancel()
        assert job.returncode == 0, output
        return output

    return run
