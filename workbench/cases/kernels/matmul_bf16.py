# workbench/cases/kernels/matmul_bf16.py - a start kernel in Triton: a tile of the product a program, on tensor cores.
# language triton
# launch matmul grid=ceil(n,TILE_N) grid_y=ceil(m,TILE_M) warps=8 stages=3
# param TILE_M=128 values=64,128
# param TILE_N=128 values=64,128,256
# param TILE_K=64
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    i = tl.program_id(1).to(tl.int64) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = tl.program_id(0).to(tl.int64) * TILE_N + tl.arange(0, TILE_N)[None, :]
    sums = tl.zeros([TILE_M, TILE_N], dtype=tl.float32)
    for begin in range(0, k, TILE_K):
        across = begin + tl.arange(0, TILE_K)[None, :]
        down = begin + tl.arange(0, TILE_K)[:, None]
        left = tl.load(a + i * k + across, mask=(i < m) & (across < k), other=0.0)
        right = tl.load(b + down * n + j, mask=(down < k) & (j < n), other=0.0)
        sums += tl.dot(left, right)
    tl.store(c + i * n + j, sums.to(tl.bfloat16), mask=(i < m) & (j < n))
