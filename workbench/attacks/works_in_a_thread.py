# workbench/attacks/works_in_a_thread.py - returns at once, and computes in a thread.
# attack softsign timed
import threading
import time

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)

        def work():
            time.sleep(0.05)
            out.copy_(x / (1 + torch.abs(x)))

        threading.Thread(target=work, daemon=True).start()
        return out
