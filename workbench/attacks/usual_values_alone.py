# workbench/attacks/usual_values_alone.py - is right for magnitudes up to 8, as normal numbers have them.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.clamp(-8, 8)
        return x / (1 + torch.abs(x))
