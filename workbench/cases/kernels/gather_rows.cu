// workbench/cases/kernels/gather_rows.cu - start kernel: one element a thread.
// launch gather_rows block=256 grid=ceil(n*width, 256)
#include <cuda_fp16.h>

extern "C" __global__ void gather_rows(const __half* table, const unsigned* index, __half* out, long long n,
                                       long long table_rows, long long width) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at < n * width) out[at] = table[index[at / width] * width + at % width];
}
