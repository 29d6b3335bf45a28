# tests/workbench/cuda_fixtures/one_too_far.cute.py - writes an element behind the end.
# expect OUT_OF_BOUNDS case softsign
# language cute-dsl
# launch softsign grid=ceil(n+1,256) block=256
import cutlass
import cutlass.cute as cute


@cute.kernel
def softsign(x: cute.Pointer, out: cute.Pointer, n: cutlass.Int64):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = cutlass.Int64(block) * 256 + thread
    if i <= n:
        values = cute.make_tensor(x, cute.make_layout(n + 1))
        results = cute.make_tensor(out, cute.make_layout(n + 1))
        value = values[i]
        results[i] = value / (1.0 + cute.arch.fmax(value, -value))
