# tests/python/keywords_test.py - keywords of PyG's NeighborLoader and torch's DataLoader: taken, no effect, refused.
import inspect
import pathlib
import warnings

import pytest
import salient_gnn
import torch
from conftest import FANOUTS
from salient_gnn import keywords
from salient_gnn.keywords import KEYWORDS, NO_EFFECT, REFUSED, SAME, TAKEN

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "PYG.md"
ASKS_FOR_MORE = {  # a value that is not the plain one, where True is none
    "num_workers": 4,
    "prefetch_factor": 2,
    "timeout": 30,
    "in_order": False,
    "pin_memory_device": "cuda",
    "filter_per_worker": False,
    "subgraph_type": "induced",
    "directed": False,
}


@pytest.fixture(autouse=True)
def nothing_was_told(monkeypatch):
    monkeypatch.setattr(keywords, "_told", set())


def make(dataset, **options):
    return salient_gnn.NeighborLoader(dataset, "train", FANOUTS, workers=1, **options)


def of_fate(fate):
    return [row.name for row in KEYWORDS.values() if row.fate == fate]


def parameters_of(function):
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name for parameter in parameters if parameter.kind not in several} - {"self"}


OWN = parameters_of(salient_gnn.NeighborLoader.__init__)


def test_every_keyword_of_torchs_loader_has_its_row():
    assert parameters_of(torch.utils.data.DataLoader.__init__) - set(KEYWORDS) - set(SAME) == {"dataset"}


def test_every_keyword_of_pygs_loader_has_its_row():
    loader = pytest.importorskip("torch_geometric.loader")
    known = set(KEYWORDS) | set(SAME)
    assert parameters_of(loader.NeighborLoader.__init__) <= known
    assert parameters_of(loader.NodeLoader.__init__) - {"node_sampler"} <= known


def test_rows_agree_with_the_loader():
    assert set(SAME) <= OWN and not set(SAME) & set(KEYWORDS)
    assert OWN & set(KEYWORDS) == {"sampler"}
    for row in KEYWORDS.values():
        assert (row.own in OWN) == (row.fate == TAKEN), row.name


def test_the_page_has_the_table():
    assert keywords.table() in PAGE.read_text()


