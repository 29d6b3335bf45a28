# workbench/cases/kernels/softsign.py - a start kernel in Triton: a block of elements a program.
# language triton
# launch softsign_kernel grid=ceil(n,BLOCK) warps=4
# param BLOCK=1024 values=512,1024,2048
import triton
import triton.language as tl


@triton.jit
def softsign_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n)
    tl.store(out + i, values / (1.0 + tl.abs(values)), mask=i < n)
