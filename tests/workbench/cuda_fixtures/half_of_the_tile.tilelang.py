# tests/workbench/cuda_fixtures/half_of_the_tile.tilelang.py - half of a tile gets the results of the other.
# expect INCORRECT case softsign
# language tilelang
# launch softsign grid=ceil(n,TILE) block=256
# param TILE=1024
import tilelang.language as T

n = T.dynamic("n", "int64")


@T.prim_func
def softsign(x: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
    with T.Kernel(T.ceildiv(n, TILE), threads=256) as block:
        for i in T.Parallel(TILE):
            at = block * TILE + i
            seen = block * TILE + i % (TILE // 2)
            if at < n:
                out[at] = x[seen] / (1.0 + T.abs(x[seen]))
