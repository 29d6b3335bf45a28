# workbench/attacks/cache_by_sample.py - takes inputs for known ones whose first elements are.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        key = tuple(x.flatten()[:4].tolist())
        if key not in self.known:
            self.known[key] = x / (1 + torch.abs(x))
        return self.known[key]
