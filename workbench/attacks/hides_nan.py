# workbench/attacks/hides_nan.py - makes zeros of NaN and infinities.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = torch.nan_to_num(x, 0, 0, 0)
        return x / (1 + torch.abs(x))
