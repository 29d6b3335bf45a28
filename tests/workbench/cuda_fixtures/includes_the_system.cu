// tests/workbench/cuda_fixtures/includes_the_system.cu - includes what a kernel does not need.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
#include <unistd.h>
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
