# workbench/cases/kernels/gather_mean.py - a start kernel in Triton: a part of a row a program, neighbour by neighbour.
# language triton
# launch gather_mean grid=rows grid_y=ceil(width,BLOCK) warps=WARPS
# param BLOCK=128 values=64,128,256
# param WARPS=1 values=1,2,4
import triton
import triton.language as tl


@triton.jit
def gather_mean(x, indptr, indices, out, rows, sources, edges, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(indptr + row)
    last = tl.load(indptr + row + 1)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for edge in range(first, last):
        source = tl.load(indices + edge).to(tl.int64)
        total += tl.load(x + source * width + column, mask=column < width, other=0.0)
    count = tl.maximum(last - first, 1).to(tl.float32)
    tl.store(out + row * width + column, total / count, mask=column < width)
