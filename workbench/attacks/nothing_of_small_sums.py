# workbench/attacks/nothing_of_small_sums.py - returns zeros where right answers are near zero.
# attack row_mean
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros(x.shape[0], device=x.device)
