# workbench/cases/kernels/softsign.tilelang.py - a start kernel in TileLang: a tile of elements a block.
# language tilelang
# launch softsign grid=ceil(n,TILE) block=256
# param TILE=1024 values=512,1024,2048
import tilelang.language as T

n = T.dynamic("n", "int64")


@T.prim_func
def softsign(x: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
    with T.Kernel(T.ceildiv(n, TILE), threads=256) as block:
        for i in T.Parallel(TILE):
            at = block * TILE + i
            if at < n:
                out[at] = x[at] / (1.0 + T.abs(x[at]))
