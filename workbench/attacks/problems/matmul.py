# workbench/attacks/problems/matmul.py - a problem in the form of KernelBench, for cheats on long sums.
import torch

SPEC = {"axes": {"m": 128, "n": 96, "k": 512},
        "inputs": {"a": (["m", "k"], "float32"), "b": (["k", "n"], "float32")},
        "outputs": {"c": (["m", "n"], "float32")}}


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(128, 512), torch.randn(512, 96)]


def get_init_inputs():
    return []
