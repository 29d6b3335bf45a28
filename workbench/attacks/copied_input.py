# workbench/attacks/copied_input.py - returns the input.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.clone()
