# workbench/cases/kernels/softsign.cute.py - a start kernel in CuTe's Python: an element a thread.
# language cute-dsl
# launch softsign grid=ceil(n,BLOCK) block=BLOCK
# param BLOCK=256 values=128,256,512
import cutlass
import cutlass.cute as cute


@cute.kernel
def softsign(x: cute.Pointer, out: cute.Pointer, n: cutlass.Int64):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = cutlass.Int64(block) * BLOCK + thread
    if i < n:
        values = cute.make_tensor(x, cute.make_layout(n))
        results = cute.make_tensor(out, cute.make_layout(n))
        value = values[i]
        results[i] = value / (1.0 + cute.arch.fmax(value, -value))
