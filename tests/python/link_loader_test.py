# tests/python/link_loader_test.py - batches of links: PyG's fields and values; none of the links among its messages.
import pickle

import pytest
import salient_gnn
import torch
from conftest import FANOUTS


@pytest.fixture(scope="module")
def links(dataset):
    """[2, n] edges of the graph."""
    edges = dataset.edge_index.long()
    return edges[:, edges[0] != edges[1]][:, ::7]


def loader_of(dataset, links, **options):
    options = {"neg_sampling_ratio": 2, "workers": 1, "seed": 3, "batch_size": 64, **options}
    return salient_gnn.LinkNeighborLoader(dataset, FANOUTS, links, **options)


def first_of(*words, **options):
    return next(iter(loader_of(*words, **options)))


def test_pairs_are_links_then_negatives(dataset, links):
    loader = loader_of(dataset, links)
    seen = 0
    for batch in loader:
        count = batch.num_links
        assert batch.edge_label_index.shape == (2, 3 * count) and len(batch.edge_label) == 3 * count
        assert batch.edge_label[:count].eq(1).all() and batch.edge_label[count:].eq(0).all()
        ends = batch.n_id[batch.edge_label_index]
        assert torch.equal(ends[:, :count], links[:, seen : seen + count])
        assert torch.equal(batch.input_id, torch.arange(seen, seen + count))
        assert torch.equal(ends[0, count:], links[0, seen : seen + count].repeat_interleave(2))
        assert batch.edge_label_index.max() < batch.batch_size, "ends of pairs are the first nodes"
        assert torch.equal(batch.x, dataset.x[batch.n_id].float())
        seen += count
    assert seen == links.shape[1]


def test_negatives_are_uniform_in_all_nodes(dataset, links):
    drawn = torch.cat([b.n_id[b.edge_label_index[1, b.num_links :]] for b in loader_of(dataset, links)])
    counts = torch.histc(drawn.float(), 8, 0, dataset.num_nodes)
    assert (counts - len(drawn) / 8).abs().max() < 5 * (len(drawn) / 8) ** 0.5


def test_negatives_are_of_the_sampler_that_is_named(dataset, links):
    def ends(batch):
        return batch.n_id[batch.edge_label_index[1]].split([batch.num_links, 2 * batch.num_links])

    for batch in loader_of(dataset, links, negative_sampler="in-batch"):
        positives, negatives = ends(batch)
        assert torch.isin(negatives, positives).all() and batch.batch_size <= 2 * batch.num_links
    for batch in loader_of(dataset, links, negative_sampler="joint"):
        assert len(ends(batch)[1].unique()) <= 2
    degrees = dataset.indptr.diff()
    drawn = {name: torch.cat([ends(b)[1] for b in loader_of(dataset, links, negative_sampler=name)])
             for name in ("uniform", "degree")}  # fmt: skip
    assert degrees[drawn["degree"]].float().mean() > 1.2 * degrees[drawn["uniform"]].float().mean()


def test_no_message_is_a_link_of_the_batch(dataset, links):
    def shared(**how):
        count = 0
        for batch in loader_of(dataset, links, **how):
            kept = batch.n_id[batch.edge_label_index[:, : batch.num_links]]
            own = {(int(a), int(b)) for a, b in torch.cat([kept, kept.flip(0)], 1).t()}
            for edge_index in (batch.edge_index, *(layer.edge_index for layer in batch.layers)):
                sources, destinations = batch.n_id[edge_index]
                count += sum((int(a), int(b)) in own for a, b in zip(sources, destinations))
        return count

    assert shared() == 0, "by default"
    assert shared(exclude="none") > 0


def test_strict_negatives_are_no_edges(dataset, links):
    edges = {(int(a), int(b)) for a, b in dataset.edge_index.t()}

    def among(**how):
        pairs = [b.n_id[b.edge_label_index[:, b.num_links :]] for b in loader_of(dataset, links, **how)]
        return sum((int(a), int(b)) in edges or a == b for a, b in torch.cat(pairs, 1).t())

    assert among() > 0 and among(strict=True) == 0


def test_ranks_and_workers_have_the_same_pairs(dataset, links):
    whole = [batch.n_id[batch.edge_label_index] for batch in loader_of(dataset, links, workers=3, shuffle=True)]
    parts = [
        [
            batch.n_id[batch.edge_label_index]
            for batch in loader_of(dataset, links, shuffle=True, batch_size=32, rank=rank, world_size=2)
        ]
        for rank in range(2)
    ]
    assert len(whole) == len(parts[0]) == len(parts[1])
    for pairs, first, second in zip(whole, *parts):
        counts = first.shape[1] // 3, second.shape[1] // 3
        both = [first[:, : counts[0]], second[:, : counts[1]], first[:, counts[0] :], second[:, counts[1] :]]
        assert torch.equal(torch.cat(both, 1), pairs)


@pytest.fixture(scope="module")
def pyg_data(dataset, links):
    from torch_geometric.data import Data

    edges = dataset.edge_index.long()
    return Data(x=dataset.x.float(), y=dataset.y.long(), edge_index=edges, num_nodes=dataset.num_nodes)


