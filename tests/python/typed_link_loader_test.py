# tests/python/typed_link_loader_test.py - links of a relation of a typed graph: PyG's fields; none among the messages.
import os
import pathlib
import pickle
import subprocess

import pytest
import torch
from salient_gnn import Dataset, LinkNeighborLoader

pyg = pytest.importorskip("torch_geometric.data")
PREPARE = pathlib.Path(os.environ.get("SALIENT_BIN", ""), "salient-prepare")
BUYS, NEAR, BACK = ("user", "buys", "item"), ("user", "near", "user"), ("item", "rev_buys", "user")
FIELDS = {"edge_label_index", "edge_label", "src_index", "dst_pos_index", "dst_neg_index", "input_id"}


@pytest.fixture(scope="module")
def data():
    """Users and items of four groups; who buys what follows the groups, which the features tell."""
    draw = torch.Generator().manual_seed(1)
    data = pyg.HeteroData()
    groups = {name: torch.randint(4, (count,), generator=draw) for name, count in (("user", 90), ("item", 70))}
    for name, group in groups.items():
        data[name].x = torch.nn.functional.one_hot(group, 4) + 0.3 * torch.randn(len(group), 4, generator=draw)
    users = torch.randint(90, (4000,), generator=draw)
    items = torch.randint(70, (4000,), generator=draw)
    buys = torch.stack([users, items])[:, groups["user"][users] == groups["item"][items]].unique(dim=1)
    data[BUYS].edge_index = buys
    data[NEAR].edge_index = torch.randint(90, (2, 300), generator=draw).unique(dim=1)
    data[BACK].edge_index = buys.flip(0)
    return data


def loader_of(data, links, **options):
    options = {"neg_sampling_ratio": 2, "workers": 1, "seed": 3, "batch_size": 64, **options}
    return LinkNeighborLoader(data, [4, 4], links, **options)


def ends_of(batch, relation, pairs):
    return torch.stack([batch[relation[0]].n_id[pairs[0]], batch[relation[2]].n_id[pairs[1]]])


@pytest.mark.parametrize("relation", [BUYS, NEAR, BACK])
def test_pairs_are_links_then_negatives_of_the_types(data, relation):
    links, seen = data[relation].edge_index, 0
    for batch in loader_of(data, (relation, links[:, ::2])):
        part, count = batch[relation], batch.num_links
        assert part.edge_label_index.shape == (2, 3 * count)
        assert part.edge_label.tolist() == [1] * count + [0] * 2 * count
        ends = ends_of(batch, relation, part.edge_label_index)
        expected = links[:, ::2][:, seen : seen + count]
        assert torch.equal(ends[:, :count], expected)
        assert torch.equal(part.input_id, torch.arange(seen, seen + count))
        assert torch.equal(ends[0, count:], expected[0].repeat_interleave(2))
        for end, name in zip(part.edge_label_index, (relation[0], relation[2])):
            assert end.max() < batch[name].num_sampled_nodes[0], "ends of pairs are the first nodes"
            assert torch.equal(batch[name].x, data[name].x[batch[name].n_id])
        seen += count
    assert seen == links[:, ::2].shape[1]


def test_no_message_is_a_link_of_the_batch(data):
    def shared(relation, **how):
        count = 0
        backs = {BUYS: BACK, BACK: BUYS, NEAR: NEAR}
        for batch in loader_of(data, relation, **how):
            kept = ends_of(batch, relation, batch[relation].edge_label_index[:, : batch.num_links])
            own = set(map(tuple, kept.t().tolist()))
            back = {(b, a) for a, b in own}
            for other, of in ((relation, own), (backs[relation], back)):
                count += sum(pair in of for pair in
                             map(tuple, ends_of(batch, other, batch[other].edge_index).t().tolist()))
        return count

    for relation in (BUYS, BACK, NEAR):
        assert shared(relation) == 0, relation
        assert shared(relation, exclude="none") > 0, relation


def pygs_batch(data, links, **options):
    """Of PyG's own LinkLoader, by a sampler that reaches no neighbours, so that it needs no pyg-lib."""
    from torch_geometric.loader import LinkLoader
    from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput
    from torch_geometric.sampler.neighbor_sampler import edge_sample

    class EndsAlone(BaseSampler):
        def sample_from_edges(self, inputs, neg_sampling=None):
            def sample(seeds, *_):
                none = {relation: torch.empty(0, dtype=torch.int64) for relation in data.edge_types}
                return HeteroSamplerOutput(seeds, none, none, none, None)

            return edge_sample(inputs, sample, data.num_nodes_dict, False, None, neg_sampling)

        def sample_from_nodes(self, inputs):
            raise NotImplementedError

        edge_permutation = None

    return next(iter(LinkLoader(data, EndsAlone(), edge_label_index=links, batch_size=50, **options)))


