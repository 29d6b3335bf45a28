# tests/python/typed_new_nodes_test.py - predict() of nodes that a typed graph lacks, from tables by type and relation.
import os
import pathlib

import pytest
import salient_gnn
import torch

TRAIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""), "salient-train")
pytestmark = pytest.mark.skipif(not TRAIN.exists(), reason="SALIENT_BIN has no salient-train")


def test_a_new_node_equal_to_a_known_one_has_its_prediction(tmp_path):
    draw = torch.Generator().manual_seed(3)
    wrote = torch.stack([torch.randint(20, (120,), generator=draw), torch.randint(60, (120,), generator=draw)])
    x = torch.randn(60, 2, generator=draw)
    data = salient_gnn.Dataset.from_typed_arrays(
        tmp_path / "s", {("author", "writes", "paper"): wrote}, {"paper": x}, torch.arange(60) % 3, target="paper",
        train=range(40), valid=range(40, 50), test=range(50, 60), num_nodes={"author": 20})  # fmt: skip
    common = {"fanout": [-1, -1], "device": "cpu", "quiet": True}
    run = salient_gnn.train(data, model="rgcn", fanout=[5, 5], hidden=8, epochs=1, out=tmp_path / "r", device="cpu",
                            quiet=True)  # fmt: skip
    papers = [{"id": f"new-{p}", "a": x[p, 0].item(), "b": x[p, 1].item()} for p in (7, 31)]
    edges = [(int(a), f"new-{p}") for p in (7, 31) for a, paper in set(map(tuple, wrote.t().tolist())) if paper == p]
    known = salient_gnn.predict(run, [7, 31], **common)
    found = salient_gnn.predict(run, new_nodes={"paper": papers}, new_edges={("author", "writes", "paper"): edges},
                                **common)  # fmt: skip
    assert torch.allclose(found.logits, known.logits, atol=1e-2)  # of features in f16
    assert list(found.source_ids) == ["new-7", "new-31"]
    by_text = salient_gnn.predict(run, new_nodes={"paper": papers, "author": [{"id": "ann"}]},
                                  new_edges={"author:writes:paper": [*edges, ("ann", "new-7")]}, **common)  # fmt: skip
    assert torch.allclose(by_text.logits[1], found.logits[1], atol=1e-5)
    assert not torch.allclose(by_text.logits[0], found.logits[0], atol=1e-5)
    with pytest.raises(ValueError, match="new_nodes: an empty dict"):
        salient_gnn.predict(run, new_nodes={})
    with pytest.raises(salient_gnn.ProgramError, match="with a type of"):
        salient_gnn.predict(run, new_nodes={"venue": papers}, **common)
