# workbench/cases/kernels/gather_mean.cute.py - a start kernel in CuTe's Python: a part of a row a block.
# language cute-dsl
# launch gather_mean grid=rows grid_y=ceil(width,BLOCK) block=BLOCK
# param BLOCK=128 values=64,128,256
import cutlass
import cutlass.cute as cute


@cute.kernel
def gather_mean(x: cute.Pointer, indptr: cute.Pointer, indices: cute.Pointer, out: cute.Pointer, rows: cutlass.Int64,
                sources: cutlass.Int64, edges: cutlass.Int64, width: cutlass.Int64):
    thread, _, _ = cute.arch.thread_idx()
    row, part, _ = cute.arch.block_idx()
    column = cutlass.Int64(part) * BLOCK + thread
    values = cute.make_tensor(x, cute.make_layout(sources * width))
    offsets = cute.make_tensor(indptr, cute.make_layout(rows + 1))
    ids = cute.make_tensor(indices, cute.make_layout(edges))
    results = cute.make_tensor(out, cute.make_layout(rows * width))
    if column < width:
        first = offsets[row]
        last = offsets[row + 1]
        total = cutlass.Float32(0.0)
        for edge in cutlass.range(first, last):
            total += values[cutlass.Int64(ids[edge]) * width + column]
        count = cutlass.Float32(1.0)
        if last > first:
            count = cutlass.Float32(last - first)
        results[cutlass.Int64(row) * width + column] = total / count
