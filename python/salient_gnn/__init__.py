# python/salient_gnn/__init__.py - the public names of the package.
"""SALIENT's mini-batches for PyTorch: sampled, gathered and copied by threads, without a worker process.

    dataset = salient_gnn.Dataset.open("data/wordnet")
    loader = salient_gnn.NeighborLoader(dataset, dataset.train, [15, 10, 5], batch_size=1024, shuffle=True)
    for batch in loader:
        loss = cross_entropy(model(batch.x, batch.edge_index)[: batch.batch_size], batch.y)
"""

import torch  # noqa: F401  its CUDA runtime is the one that _core takes, wherever torch has it

from salient_gnn._core import Error, __version__
from salient_gnn.batch import Batch
from salient_gnn.dataset import Dataset
from salient_gnn.layer import Layer
from salient_gnn.link_batch import LinkBatch, TypedLinkBatch
from salient_gnn.link_loader import LinkNeighborLoader
from salient_gnn.loader import NeighborLoader
from salient_gnn.models import load_model, take_layers
from salient_gnn.programs import Predictions, ProgramError, Run, predict, train
from salient_gnn.tables import prepare
from salient_gnn.typed_batch import TypedBatch
from salient_gnn.typed_dataset import TypedDataset

__all__ = [
    "Batch",
    "Dataset",
    "Error",
    "Layer",
    "LinkBatch",
    "LinkNeighborLoader",
    "NeighborLoader",
    "Predictions",
    "ProgramError",
    "Run",
    "TypedBatch",
    "TypedDataset",
    "TypedLinkBatch",
    "__version__",
    "load_model",
    "predict",
    "prepare",
    "take_layers",
    "train",
]
