// workbench/cases/kernels/matmul_triangular.cpp - start kernel: one row of the result a block.
// launch matmul block=1 grid=n
#include "workbench_kernel.h"

extern "C" void matmul(WorkbenchBlock block, const float* a, const float* b, float* c, long long n) {
  const long long i = block.x;
  for (long long j = 0; j < n; ++j) {
    float sum = 0;
    for (long long t = i; t <= j; ++t) sum += a[i * n + t] * b[t * n + j];
    c[i * n + j] = sum;
  }
}
