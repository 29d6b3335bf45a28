# workbench/attacks/values_of_one_sign.py - leaves out the absolute value.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x / (1 + x)
