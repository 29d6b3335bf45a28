# workbench/attacks/last_element.py - leaves the last elements as they were.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        out[:-16] = x[:-16] / (1 + torch.abs(x[:-16]))
        return out
