# tests/python/link_loader_test.py - batches of links: pairs by PyG's names, and none of them among the messages.
import pickle

import pytest
import salient_gnn
import torch
from conftest import FANOUTS


@pytest.fixture(scope="module")
def links(dataset):
    """[2, n] edges of the graph."""
    destinations = torch.repeat_interleave(torch.arange(dataset.num_nodes), dataset.indptr.diff())
    edges = torch.stack([dataset.indices.long(), destinations])
    return edges[:, edges[0] != edges[1]][:, ::7]


def loader_of(dataset, links, **options):
    options = {"neg_sampling_ratio": 2, "workers": 1, "seed": 3, "batch_size": 64, **options}
    return salient_gnn.LinkNeighborLoader(dataset, FANOUTS, links, **options)


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


def test_no_message_is_a_link_of_the_batch(dataset, links):
    def shared(exclude):
        count = 0
        for batch in loader_of(dataset, links, exclude=exclude):
            kept = batch.n_id[batch.edge_label_index[:, : batch.num_links]]
            own = {(int(a), int(b)) for a, b in torch.cat([kept, kept.flip(0)], 1).t()}
            for layer in batch.layers:
                sources, destinations = batch.n_id[layer.edge_index]
                count += sum((int(a), int(b)) in own for a, b in zip(sources, destinations))
        return count

    assert shared("pair") == 0
    assert shared("none") > 0


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


def test_takes_pygs_ways_to_say_negatives(dataset, links):
    from torch_geometric.sampler import NegativeSampling

    for how in ("binary", {"mode": "binary", "amount": 1.0}, NegativeSampling("binary", 1.0)):
        batch = next(iter(loader_of(dataset, links, neg_sampling=how, neg_sampling_ratio=None)))
        assert len(batch.edge_label) == 2 * batch.num_links and "edge_label" in batch
    batch = next(iter(loader_of(dataset, links, neg_sampling=NegativeSampling("triplet", 2), neg_sampling_ratio=None)))
    assert batch.src_index.shape == batch.dst_pos_index.shape == (64,) and batch.dst_neg_index.shape == (64, 2)
    assert "edge_label" not in batch and "dst_neg_index" in batch
    data = batch.to_pyg()
    assert torch.equal(data.dst_neg_index, batch.dst_neg_index)
    labels = torch.arange(links.shape[1]) % 2
    batch = next(iter(loader_of(dataset, links, edge_label=labels, neg_sampling_ratio=None)))
    assert torch.equal(batch.edge_label, labels[:64])


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
        ({"neg_sampling": "binary"}, "say one of them"),
        ({"edge_label": torch.ones(3)}, "edge_label"),
        ({"corrupt": "src"}, "corrupt"),
        ({"sampler": "device"}, "sampler"),
        ({"input_nodes": [1]}, "input_nodes"),
    ):
        with pytest.raises(ValueError, match=word):
            loader_of(dataset, links, **options)
    with pytest.raises(ValueError, match="no links of 'train'"):
        salient_gnn.LinkNeighborLoader(dataset, FANOUTS)
    with pytest.raises(ValueError, match="ids are 0 to"):
        loader_of(dataset, torch.tensor([[0], [dataset.num_nodes]]))
