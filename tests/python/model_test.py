# tests/python/model_test.py - PyG models on the loader's batches, and the programs' models in PyG.
import copy
import os
import pathlib
import subprocess

import numpy
import pytest
import salient_gnn
import torch

pyg = pytest.importorskip("torch_geometric")
from torch_geometric.nn import GINConv, GraphSAGE, SAGEConv  # noqa: E402
from torch_geometric.utils import trim_to_layer  # noqa: E402

DATASET = "synthetic:arxiv:0.05"
programs = pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("SALIENT_BIN", "")) / "salient-train").exists(), reason="SALIENT_BIN has none"
)


class Bipartite(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b, bias=False) for a, b in zip(dims, dims[1:]))

    def forward(self, x, layers):
        for i, (conv, layer) in enumerate(zip(self.convs, layers)):
            x = conv((x, x[: layer.num_dst]), layer.edge_index, size=layer.size)
            if i + 1 < len(self.convs):
                x = torch.nn.functional.dropout(x.relu(), 0.5, self.training)
        return x


@pytest.fixture(scope="module")
def data():
    return salient_gnn.Dataset.open(DATASET)


def accuracy(model, data, nodes, fanouts):
    model.eval()
    right = 0
    with torch.no_grad():
        for batch in salient_gnn.NeighborLoader(data, nodes, fanouts, 1024, workers=2):
            right += int((model(batch.x, batch.layers).argmax(1) == batch.y).sum())
    return right / len(getattr(data, nodes))


@pytest.mark.parametrize("aggr", ["mean", "sum"])
def test_convolutions_take_layers_with_the_results_of_their_edges(data, aggr):
    torch.manual_seed(0)
    batch = next(iter(salient_gnn.NeighborLoader(data, "train", [5, 4], 64, workers=1)))
    model = torch.nn.ModuleList([SAGEConv(data.num_features, 8, aggr=aggr), GINConv(torch.nn.Linear(8, 4))])
    results = []
    for form in ("edges", "layers", "layers of a copy", "edges again"):
        if form == "layers":
            assert salient_gnn.take_layers(model) is model
        x = batch.x.clone().requires_grad_()
        convs = copy.deepcopy(model) if form == "layers of a copy" else model
        convs.zero_grad()
        rows = x
        for conv, layer in zip(convs, batch.layers):
            rows = conv((rows, rows[: layer.num_dst]), layer.edge_index if "edges" in form else layer)
        rows.square().sum().backward()
        results.append([rows, x.grad, *(parameter.grad for parameter in convs.parameters())])
    for result in results[1:]:
        for one, other in zip(result, results[0]):
            assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_model_without_sums_takes_no_layers():
    with pytest.raises(ValueError, match="SAGEConv"):
        salient_gnn.take_layers(SAGEConv(4, 4, aggr="max"))


class OwnMessages(SAGEConv):
    def message(self, x_j):
        return 2 * x_j


@pytest.mark.parametrize("conv", [OwnMessages(4, 4), SAGEConv(4, 4, flow="target_to_source")])
def test_convolutions_that_a_reduction_does_not_compute_take_no_layers(conv):
    with pytest.raises(ValueError, match="SAGEConv"):
        salient_gnn.take_layers(conv)


def test_a_trimmed_model_gives_the_seeds_what_the_whole_one_gives(data):
    torch.manual_seed(0)
    model = GraphSAGE(data.num_features, 16, 3, data.num_classes).eval()
    batch = next(iter(salient_gnn.NeighborLoader(data, "train", [5, 4, 3], 64, workers=1)))
    whole = model(batch.x, batch.edge_index)[: len(batch)]
    trimmed = model(
        batch.x,
        batch.edge_index,
        num_sampled_nodes_per_hop=batch.num_sampled_nodes,
        num_sampled_edges_per_hop=batch.num_sampled_edges,
    )[: len(batch)]
    assert torch.allclose(whole, trimmed, atol=1e-5)
    x, edges, _ = trim_to_layer(1, batch.num_sampled_nodes, batch.num_sampled_edges, batch.x, batch.edge_index)
    assert int(edges.max()) < len(x) == sum(batch.num_sampled_nodes[:-1])


