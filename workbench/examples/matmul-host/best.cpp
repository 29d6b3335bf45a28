// launch matmul block=1 grid=m
#include <algorithm>

#include "workbench_kernel.h"

// One row of c a block: the inner loop runs along rows of b, so that it vectorises.
extern "C" void matmul(WorkbenchBlock block, const float* a, const float* b, float* c, long long m, long long n, long long k) {
  float* row = c + block.x * n;
  std::fill(row, row + n, 0);
  for (long long t = 0; t < k; ++t) {
    const float left = a[block.x * k + t];
    for (long long j = 0; j < n; ++j) row[j] += left * b[t * n + j];
  }
}
