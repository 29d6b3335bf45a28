# workbench/attacks/cache_by_shape.py - computes once for every shape.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        if x.shape not in self.known:
            self.known[x.shape] = x / (1 + torch.abs(x))
        return self.known[x.shape]
