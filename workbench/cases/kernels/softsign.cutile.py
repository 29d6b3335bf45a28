# workbench/cases/kernels/softsign.cutile.py - a start kernel in cuTile: a tile of elements a block.
# language cutile
# launch softsign grid=ceil(n,TILE)
# param TILE=1024 values=512,1024,2048
import cuda.tile as ct


@ct.kernel
def softsign(x, out, n):
    block = ct.bid(0)
    values = ct.load(x, index=(block,), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, index=(block,), tile=values / (1.0 + ct.abs(values)))
