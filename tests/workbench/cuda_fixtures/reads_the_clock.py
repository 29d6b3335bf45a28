# tests/workbench/cuda_fixtures/reads_the_clock.py - asks for the time in assembly, which Triton does not look at.
# expect STATIC_REJECT case softsign
# language triton
# launch k grid=ceil(n,1024)
import triton
import triton.language as tl


@triton.jit
def k(x, out, n):
    i = tl.program_id(0).to(tl.int64) * 1024 + tl.arange(0, 1024)
    values = tl.load(x + i, mask=i < n)
    now = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r,r", [i.to(tl.int32)], tl.int32, False, 1)
    tl.store(out + i, values / (1.0 + tl.abs(values)) + now * 0, mask=i < n)
