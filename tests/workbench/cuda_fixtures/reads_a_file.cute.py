# tests/workbench/cuda_fixtures/reads_a_file.cute.py - Python in the type of a parameter, which would run.
# expect STATIC_REJECT case softsign
# language cute-dsl
# launch softsign grid=ceil(n,256) block=256
import cutlass
import cutlass.cute as cute


@cute.kernel
def softsign(x: "open('/etc/hostname').read()", out: cute.Pointer, n: cutlass.Int64):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = cutlass.Int64(block) * 256 + thread
    if i < n:
        values = cute.make_tensor(x, cute.make_layout(n))
        results = cute.make_tensor(out, cute.make_layout(n))
        results[i] = values[i]
