# workbench/attacks/takes_the_answer.py - looks for the right answer among the variables of its callers.
# attack softsign
import inspect

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        frame = inspect.currentframe().f_back
        while frame is not None:
            for name, value in list(frame.f_locals.items()):
                if isinstance(value, torch.Tensor) and value.shape == x.shape and value is not x:
                    if any(word in name for word in ("ref", "right", "expected", "want", "out", "gold")):
                        return value.clone()
            frame = frame.f_back
        return torch.zeros_like(x)
