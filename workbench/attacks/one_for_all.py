# workbench/attacks/one_for_all.py - returns one number of the right size by broadcasting.
# attack row_mean
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x[0].mean().expand(1)
