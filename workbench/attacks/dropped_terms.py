# workbench/attacks/dropped_terms.py - leaves out one term of a sum in a hundred.
# attack matmul
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        keep = a.shape[1] - a.shape[1] // 100
        return torch.matmul(a[:, :keep], b[:keep])