def test_with_all_neighbours_every_form_is_the_whole_graph(data):
    torch.manual_seed(0)
    model = Bipartite([data.num_features, 16, data.num_classes]).eval()
    batch = next(iter(salient_gnn.NeighborLoader(data, "test", [-1, -1], 32, workers=1)))
    rows = torch.repeat_interleave(torch.arange(data.num_nodes), data.indptr.diff())
    x, edges = data.x.float(), torch.stack([data.indices.long(), rows])
    h = model.convs[1](model.convs[0](x, edges).relu(), edges)[batch.nodes[: len(batch)].long()]
    assert torch.allclose(model(batch.x, batch.layers), h, atol=1e-4)
    one = model.convs[1](model.convs[0](batch.x, batch.edge_index).relu(), batch.edge_index)[: len(batch)]
    assert torch.allclose(one, h, atol=1e-4)
    item = batch.to_pyg()
    assert torch.equal(item.edge_index, batch.edge_index) and item.batch_size == 32 and item.validate()


@programs
def test_a_pyg_model_reaches_the_accuracy_of_the_program(data, tmp_path):
    run = salient_gnn.train(
        DATASET, quiet=True, device="cpu", hidden=64, layers=2, fanout=[10, 5], batch_size=256, epochs=6, lr=0.01,
        dropout=0.5, out=tmp_path / "run",
    )  # fmt: skip
    found = []
    for seed in range(3):  # of one, the last digits of a processor's sums move the accuracy by a point
        torch.manual_seed(seed)
        model = Bipartite([data.num_features, 64, data.num_classes])
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        loader = salient_gnn.NeighborLoader(data, "train", [10, 5], 256, shuffle=True, workers=2)
        for _ in range(6):
            model.train()
            for batch in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(batch.x, batch.layers), batch.y).backward()
                optimizer.step()
        found.append(accuracy(model, data, "test", [10, 5]))
    own, theirs = sum(found) / len(found), run.results["test accuracy"]
    assert theirs > 0.5 and abs(own - theirs) < 0.03


@programs
@pytest.mark.parametrize(
    "options",
    [
        {"model": "sage", "norm": "batch", "jk": "cat"},
        {"model": "sage", "residual": True, "norm": "layer"},
        {"model": "sage-ri"},
        {"model": "gat", "heads": 4},
        {"model": "gatv2"},
        {"model": "transformer", "heads": 2},
        {"model": "gin"},
        {"model": "gcn", "gcn_norm": "row"},
        {"model": "gcn", "gcn_norm": "symmetric"},
    ],
)
def test_a_runs_model_in_pyg_gives_the_programs_logits(tmp_path, options):
    common = {"device": "cpu", "hidden": 16, "layers": 2, "fanout": [5, 5], "epochs": 1, "batch_size": 256}
    run = salient_gnn.train("synthetic:arxiv:0.01", quiet=True, out=tmp_path / "run", **common, **options)
    small = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    nodes = small.test.long()[:50]
    predicted = salient_gnn.predict(run, nodes, quiet=True, device="cpu", exact=True)
    model = salient_gnn.load_model(run)
    batch = next(iter(salient_gnn.NeighborLoader(small, nodes, [-1, -1], 50, workers=1)))
    rows = torch.repeat_interleave(torch.arange(small.num_nodes), small.indptr.diff())
    with torch.no_grad():
        whole = model(small.x, torch.stack([small.indices.long(), rows]))[nodes]
        logits = whole if options.get("gcn_norm") == "symmetric" else model(batch.x, batch.layers)
    assert torch.equal(predicted.ids, nodes)
    assert torch.allclose(logits, predicted.logits, atol=1e-3, rtol=1e-3)
    assert torch.allclose(whole, predicted.logits, atol=1e-3, rtol=1e-3) or options.get("gcn_norm") == "row"
    assert torch.equal(predicted.labels.long(), predicted.logits.argmax(1))


@programs
def test_predictions_stay_where_they_are_asked_for(tmp_path):
    common = {"quiet": True, "device": "cpu", "fanout": [5, 5]}
    run = salient_gnn.train("synthetic:arxiv:0.01", out=tmp_path / "run", layers=2, hidden=8, epochs=1, **common)
    predicted = salient_gnn.predict(run, "valid", out=tmp_path / "there", **common)
    kept = torch.from_numpy(numpy.load(tmp_path / "there" / "logits.npy"))
    assert torch.equal(predicted.logits, kept)


