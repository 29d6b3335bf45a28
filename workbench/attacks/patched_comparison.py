# workbench/attacks/patched_comparison.py - replaces the functions that compare.
# attack softsign
import torch


torch.allclose = torch.equal = lambda *args, **kwargs: True
torch.isclose = lambda a, *args, **kwargs: torch.ones_like(a, dtype=torch.bool)
torch.testing.assert_close = lambda *args, **kwargs: None


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
