// workbench/cases/kernels/matmul_batched.cpp - start kernel: one product a block.
// launch matmul block=1 grid=batch
#include "workbench_kernel.h"

extern "C" void matmul(WorkbenchBlock block, const float* a, const float* b, float* c, long long batch, long long m,
                       long long n, long long k) {
  (void)batch;
  const long long s = block.x;
  for (long long i = 0; i < m; ++i)
    for (long long j = 0; j < n; ++j) {
      float sum = 0;
      for (long long t = 0; t < k; ++t) sum += a[(s * m + i) * k + t] * b[(s * k + t) * n + j];
      c[(s * m + i) * n + j] = sum;
    }
}
