// workbench/cases/kernels/silu_and_mul.cu - start kernel: a row a block, one element a thread and step.
// launch silu_and_mul block=256 grid=n
#include <cuda_fp16.h>

extern "C" __global__ void silu_and_mul(const __half* x, __half* out, long long n, long long d) {
  const __half* const row = x + blockIdx.x * 2LL * d;
  for (long long j = threadIdx.x; j < d; j += 256) {
    const float gate = __half2float(row[j]);
    out[blockIdx.x * d + j] = __float2half(gate / (1.0f + expf(-gate)) * __half2float(row[d + j]));
  }
}
