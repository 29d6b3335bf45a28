# tests/workbench/cuda_fixtures/other_threads.tilelang.py - a kernel of 256 threads, launched with 128.
# expect STATIC_REJECT case softsign
# language tilelang
# launch softsign grid=ceil(n,1024) block=128
import tilelang.language as T

n = T.dynamic("n", "int64")


@T.prim_func
def softsign(x: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
    with T.Kernel(T.ceildiv(n, 1024), threads=256) as block:
        for i in T.Parallel(1024):
            at = block * 1024 + i
            if at < n:
                out[at] = x[at] / (1.0 + T.abs(x[at]))
