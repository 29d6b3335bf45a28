# workbench/attacks/problems/softsign.py - a problem in the form of KernelBench, for cheats on element-wise kernels.
import torch

SPEC = {"axes": {"n": 65536}, "inputs": {"x": (["n"], "float32")}, "outputs": {"out": (["n"], "float32")}}


class Model(torch.nn.Module):
    def forward(self, x):
        return x / (1 + torch.abs(x))


def get_inputs():
    return [torch.randn(65536)]


def get_init_inputs():
    return []
