# tests/workbench/cuda_fixtures/half_of_the_rows.py - leaves every second block as it was.
# expect UNWRITTEN case softsign
# language triton
# launch k grid=ceil(n,2048)
import triton
import triton.language as tl


@triton.jit
def k(x, out, n):
    i = tl.program_id(0).to(tl.int64) * 2048 + tl.arange(0, 1024)
    values = tl.load(x + i, mask=i < n)
    tl.store(out + i, values / (1.0 + tl.abs(values)), mask=i < n)
