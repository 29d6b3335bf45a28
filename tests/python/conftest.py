# tests/python/conftest.py - what the tests of the Python package share.
import pathlib
import sys

import pytest
import salient_gnn
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from job import Job

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
        done = Job(command, {"OMP_NUM_THREADS": "1"}).end(limit)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run
