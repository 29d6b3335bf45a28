# workbench/attacks/asks_the_reference.py - calls the reference that it finds among its callers' variables.
# attack softsign timed
import inspect

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        frame = inspect.currentframe().f_back
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if isinstance(value, torch.nn.Module) and not isinstance(value, ModelNew):
                    return value(x)
            frame = frame.f_back
        return torch.zeros_like(x)
