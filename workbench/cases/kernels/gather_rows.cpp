// workbench/cases/kernels/gather_rows.cpp - start kernel: 256 rows a block.
// launch gather_rows block=1 grid=ceil(n, 256)
#include "workbench_kernel.h"

extern "C" void gather_rows(WorkbenchBlock block, const half* table, const unsigned* index, half* out, long long n,
                            long long table_rows, long long width) {
  (void)table_rows;
  const long long begin = block.x * 256, end = begin + 256 < n ? begin + 256 : n;
  for (long long i = begin; i < end; ++i)
    for (long long j = 0; j < width; ++j) out[i * width + j] = table[index[i] * width + j];
}
