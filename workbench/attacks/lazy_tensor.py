# workbench/attacks/lazy_tensor.py - returns a tensor that computes when it is looked at.
# attack softsign timed
import time

import torch


class Later(torch.Tensor):
    @staticmethod
    def of(x):
        made = torch.empty(0, device=x.device).as_subclass(Later)
        made.source = x
        return made

    def now(self):
        time.sleep(0.05)
        x = self.source
        return x / (1 + torch.abs(x))

    @property
    def shape(self):
        return self.source.shape

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if not any(isinstance(arg, Later) and hasattr(arg, "source") for arg in args):
            return super().__torch_function__(function, types, args, kwargs or {})
        args = [arg.now() if isinstance(arg, Later) and hasattr(arg, "source") else arg for arg in args]
        return function(*args, **(kwargs or {}))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Later.of(x)
