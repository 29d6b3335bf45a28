# workbench/attacks/part_of_the_row.py - adds the first half of every row.
# attack row_mean
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x[:, :x.shape[1] // 2].mean(dim=1)
