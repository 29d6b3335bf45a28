# tests/workbench/cuda_fixtures/prints.cutile.py - a call outside of the kernel.
# expect STATIC_REJECT case softsign
# language cutile
# launch softsign grid=ceil(n,1024)
import cuda.tile as ct


@ct.kernel
def softsign(x, out, n):
    block = ct.bid(0)
    values = ct.load(x, index=(block,), shape=(1024,), padding_mode=ct.PaddingMode.ZERO)
    ct.print(values)
    ct.store(out, index=(block,), tile=values / (1.0 + ct.abs(values)))
