# tests/workbench/cuda_fixtures/zeros_where_negative.cutile.py - right for one sign alone.
# expect INCORRECT case softsign
# language cutile
# launch softsign grid=ceil(n,1024)
import cuda.tile as ct


@ct.kernel
def softsign(x, out, n):
    block = ct.bid(0)
    values = ct.load(x, index=(block,), shape=(1024,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, index=(block,), tile=ct.maximum(values, 0.0) / (1.0 + ct.abs(values)))
