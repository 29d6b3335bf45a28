# workbench/attacks/right_at_first.py - is right for three calls, and then repeats itself.
# attack softsign
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.last = 0, None

    def forward(self, x):
        self.calls += 1
        if self.calls <= 3:
            self.last = x / (1 + torch.abs(x))
        return self.last
