# workbench/attacks/half_results.py - computes in half precision.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.half()
        return (x / (1 + torch.abs(x))).float()