@pytest.mark.parametrize("given", [None, "zeros and ones"])
@pytest.mark.parametrize("how", [None, "binary", "triplet", "three"])
@pytest.mark.parametrize("relation", [BUYS, NEAR])
def test_fields_are_those_of_pygs_loader(data, relation, how, given):
    from torch_geometric.sampler import NegativeSampling

    edges = data[relation].edge_index
    labels = None if given is None else torch.arange(edges.shape[1]) % 2
    if labels is not None and how in ("triplet", "three"):
        pytest.skip("both refuse labels of triplets")
    options = {"neg_sampling": NegativeSampling("triplet", 3) if how == "three" else how, "edge_label": labels}
    theirs = pygs_batch(data, (relation, edges), **options)
    (ours, *_) = LinkNeighborLoader(data, [3], (relation, edges), batch_size=50, workers=1, **options)
    for batch in (ours, ours.to_pyg()):
        for key in (relation, relation[0], relation[2]):
            expected = {name for name in FIELDS & set(theirs[key].keys()) if theirs[key][name] is not None}
            assert FIELDS & set(batch[key].keys()) == expected, (key, type(batch))
    for key in (relation, relation[0], relation[2]):
        for name in FIELDS & set(ours[key].keys()):
            assert ours[key][name].shape == theirs[key][name].shape, name
            assert ours[key][name].dtype == theirs[key][name].dtype, name
    assert ours[relation].input_id.equal(theirs[relation].input_id)
    if how in ("triplet", "three"):
        for key, name in ((relation[0], "src_index"), (relation[2], "dst_pos_index")):
            assert ours[key].n_id[ours[key][name]].equal(theirs[key].n_id[theirs[key][name]])
    else:
        both = [ends_of(batch, relation, batch[relation].edge_label_index[:, :50]) for batch in (ours, theirs)]
        assert both[0].equal(both[1])
        if "edge_label" in ours[relation]:
            assert ours[relation].edge_label.equal(theirs[relation].edge_label)


def test_relations_are_named_as_pyg_has_them(data, tmp_path):
    typed = Dataset.from_pyg(data, tmp_path / "store")
    expected = None
    for graph, links in ((data, BUYS), (data, (BUYS, None)), (data, ("user", "item")), (typed, BUYS),
                         (typed, (("user", "item"), data[BUYS].edge_index))):  # fmt: skip
        batch = next(iter(loader_of(graph, links)))
        found = ends_of(batch, BUYS, batch[BUYS].edge_label_index).tolist()
        assert sorted(found[1][:64]) == sorted(expected or found[1][:64]) or graph is typed
        expected = expected or found[1][:64]
    for links in (None, ("user", "likes", "item"), torch.zeros(2, 3).long(), ("user", "user", "user")):
        with pytest.raises(ValueError, match="edge_label_index: of a typed graph \\(RELATION, links\\).*'buys'"):
            loader_of(data, links)


def test_ranks_and_workers_have_the_same_pairs(data):
    def pairs_of(**options):
        return [ends_of(batch, BUYS, batch[BUYS].edge_label_index)
                for batch in loader_of(data, BUYS, shuffle=True, drop_last=True, **options)]

    whole = pairs_of(workers=3)
    parts = [pairs_of(batch_size=32, rank=rank, world_size=2) for rank in range(2)]
    assert len(whole) == len(parts[0]) == len(parts[1]) > 0
    for pairs, first, second in zip(whole, *parts):
        both = [first[:, :32], second[:, :32], first[:, 32:], second[:, 32:]]
        assert torch.equal(torch.cat(both, 1), pairs)
    loader = loader_of(data, BUYS, shuffle=True)
    list(loader)
    again = pickle.loads(pickle.dumps(loader))
    assert next(iter(loader))[BUYS].edge_label_index.equal(next(iter(again))[BUYS].edge_label_index)


def test_strict_negatives_are_no_edges(data):
    edges = set(map(tuple, data[BUYS].edge_index.t().tolist()))

    def among(**how):
        found = [ends_of(b, BUYS, b[BUYS].edge_label_index[:, b.num_links :]) for b in loader_of(data, BUYS, **how)]
        return sum(pair in edges for pair in map(tuple, torch.cat(found, 1).t().tolist()))

    assert among() > 0 and among(strict=True) == 0
    for sampler in ("degree", "in-batch", "joint"):
        assert among(negative_sampler=sampler) > 0


def test_a_model_learns_links(data):
    from torch_geometric import nn

    torch.manual_seed(1)
    loader = loader_of(data, BUYS, neg_sampling_ratio=1, batch_size=256, shuffle=True)
    model = nn.to_hetero(nn.GraphSAGE((-1, -1), 16, 2), data.metadata())
    with torch.no_grad():  # lazy widths
        model(data.x_dict, data.edge_index_dict)
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
    for _ in range(20):
        for batch in loader:
            optimizer.zero_grad()
            rows = model(batch.x_dict, batch.edge_index_dict)
            source, destination = batch[BUYS].edge_label_index
            scores = (rows["user"][source] * rows["item"][destination]).sum(-1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, batch[BUYS].edge_label)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert sum(losses[-4:]) < 0.7 * sum(losses[:4]), losses


@pytest.mark.skipif(not PREPARE.exists(), reason="SALIENT_BIN has no salient-prepare")
def test_links_of_a_store_are_those_of_its_splits(data, tmp_path):
    for relation in (BUYS, NEAR):
        rows = "".join(f"{a},{b}\n" for a, b in data[relation].edge_index.t().tolist())
        (tmp_path / f"{relation[1]}.csv").write_text(rows)
    command = [PREPARE, "typed", "--out", tmp_path / "shop", "--edge-split", "0.8,0.1,0.1"]
    for relation in (BUYS, NEAR):
        command += ["--edges", f"{':'.join(relation)}={tmp_path / relation[1]}.csv", "--link-relation",
                    ":".join(relation)]  # fmt: skip
    command += ["--nodes", "user=count:90", "--nodes", "item=count:70"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shop = Dataset.open(tmp_path / "shop")
    with pytest.raises(ValueError, match="links of 'train' are of .*buys.*; say of which: \\(RELATION, 'train'\\)"):
        loader_of(shop, "train")
    found = {split: torch.cat([ends_of(b, BUYS, b[BUYS].edge_label_index) for b in
                               loader_of(shop, (BUYS, split), neg_sampling_ratio=None)], 1)
             for split in ("train", "val", "test")}  # fmt: skip
    assert sum(ends.shape[1] for ends in found.values()) == data[BUYS].edge_index.shape[1]
    assert found["train"].shape[1] == shop[BUYS].num_edges