@programs
def test_nodes_may_be_a_mask_and_paths_need_not_be_utf8(tmp_path):
    folder = os.path.join(tmp_path, os.fsdecode(b"run-\xff"))
    common = {"quiet": True, "device": "cpu", "fanout": [5, 5]}
    of_numpy = {"layers": numpy.int64(2), "fanout": numpy.array([5, 5]), "deterministic": numpy.bool_(True)}
    run = salient_gnn.train(
        "synthetic:arxiv:0.01", out=folder, hidden=8, epochs=1, quiet=True, device="cpu", **of_numpy
    )
    assert os.fspath(run) == folder
    mask = torch.zeros(1693, dtype=torch.bool)
    mask[[7, 1000]] = True
    assert salient_gnn.predict(run, mask, **common).ids.tolist() == [7, 1000]
    assert salient_gnn.predict(run, mask.int(), **common).ids.tolist() == [7, 1000]
    with pytest.raises(ValueError, match=r"a mask of shape \[3\], not \[1693\]"):
        salient_gnn.predict(run, mask[:3], **common)
    with pytest.raises(ValueError, match="there are none to predict"):
        salient_gnn.predict(run, [], **common)
    with pytest.raises(salient_gnn.ProgramError, match=r"absent-\\xff"):
        salient_gnn.predict(os.path.join(tmp_path, os.fsdecode(b"absent-\xff")), **common)


def small_graph_with_ids(folder, names):
    """A run on a ring whose nodes are called so, by salient-prepare."""
    (folder / "edges.csv").write_text(
        "source,target\n" + "".join(f'"{a}","{b}"\n' for a, b in zip(names, names[1:] + names[:1]))
    )
    (folder / "nodes.csv").write_text("id,label\n" + "".join(f'"{name}",{i % 2}\n' for i, name in enumerate(names)))
    prepare = pathlib.Path(os.environ["SALIENT_BIN"]) / "salient-prepare"
    command = [prepare, "edges", "--edges", folder / "edges.csv", "--labels", folder / "nodes.csv", "--make-features",
               "degree", "--split", "0.6,0.2,0.2", "--out", folder / "store"]  # fmt: skip
    text = [] if str(names[0]).isdigit() else ["--ids", "text"]
    subprocess.run([*command, *text], check=True, capture_output=True)
    common = {"quiet": True, "device": "cpu", "fanout": [3, 3]}
    return salient_gnn.train(folder / "store", out=folder / "run", layers=2, hidden=8, epochs=1, **common)


@programs
@pytest.mark.parametrize("names", [list(range(10, 410, 10)), [f'cust-{i} "{i}"' for i in range(40)]])
def test_nodes_are_named_by_the_ids_of_their_source(tmp_path, names):
    common = {"quiet": True, "device": "cpu"}
    written = [str(name).replace('"', '""') for name in names] if isinstance(names[0], str) else names
    run = small_graph_with_ids(tmp_path, written)
    data = salient_gnn.Dataset.open(tmp_path / "store")
    assert sorted(data.source_ids.tolist()) == sorted(names)
    wanted = [names[7], names[0], names[39]]
    rows = data.rows_of(wanted)
    assert data.source_ids[rows.numpy()].tolist() == wanted
    assert torch.equal(data.rows_of(rows, by="row"), rows)
    found = salient_gnn.predict(run, wanted, **common)
    assert torch.equal(found.ids, rows)
    assert found.source_ids.tolist() == wanted
    assert torch.equal(found.classes, found.labels)
    assert torch.allclose(found.probabilities.sum(1), torch.ones(3))
    for same in (numpy.array(wanted), [str(name) for name in wanted]):
        assert torch.equal(salient_gnn.predict(run, same, **common).logits, found.logits)
    assert torch.equal(salient_gnn.predict(run, rows, nodes_by="row", **common).logits, found.logits)
    mask = torch.zeros(40, dtype=torch.bool)
    mask[rows] = True
    assert sorted(salient_gnn.predict(run, mask, **common).source_ids.tolist()) == sorted(wanted)
    with pytest.raises(salient_gnn.ProgramError, match="no node has this id; the first is"):
        salient_gnn.predict(run, [5], **common)
    with pytest.raises(ValueError, match=r"ids: item 1 is 'x', no node has this id"):
        data.rows_of([str(wanted[0]), "x"])
    with pytest.raises(ValueError, match="neither 'id' nor 'row'"):
        salient_gnn.predict(run, [5], nodes_by="rows", **common)


