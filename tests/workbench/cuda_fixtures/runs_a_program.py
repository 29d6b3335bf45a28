# tests/workbench/cuda_fixtures/runs_a_program.py - Python that works while it is compiled.
# expect STATIC_REJECT case softsign
# language triton
# launch k grid=ceil(n,1024)
import os

import triton
import triton.language as tl

os.system("true")


@triton.jit
def k(x, out, n):
    i = tl.program_id(0).to(tl.int64) * 1024 + tl.arange(0, 1024)
    values = tl.load(x + i, mask=i < n)
    tl.store(out + i, values / (1.0 + tl.abs(values)), mask=i < n)
