# workbench/attacks/honest_matmul.py - an honest kernel, which adds in another order.
# honest matmul
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        half = a.shape[1] // 2
        return torch.matmul(a[:, half:], b[half:]) + torch.matmul(a[:, :half], b[:half])
