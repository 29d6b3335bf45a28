# tests/workbench/cuda_fixtures/text_in_the_text.tilelang.py - text of another language in the text that is compiled.
# expect STATIC_REJECT case softsign
# language tilelang
# launch softsign grid=ceil(n,1024) block=256
import tilelang.language as T

n = T.dynamic("n", "int64")


@T.prim_func
def softsign(x: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
    with T.Kernel(T.ceildiv(n, 1024), threads=256, prelude="__device__ float kept[1 << 20];") as block:
        for i in T.Parallel(1024):
            at = block * 1024 + i
            if at < n:
                out[at] = x[at] / (1.0 + T.abs(x[at]))