@pytest.mark.parametrize("name", of_fate(NO_EFFECT))
def test_what_has_no_effect_is_said_once(dataset, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(dataset, **{name: KEYWORDS[name].plain})
    with pytest.warns(UserWarning, match=rf"without effect in salient_gnn.NeighborLoader: {name} \(") as said:
        make(dataset, **{name: ASKS_FOR_MORE.get(name, True)})
    assert len(said) == 1 and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(dataset, **{name: ASKS_FOR_MORE.get(name, True)})


def test_one_warning_names_all_of_a_call(dataset):
    with pytest.warns(UserWarning, match=r"num_workers \(.*; pin_memory \(") as said:
        make(dataset, num_workers=4, pin_memory=True)
    assert len(said) == 1


@pytest.mark.parametrize("name", of_fate(REFUSED))
def test_what_is_refused_is_named_with_the_reason(dataset, name):
    row = KEYWORDS[name]
    make(dataset, **{name: row.plain})
    with pytest.raises(ValueError) as refusal:
        make(dataset, **{name: ASKS_FOR_MORE.get(name, True)})
    assert str(refusal.value).startswith(f"{name}: ") and str(refusal.value).endswith(row.reason)


def test_the_members_of_pygs_enums_are_their_words(dataset):
    sampler = pytest.importorskip("torch_geometric.sampler.base")
    make(dataset, subgraph_type=sampler.SubgraphType.directional)
    with pytest.raises(ValueError, match="subgraph_type"):
        make(dataset, subgraph_type=sampler.SubgraphType.induced)


@pytest.mark.parametrize("name, guess", [("num_neighbours", "num_neighbors"), ("inputnodes", "input_nodes")])
def test_a_keyword_that_nobody_has_is_a_type_error(dataset, name, guess):
    with pytest.raises(TypeError, match=f"{name!r}; did you mean {guess!r}"):
        make(dataset, **{name: 1})
    with pytest.raises(TypeError, match="no keyword 'zzz'$"):
        make(dataset, zzz=1)


def seeds_and_nodes(loader):
    return [(len(batch), batch.nodes.tolist()) for batch in loader]


def test_pygs_names_and_order_make_the_same_batches(dataset):
    own = seeds_and_nodes(salient_gnn.NeighborLoader(dataset, "valid", [4, 3], 64, workers=1))
    options = {"batch_size": 64, "workers": 1}
    mask = dataset.val_mask
    for loader in (
        salient_gnn.NeighborLoader(dataset, num_neighbors=[4, 3], input_nodes="val", **options),
        salient_gnn.NeighborLoader(data=dataset, num_neighbors=[4, 3], input_nodes=dataset.valid, **options),
        salient_gnn.NeighborLoader(dataset, [4, 3], input_nodes="valid", **options),
        salient_gnn.NeighborLoader(dataset, [4, 3], dataset.valid, **options),
        salient_gnn.NeighborLoader(dataset, [4, 3], "val", **options),
        salient_gnn.NeighborLoader(dataset, nodes=dataset.valid.tolist(), fanouts=[4, 3], **options),
    ):
        assert seeds_and_nodes(loader) == own
    ascending = dataset.valid.sort().values
    assert seeds_and_nodes(salient_gnn.NeighborLoader(dataset, [4, 3], mask, **options)) == seeds_and_nodes(
        salient_gnn.NeighborLoader(dataset, ascending, [4, 3], **options)
    )


def test_no_input_nodes_are_all_nodes(dataset):
    for loader in (
        salient_gnn.NeighborLoader(dataset, num_neighbors=[3], batch_size=512, workers=1),
        salient_gnn.NeighborLoader(dataset, [3], input_nodes=None, batch_size=512, workers=1),
    ):
        assert sum(map(len, loader)) == dataset.num_nodes


def test_what_may_mean_two_things_is_refused(dataset):
    with pytest.raises(ValueError, match="num_neighbors: is fanouts by PyG's or torch's name"):
        make(dataset, num_neighbors=[4])
    with pytest.raises(ValueError, match="fanouts: are missing"):
        salient_gnn.NeighborLoader(dataset, [4, 3])
    with pytest.raises(ValueError, match="input_nodes: is nodes"):
        salient_gnn.NeighborLoader(dataset, "train", input_nodes="val", num_neighbors=[4])
    with pytest.raises(ValueError, match="num_neighbors, or fanouts: None"):
        salient_gnn.NeighborLoader(dataset, "train")
    with pytest.raises(ValueError, match="num_neighbors, or fanouts: {"):
        salient_gnn.NeighborLoader(dataset, num_neighbors={("paper", "cites", "paper"): [4]}, input_nodes="train")
    with pytest.raises(ValueError, match="nodes: of the type 'paper'"):
        salient_gnn.NeighborLoader(dataset, num_neighbors=[4], input_nodes=("paper", dataset.train_mask))
    with pytest.raises(TypeError, match="data: list is neither"):
        salient_gnn.NeighborLoader([1], "train", [4])


def test_a_generator_is_the_seed(dataset):
    def order(seed):
        generator = torch.Generator().manual_seed(seed)
        return seeds_and_nodes(make(dataset, shuffle=True, generator=generator))

    assert order(7) == order(7) != order(8)
    with pytest.raises(ValueError, match="generator: is seed by"):
        make(dataset, generator=torch.Generator(), seed=3)
    with pytest.raises(ValueError, match="generator: 5 is no torch.Generator"):
        make(dataset, generator=5)


def test_a_loader_has_no_attribute_that_frameworks_take_for_torchs(dataset):
    theirs = {name for name in dir(torch.utils.data.DataLoader([0])) if not name.startswith("_")}
    ours = {name for name in dir(make(dataset)) if not name.startswith("_")}
    assert ours & theirs == {"dataset"}
