# workbench/attacks/honest_row_mean.py - an honest kernel.
# honest row_mean
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.sum(dim=1) / x.shape[1]
