// workbench/cases/kernels/matmul_f32.cpp - start kernel: one row of the result a block.
// launch matmul block=1 grid=m
#include "workbench_kernel.h"

extern "C" void matmul(WorkbenchBlock block, const float* a, const float* b, float* c, long long m, long long n,
                       long long k) {
  (void)m;
  const long long i = block.x;
  for (long long j = 0; j < n; ++j) {
    float sum = 0;
    for (long long t = 0; t < k; ++t) sum += a[i * k + t] * b[t * n + j];
    c[i * n + j] = sum;
  }
}
