# tests/python/typed_model_test.py - TypedModel computes what PyG's layers in scripts/typed_golden.py do.
import pathlib
import sys

import pytest
import torch

pytest.importorskip("torch_geometric")
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import typed_golden
from salient_gnn.typed_models import TypedModel

NODES = [("paper", 30, 7), ("author", 25, 0), ("subject", 20, 3), ("alone", 10, 2)]
RELATIONS = [(0, 0, "cites"), (1, 0, "writes"), (0, 1, "rev_writes"), (2, 0, "about"), (1, 1, "knows")]
HIDDEN, LAYERS, CLASSES = 12, 2, 5


def whole_graph(types):
    """All nodes in the order of their types, each relation's entries, and the hop that has them all."""
    torch.manual_seed(1)
    node_type = torch.cat([torch.full((count,), t) for t, (_, count, _) in enumerate(types.nodes)])
    begins = [sum(count for _, count, _ in types.nodes[:t]) for t in range(len(types.nodes))]
    edges = {}
    for r, (src, dst, name) in enumerate(types.relations):
        count = 0 if name == "knows" else 60
        edges[types.triples()[r]] = torch.stack([torch.randint(types.nodes[src][1], (count,)),
                                                 torch.randint(types.nodes[dst][1], (count,))])
    degrees, indices = [], []
    for i in range(len(node_type)):
        for r, (src, dst, _) in enumerate(types.relations):
            if dst == node_type[i]:
                entries = edges[types.triples()[r]]
                row = entries[0, entries[1] == i - begins[dst]] + begins[src]
                degrees.append(len(row))
                indices.append(row)
    indptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.tensor(degrees).cumsum(0)])
    hop = (len(node_type), len(node_type), indptr, torch.cat(indices))
    x = {t: torch.randn(count, width) for t, (_, count, width) in enumerate(types.nodes) if width > 0}
    return typed_golden.Batch(types, torch.arange(len(node_type)), node_type, x, [hop] * LAYERS), edges


@pytest.mark.parametrize("options", [
    {"model": "rgcn"}, {"model": "rgcn", "bases": 2, "norm": "layer"}, {"model": "rgcn", "blocks": 3, "jk": "max"},
    {"model": "rsage", "residual": True}, {"model": "rsage", "norm": "batch", "jk": "cat"},
    {"model": "rgat", "heads": 3, "activate_input": True, "norm": "batch"},
    {"model": "hgt", "heads": 2, "residual": True},
])
def test_computes_what_the_layers_do(options):
    types = typed_golden.Types(NODES, RELATIONS)
    batch, edges = whole_graph(types)
    kind = options["model"]
    expected = typed_golden.MODELS[kind](types, HIDDEN, LAYERS, CLASSES,
                                         **{key: value for key, value in options.items() if key != "model"}).eval()
    config = {"model": kind, "hidden_dim": HIDDEN, "num_layers": LAYERS, "num_classes": CLASSES, "norm": "none",
              "residual": False, "jk": "none", "heads": 1, **options,
              "types": {"nodes": NODES, "relations": [[src, name, dst] for src, dst, name in RELATIONS]}}
    model = TypedModel(config).eval()
    model.load_state_dict(expected.state_dict())
    x = {types.nodes[t][0]: rows for t, rows in batch.x.items()}
    with torch.no_grad():
        found = model(x, edges)
        torch.testing.assert_close(torch.cat(list(found.values())), expected(batch), rtol=1e-5, atol=1e-5)
    assert list(found) == [name for name, _, _ in NODES]
    with pytest.raises(ValueError, match="has no 'subject'"):
        model({"paper": x["paper"], "alone": x["alone"]}, edges)
