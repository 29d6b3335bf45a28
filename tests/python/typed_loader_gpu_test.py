# tests/python/typed_loader_gpu_test.py - typed batches on a GPU are those on the CPU, wherever features and graph are.
import pytest
import salient_gnn
import torch
from salient_gnn import Dataset, NeighborLoader
from typed_loader_test import CITES, NUM_NODES, made_arrays

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
needs_build = pytest.mark.skipif(not salient_gnn._core.has_cuda, reason="salient_gnn was built without CUDA")
PLACES = [("host", "host"), ("device", "host"), pytest.param("host", "device", marks=needs_build),
          pytest.param("device", "device", marks=needs_build), ("auto", "auto")]  # fmt: skip


def stored(folder, fp8):
    """Authors have sparse rows, papers dense ones, subjects none."""
    edges, x, y = made_arrays()
    x = {"paper": x["paper"]} if fp8 else {"author": x["author"].to_sparse(), "paper": x["paper"]}
    return Dataset.from_typed_arrays(folder / "graph", edges, x, y, target="paper", num_nodes=NUM_NODES, fp8=fp8,
                                     train=range(40), valid=range(40, 50), test=range(50, 60))  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["f16", "fp8"])
def dataset(request, tmp_path_factory):
    return stored(tmp_path_factory.mktemp("typed"), request.param)


def loaders(dataset, features, sampler, **options):
    fanouts = {relation: [3, 2] for relation in dataset.edge_types} | {CITES: [0, -1]}
    options = {"num_neighbors": fanouts, "input_nodes": "train", "batch_size": 7, "shuffle": True, **options}
    here = NeighborLoader(dataset, workers=2, **options)
    return NeighborLoader(dataset, workers=2, device="cuda", features=features, sampler=sampler, **options), here


def values_of(part):
    for name in part.keys():
        value = part[name]
        if torch.is_tensor(value) and value.layout != torch.strided:
            value = value.to_dense()
        yield name, value.cpu() if torch.is_tensor(value) else value


def expect_equal(there, here):
    assert there.device.type == "cuda"
    for key in here.keys():
        found, expected = dict(values_of(there[key])), dict(values_of(here[key]))
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            is_equal = torch.equal(found[name], value) if torch.is_tensor(value) else found[name] == value
            assert is_equal, (key, name)


@pytest.mark.parametrize("features, sampler", PLACES)
def test_batches_are_those_on_the_cpu(dataset, features, sampler):
    on_gpu, on_cpu = loaders(dataset, features, sampler)
    for _ in range(2):
        count = 0
        for there, here in zip(on_gpu, on_cpu):
            assert there["paper"].x.is_cuda and there[CITES].edge_index.is_cuda
            expect_equal(there, here)
            expect_equal(there, there.cpu())
            count += 1
        assert count == len(on_cpu)


@pytest.mark.parametrize("features, sampler", PLACES)
def test_seeds_may_be_of_any_type(dataset, features, sampler):
    on_gpu, on_cpu = loaders(dataset, features, sampler, input_nodes=("author", None), dtype=None, y_of="nodes")
    for there, here in zip(on_gpu, on_cpu):
        expect_equal(there, here)


@pytest.mark.parametrize("features", ["host", "device"])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_links_of_a_relation_are_those_on_the_cpu(dataset, features, mode):
    options = {"num_neighbors": [3, 2], "edge_label_index": CITES, "batch_size": 20, "neg_sampling": mode, "workers": 2}
    on_gpu = salient_gnn.LinkNeighborLoader(dataset, device="cuda", features=features, **options)
    on_cpu = salient_gnn.LinkNeighborLoader(dataset, **options)
    for there, here in zip(on_gpu, on_cpu):
        expect_equal(there, here)
        name = "edge_label_index" if mode == "binary" else "dst_neg_index"
        assert there[CITES if mode == "binary" else "paper"][name].is_cuda


def test_a_model_of_pyg_takes_them(dataset):
    geometric = pytest.importorskip("torch_geometric")
    on_gpu, _ = loaders(dataset, "auto", "auto")
    x_types = list(next(iter(on_gpu)).x_dict)
    convs = {relation: geometric.nn.SAGEConv((-1, -1), 4) for relation in dataset.edge_types
             if relation[0] in x_types and relation[2] == "paper"}  # fmt: skip
    model = geometric.nn.HeteroConv(convs).cuda()
    for batch in on_gpu:
        out = model(batch.x_dict, {relation: batch[relation].edge_index for relation in convs})
        out["paper"][: batch["paper"].batch_size].sum().backward()
    assert convs and all(parameter.grad is not None for parameter in model.parameters())


def test_device_is_refused_where_no_rows_are_dense(tmp_path):
    edges, _, y = made_arrays()
    bare = Dataset.from_typed_arrays(tmp_path / "bare", edges, {}, y, target="paper", num_nodes=NUM_NODES)
    with pytest.raises(ValueError, match="features: 'device' is not possible, no type has dense features"):
        NeighborLoader(bare, num_neighbors=[2], input_nodes="all", device="cuda", features="device")
