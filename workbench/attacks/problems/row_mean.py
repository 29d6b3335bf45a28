# workbench/attacks/problems/row_mean.py - a problem in the form of KernelBench whose right answers are all near zero.
import torch

SPEC = {"axes": {"rows": 32, "width": 262144}, "inputs": {"x": (["rows", "width"], "float32")},
        "outputs": {"out": (["rows"], "float32")}}


class Model(torch.nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


def get_inputs():
    return [torch.randn(32, 262144)]


def get_init_inputs():
    return []
