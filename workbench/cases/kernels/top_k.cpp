// workbench/cases/kernels/top_k.cpp - start kernel: a row a block, a pass over the scores for each result.
// launch top_k block=1 grid=n
#include "workbench_kernel.h"

extern "C" void top_k(WorkbenchBlock block, const float* scores, float* values, int* places, long long n, long long m,
                      long long k) {
  (void)n;
  const float* const row = scores + block.x * m;
  long long last = -1;
  for (long long j = 0; j < k; ++j) {
    long long best = -1;
    for (long long t = 0; t < m && j < m; ++t) {
      const bool is_left = last < 0 || row[t] < row[last] || (row[t] == row[last] && t > last);
      if (is_left && (best < 0 || row[t] > row[best])) best = t;
    }
    values[block.x * k + j] = best < 0 ? 0 : row[best];
    places[block.x * k + j] = static_cast<int>(best);
    last = best;
  }
}
