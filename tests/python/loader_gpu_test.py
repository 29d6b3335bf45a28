# tests/python/loader_gpu_test.py - batches on a GPU are those on the CPU, wherever features and graph are.
import pytest
import salient_gnn
import torch
from conftest import FANOUTS

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
needs_build = pytest.mark.skipif(not salient_gnn._core.has_cuda, reason="salient_gnn was built without CUDA")


def on_gpu(dataset, **options):
    return salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 128, shuffle=True, device="cuda", workers=3, **options)


@pytest.mark.parametrize(
    "features, sampler",
    [("host", "host"), ("device", "host"), ("cached", "host"), pytest.param("host", "device", marks=needs_build),
     pytest.param("device", "device", marks=needs_build), pytest.param("cached", "device", marks=needs_build),
     ("auto", "auto")],
)  # fmt: skip
def test_batches_are_those_on_the_cpu(dataset, loader, features, sampler):
    count, row_bytes = 0, dataset._core.feature_bytes // dataset.num_nodes
    cache_bytes = row_bytes * (dataset.num_nodes // 3)
    for there, here in zip(on_gpu(dataset, features=features, sampler=sampler, cache_bytes=cache_bytes), loader):
        assert there.device.type == "cuda" and there.x.is_cuda
        for name in ("nodes", "x", "y", "edge_index"):
            assert torch.equal(getattr(there, name).cpu(), getattr(here, name)), name
        for a, b in zip(there.layers, here.layers):
            assert torch.equal(a.indptr.cpu(), b.indptr) and torch.equal(a.indices.cpu(), b.indices)
        assert there.num_sampled_edges == here.num_sampled_edges
        count += 1
    assert count == len(loader)


def test_kept_tensors_never_change_and_loops_end_early(dataset):
    loader, kept = on_gpu(dataset), []
    for batch in loader:
        kept.append((batch.nodes, batch.nodes.cpu(), batch.layers[0].indices, batch.layers[0].indices.cpu()))
        torch.mm(torch.ones(2048, 2048, device="cuda"), torch.ones(2048, 2048, device="cuda"))
    for _ in range(3):
        for batch in loader:
            break
    for nodes, nodes_then, indices, indices_then in kept:
        assert torch.equal(nodes.cpu(), nodes_then) and torch.equal(indices.cpu(), indices_then)


def test_gpu_memory_is_flat_over_epochs(dataset):
    loader, peaks = on_gpu(dataset), []
    for _ in range(6):
        for batch in loader:
            batch.x.sum()
        torch.cuda.synchronize()
        peaks.append(torch.cuda.max_memory_allocated())
    assert peaks[-1] <= peaks[1] * 1.5


def test_device_is_refused_where_it_cannot_be(dataset):
    with pytest.raises(ValueError, match="features"):
        salient_gnn.NeighborLoader(dataset, "train", FANOUTS, features="device")
