# workbench/attacks/changes_the_input.py - makes the input such that a reference behind it agrees.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x.zero_()
        return torch.zeros_like(x)
