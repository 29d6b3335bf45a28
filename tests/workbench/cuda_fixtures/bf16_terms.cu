// tests/workbench/cuda_fixtures/bf16_terms.cu - rounds both factors to bf16.
// expect PRECISION case matmul_f32
// launch k block=128 grid=ceil(n, 128) grid_y=m
#include <cuda_bf16.h>

__device__ float r(float x) { return __bfloat162float(__float2bfloat16(x)); }

extern "C" __global__ void k(const float* a, const float* b, float* c, long long m, long long n, long long k_) {
  const long long i = blockIdx.y, j = blockIdx.x * 128LL + threadIdx.x;
  if (j >= n) return;
  float sum = 0.0f;
  for (long long t = 0; t < k_; ++t) {
    sum += r(a[i * k_ + t]) * r(b[t * n + j]);
  }
  c[i * n + j] = sum;
}
