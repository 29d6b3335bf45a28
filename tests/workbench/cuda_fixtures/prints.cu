// tests/workbench/cuda_fixtures/prints.cu - prints a verdict.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
#include <cstddef>
extern "C" __device__ int printf(const char*, ...);
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i == 0) printf("ACCEPTED");
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