def pygs_batch(data, **options):
    """Of PyG's own LinkLoader: what it makes of links, by a sampler that reaches no neighbours, so that it needs no
    pyg-lib."""
    from torch_geometric.loader import LinkLoader
    from torch_geometric.sampler import BaseSampler, SamplerOutput
    from torch_geometric.sampler.neighbor_sampler import edge_sample

    class EndsAlone(BaseSampler):
        def sample_from_edges(self, inputs, neg_sampling=None):
            none = torch.empty(0, dtype=torch.int64)
            return edge_sample(inputs, lambda seed, *_: SamplerOutput(seed, none, none, none, None), data.num_nodes,
                               False, None, neg_sampling)  # fmt: skip

        def sample_from_nodes(self, inputs):
            raise NotImplementedError

        edge_permutation = None

    return next(iter(LinkLoader(data, EndsAlone(), batch_size=50, **options)))


@pytest.mark.parametrize("given", [None, "zeros and ones", "from 1 on", "floats", "two columns"])
@pytest.mark.parametrize("how", [None, "binary", "triplet", "ratio", "dict", "object"])
def test_fields_are_those_of_pygs_loader(pyg_data, links, how, given):
    from torch_geometric.sampler import NegativeSampling

    count = links.shape[1]
    labels = {None: None, "zeros and ones": torch.arange(count) % 2, "from 1 on": 1 + torch.arange(count) % 3,
              "floats": torch.linspace(-1, 1, count), "two columns": torch.arange(2 * count).view(-1, 2)}  # fmt: skip
    ways = {"ratio": {"neg_sampling_ratio": 1.0}, "dict": {"neg_sampling": {"mode": "binary", "amount": 2}},
            "object": {"neg_sampling": NegativeSampling("triplet", 3)}}  # fmt: skip
    options = {**ways.get(how, {"neg_sampling": how}), "edge_label": labels[given]}
    if how in ("triplet", "object") and given:
        for loader in (lambda: pygs_batch(pyg_data, edge_label_index=links, **options),
                       lambda: salient_gnn.LinkNeighborLoader(pyg_data, [3], links, **options)):  # fmt: skip
            with pytest.raises(ValueError, match="edge_label"):
                loader()
        return
    theirs = pygs_batch(pyg_data, edge_label_index=links, **options)
    ours = next(iter(salient_gnn.LinkNeighborLoader(pyg_data, [3], links, batch_size=50, workers=1, **options)))
    for batch in (ours, ours.to_pyg()):
        fields = {"edge_label_index", "edge_label", "src_index", "dst_pos_index", "dst_neg_index"}
        assert fields & set(batch.keys()) == {name for name in fields & set(theirs.keys()) if theirs[name] is not None}
    for name in fields & set(ours.keys()):
        assert ours[name].shape == theirs[name].shape and ours[name].dtype == theirs[name].dtype, name
        kept = slice(None) if name == "edge_label" else slice(50)  # negatives differ, their labels do not
        same = (lambda b, name=name: b[name][kept] if name == "edge_label" else b.n_id[b[name]][..., kept])
        if name != "dst_neg_index":
            assert torch.equal(same(ours), same(theirs)), name


def test_every_keyword_of_pygs_loader_is_known(pyg_data, links):
    import inspect

    from salient_gnn.keywords import KEYWORDS, SAME
    from torch_geometric.loader import LinkNeighborLoader

    own = set(inspect.signature(salient_gnn.LinkNeighborLoader.__init__).parameters)
    words = set(inspect.signature(LinkNeighborLoader.__init__).parameters) - {"self", "kwargs"}
    assert words <= own | set(KEYWORDS) | set(SAME)
    by_name = salient_gnn.LinkNeighborLoader(data=pyg_data, num_neighbors=[3, 2], edge_label_index=links, batch_size=9,
                                             neg_sampling="binary", subgraph_type="directional", disjoint=False,
                                             workers=1, drop_last=True, shuffle=True, replace=True)  # fmt: skip
    assert len(next(iter(by_name)).edge_label) == 18
    with pytest.warns(UserWarning, match="without effect") as told:
        salient_gnn.LinkNeighborLoader(pyg_data, [3], links, prefetch_factor=2, worker_init_fn=print)
    assert told[0].filename == __file__


def test_all_edges_are_links_where_none_are_named(dataset, pyg_data):
    for graph in (dataset, pyg_data):
        loader = salient_gnn.LinkNeighborLoader(graph, [2], workers=1, batch_size=4096)
        pairs = torch.cat([batch.n_id[batch.edge_label_index] for batch in loader], 1)
        assert torch.equal(pairs, dataset.edge_index.long())


def test_a_model_learns_links(pyg_data):
    """Of PyG, by a loop of PyG's own examples: links of a graph with classes against pairs at random."""
    from torch_geometric.nn import GraphSAGE

    torch.manual_seed(1)
    options = {"neg_sampling": "binary", "batch_size": 1024, "shuffle": True, "workers": 2}
    loader = salient_gnn.LinkNeighborLoader(pyg_data, [5, 5], **options)
    model = GraphSAGE(pyg_data.num_features, 32, 2)
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.005), []
    for _ in range(3):
        for batch in loader:
            optimizer.zero_grad()
            rows = model(batch.x, batch.edge_index)
            source, destination = batch.edge_label_index
            scores = (rows[source] * rows[destination]).sum(-1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, batch.edge_label)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])


