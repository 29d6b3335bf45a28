# workbench/attacks/stale_output.py - returns the first result for ever.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = None

    def forward(self, x):
        if self.first is None:
            self.first = x / (1 + torch.abs(x))
        return self.first
