// launch matmul block=1 grid=ceil(m, 4)
#include <immintrin.h>

#include "workbench_kernel.h"

// Four rows by sixteen columns in eight registers; what does not fill a tile is done one number at a time.
static void tile(const float* a, const float* b, float* c, long long n, long long k) {
  __m256 sum[4][2];
  for (auto& row : sum) row[0] = row[1] = _mm256_setzero_ps();
  for (long long t = 0; t < k; ++t) {
    const __m256 low = _mm256_loadu_ps(b + t * n), high = _mm256_loadu_ps(b + t * n + 8);
    for (int i = 0; i < 4; ++i) {
      const __m256 left = _mm256_broadcast_ss(reinterpret_cast<const float*>(a + i * k + t));
      sum[i][0] = _mm256_fmadd_ps(left, low, sum[i][0]);
      sum[i][1] = _mm256_fmadd_ps(left, high, sum[i][1]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(c + i * n, sum[i][0]);
    _mm256_storeu_ps(c + i * n + 8, sum[i][1]);
  }
}

extern "C" void matmul(WorkbenchBlock block, const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long first = block.x * 4, last = first + 4 < m ? first + 4 : m;
  long long j = 0;
  if (last - first == 4)
    for (; j + 16 <= n; j += 16) tile(a + first * k, b + j, c + first * n + j, n, k);
  for (; j < n; ++j)
    for (long long i = first; i < last; ++i) {
      float sum = 0;
      for (long long t = 0; t < k; ++t) sum += a[i * k + t] * b[t * n + j];
      c[i * n + j] = sum;
    }
}