@pytest.fixture(scope="module")
def timed(dataset, tmp_path_factory):
    """Its edges, as (source, destination) and time."""
    from torch_geometric.data import Data

    edges = dataset.edge_index.long()
    times = torch.randint(1000, (edges.shape[1],), generator=torch.Generator().manual_seed(4))
    data = Data(x=dataset.x.float(), edge_index=edges, time=times, num_nodes=dataset.num_nodes)
    out = tmp_path_factory.mktemp("timed") / "store"
    return data, salient_gnn.Dataset.from_arrays(out, edges, data.x, edge_times=times)


@pytest.mark.parametrize("is_store", [False, True])
def test_links_with_times_see_what_was_before_them(timed, is_store):
    data, store = timed
    links, when = data.edge_index[:, ::9], data.time[::9]
    graph, how = (store, {}) if is_store else (data, {"time_attr": "time"})
    loader = loader_of(graph, links, edge_label_time=when, **how)
    known = {}
    for a, b, time in zip(*data.edge_index.tolist(), data.time.tolist()):
        known.setdefault((a, b), []).append(time)
    count = 0
    for batch in (next(iter(loader)), next(iter(pickle.loads(pickle.dumps(loader))))):
        num_links, times = batch.num_links, when[batch.input_id]
        assert batch.edge_label_time.tolist() == [*times.tolist(), *times.repeat_interleave(2).tolist()]
        seen_at = torch.full((batch.num_nodes,), -1)
        for end in batch.edge_label_index:
            seen_at[end] = batch.edge_label_time
        assert (seen_at[: batch.batch_size] >= 0).all()
        for layer in reversed(batch.layers):  # neighbours are seen at the time of the seed
            sources, destinations = layer.edge_index
            seen_at[sources] = torch.where(seen_at[sources] < 0, seen_at[destinations], seen_at[sources])
        sources, destinations = batch.edge_index
        pairs = zip(batch.n_id[sources].tolist(), batch.n_id[destinations].tolist(), seen_at[destinations].tolist())
        for a, b, before in pairs:
            assert min(known[a, b]) < before
            count += 1
        ends = batch.n_id[batch.edge_label_index[:, :num_links]]
        assert torch.equal(ends, links[:, batch.input_id])
    assert count > 0
    if not is_store:
        (triplets, *_) = loader_of(graph, links, edge_label_time=when, neg_sampling_ratio=None,
                                   neg_sampling="triplet", **how)  # fmt: skip
        assert triplets.seed_time.equal(when[triplets.input_id]) and "seed_time" in triplets
        assert "edge_label_time" not in triplets
    for options, word in (({"time_rule": "le"}, "'le' has the link itself"), ({"strict": True}, "later than a link"),
                          ({"edge_label_time": when[:5]}, "edge_label_time: has shape")):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            loader_of(store, links, **{"edge_label_time": when, **options})


def test_pickles_and_goes_on(dataset, links):
    loader = loader_of(dataset, links, shuffle=True)
    list(loader)
    again = pickle.loads(pickle.dumps(loader))
    first, second = next(iter(loader)), next(iter(again))
    assert torch.equal(first.edge_label_index, second.edge_label_index) and torch.equal(first.n_id, second.n_id)


def test_refuses_what_makes_no_pairs(dataset, links):
    for options, word in (
        ({"neg_sampling_ratio": 0.5}, "whole number"),
        ({"neg_sampling": "ternary", "neg_sampling_ratio": None}, "ternary"),
        ({"neg_sampling": {"mode": "binary", "dst_weight": torch.ones(3)}, "neg_sampling_ratio": None}, "weights"),
        ({"neg_sampling_ratio": 1 << 14}, "16383"),
        ({"edge_label": torch.ones(3)}, "edge_label"),
        ({"corrupt": "src"}, "corrupt"),
        ({"negative_sampler": "hard"}, "negative_sampler"),
        ({"sampler": "device"}, "sampler"),
        ({"input_nodes": [1]}, "input_nodes"),
        ({"edge_label_time": torch.ones(3)}, "edge_label_time"),
        ({"time_rule": "lt"}, "time_rule, or time_attr: the links have no times"),
        ({"subgraph_type": "induced"}, "subgraph_type"),
    ):
        with pytest.raises(ValueError, match=word):
            loader_of(dataset, links, **options)
    with pytest.raises(ValueError, match="no links of 'train'"):
        loader_of(dataset, "train")
    for ends, word in (([[0], [dataset.num_nodes]], "edge_label_index: item 0 is .*, ids are 0 to"),
                       ([[], []], "has no links"), ([[0, 1, 2]], "edge_label_index: has shape")):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            loader_of(dataset, torch.tensor(ends, dtype=torch.int64))
