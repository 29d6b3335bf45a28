# workbench/cases/kernels/matmul_bf16.cutile.py - a start kernel in cuTile: a tile of the result a block.
# language cutile
# array a m k
# array b k n
# array c m n
# launch matmul grid=ceil(n,COLUMNS) grid_y=ceil(m,ROWS)
# param ROWS=128 values=64,128
# param COLUMNS=128 values=64,128
# param DEPTH=64 values=32,64
import cuda.tile as ct


@ct.kernel
def matmul(a, b, c, m, n, k):
    column = ct.bid(0)
    row = ct.bid(1)
    sums = ct.zeros((ROWS, COLUMNS), ct.float32)
    for step in range(ct.cdiv(k, DEPTH)):
        left = ct.load(a, index=(row, step), shape=(ROWS, DEPTH), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, index=(step, column), shape=(DEPTH, COLUMNS), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(left, right, sums)
    ct.store(c, index=(row, column), tile=ct.astype(sums, ct.bfloat16))
