# workbench/cases/kernels/matmul_bf16.tilelang.py - a start kernel in TileLang: tiles of the result, by tensor cores.
# language tilelang
# launch matmul grid=ceil(n,COLUMNS) grid_y=ceil(m,ROWS) block=128
# param ROWS=128 values=64,128
# param COLUMNS=128 values=64,128
# param DEPTH=32 values=32,64
import tilelang.language as T

m = T.dynamic("m", "int64")
n = T.dynamic("n", "int64")
k = T.dynamic("k", "int64")


@T.prim_func
def matmul(a: T.Tensor((m, k), "bfloat16"), b: T.Tensor((k, n), "bfloat16"), c: T.Tensor((m, n), "bfloat16")):
    with T.Kernel(T.ceildiv(n, COLUMNS), T.ceildiv(m, ROWS), threads=128) as (column, row):
        left = T.alloc_shared((ROWS, DEPTH), "bfloat16")
        right = T.alloc_shared((DEPTH, COLUMNS), "bfloat16")
        sums = T.alloc_fragment((ROWS, COLUMNS), "float32")
        T.clear(sums)
        for step in T.serial(T.ceildiv(k, DEPTH)):
            T.copy(a[row * ROWS, step * DEPTH], left)
            T.copy(b[step * DEPTH, column * COLUMNS], right)
            T.gemm(left, right, sums)
        T.copy(sums, c[row * ROWS, column * COLUMNS])