def test_a_store_without_ids_has_its_rows_for_ids():
    data = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    assert data.source_ids.tolist() == list(range(data.num_nodes))
    assert data.rows_of([7, 3]).tolist() == [7, 3]
    assert data.rows_of(["7", "3.0"]).tolist() == [7, 3]
    for wrong in ([data.num_nodes], [-1], ["ann"]):
        with pytest.raises(ValueError, match="ids: item 0 is"):
            data.rows_of(wrong)


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([0.5, 1.5], "torch.float64, not integers"),
        ([1 + 2j], "torch.complex128, not real numbers"),
        ([[1], [2]], r"has shape \[2, 1\], not a list"),
        (torch.ones(2, 2, dtype=torch.bool), r"a mask of shape \[2, 2\]"),
    ],
)
def test_nodes_that_are_no_list_of_ids_are_refused(tmp_path, nodes, message):
    dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    with pytest.raises(ValueError, match=f"nodes: {message}"):
        salient_gnn.predict(tmp_path, nodes)
    with pytest.raises(ValueError, match=f"nodes: {message}"):
        salient_gnn.NeighborLoader(dataset, nodes, [5])
    with pytest.raises(ValueError, match=f"train: {message}"):
        salient_gnn.Dataset.from_arrays(tmp_path / "new", torch.zeros(2, 1).long(), train=nodes, num_nodes=2)


def test_options_that_return_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="dry_run"):
        salient_gnn.train("wordnet", dry_run=True)
    with pytest.raises(ValueError, match="format"):
        salient_gnn.predict(tmp_path, format="csv")


@programs
def test_a_program_that_fails_says_why(tmp_path):
    with pytest.raises(salient_gnn.ProgramError, match="no-such") as failed:
        salient_gnn.train("no-such", quiet=True, device="cpu", out=tmp_path / "run")
    assert failed.value.code == 66


def test_a_missing_run_or_program_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="model.safetensors"):
        salient_gnn.load_model(tmp_path)
    monkeypatch.setenv("SALIENT_BIN", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="salient-train"):
        salient_gnn.train("wordnet")


def test_blocks_of_dgl_are_the_layers(data):
    pytest.importorskip("dgl")
    batch = next(iter(salient_gnn.NeighborLoader(data, "train", [4, 3], 64, workers=1)))
    for block, layer in zip(batch.to_dgl(), batch.layers):
        assert (block.num_src_nodes(), block.num_dst_nodes()) == layer.size
        assert torch.equal(torch.stack(block.edges()), layer.edge_index)
        assert torch.equal(block.srcdata["_ID"], batch.nodes[: layer.num_src].long())


@programs
def test_a_regression_predicts_values_in_the_unit_of_the_data(tmp_path):
    torch.manual_seed(0)
    edges, x = torch.randint(0, 400, (2, 2000)), torch.randn(400, 4)
    y = torch.stack([1000 + 30 * x[:, 0], 0.01 * x[:, 1]], 1)
    y[::5, 1] = float("nan")
    data = salient_gnn.Dataset.from_arrays(
        tmp_path / "data", edges, x, y, task="regression", target_names=["a", "b"], train=range(240),
        valid=range(240, 320), test=range(320, 400),
    )  # fmt: skip
    small = {"hidden": 16, "fanout": [3, 3], "eval_fanout": [-1, -1], "epochs": 3, "dropout": 0, "device": "cpu"}
    run = salient_gnn.train(data, out=tmp_path / "run", quiet=True, **small)
    assert set(run.results) == {f"{part} {name}" for part in ("valid", "test") for name in ("r2", "rmse", "mae")}
    found = salient_gnn.predict(run, "all", exact=True, device="cpu", quiet=True)
    assert found.values.shape == (400, 2) and found.class_names == ["a", "b"]
    assert torch.equal(found.values, found.logits)
    with pytest.raises(ValueError, match="no probabilities"):
        _ = found.probabilities
    model = salient_gnn.load_model(run)
    degrees = data.indptr.diff()
    whole = torch.stack([data.indices.long(), torch.arange(400).repeat_interleave(degrees)])
    with torch.no_grad():
        assert torch.allclose(model(x, whole), found.values, rtol=1e-4, atol=1e-4)
        scale = model.target_scales
        assert torch.allclose(model.outputs(x, whole) * scale[1] + scale[0], found.values, rtol=1e-4, atol=1e-4)
    assert abs(found.report["splits"]["test"]["rmse"] - run.results["test rmse"]) < 1e-2 * run.results["test rmse"]
