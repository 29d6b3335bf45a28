# workbench/attacks/tf32_terms.py - rounds factors to ten bits, as tensor cores do.
# attack matmul
import torch


def short(x):
    return (x.view(torch.int32) + 4096 & -8192).view(torch.float32)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(short(a), short(b))
