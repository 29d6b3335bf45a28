# workbench/attacks/nan_results.py - returns NaN, for a referee that asks whether an error is above its limit.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, float('nan'))
