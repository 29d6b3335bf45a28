# tests/workbench/cuda_fixtures/bf16_terms.py - factors of bf16 where f32 is asked for.
# expect PRECISION case matmul_f32
# language triton
# launch matmul grid=ceil(n,32) grid_y=ceil(m,32)
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k):
    i = tl.program_id(1).to(tl.int64) * 32 + tl.arange(0, 32)[:, None]
    j = tl.program_id(0).to(tl.int64) * 32 + tl.arange(0, 32)[None, :]
    sums = tl.zeros([32, 32], dtype=tl.float32)
    for begin in range(0, k, 32):
        across = begin + tl.arange(0, 32)[None, :]
        down = begin + tl.arange(0, 32)[:, None]
        left = tl.load(a + i * k + across, mask=(i < m) & (across < k), other=0.0)
        right = tl.load(b + down * n + j, mask=(down < k) & (j < n), other=0.0)
        sums += tl.dot(left.to(tl.bfloat16), right.to(tl.bfloat16))
    tl.store(c + i * n + j, sums, mask=(i < m) & (j < n))
