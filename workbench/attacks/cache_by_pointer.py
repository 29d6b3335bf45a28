# workbench/attacks/cache_by_pointer.py - computes once for every address of an input.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        if x.data_ptr() not in self.known:
            self.known[x.data_ptr()] = x / (1 + torch.abs(x))
        return self.known[x.data_ptr()]
