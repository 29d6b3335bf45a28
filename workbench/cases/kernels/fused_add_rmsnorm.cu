// workbench/cases/kernels/fused_add_rmsnorm.cu - start kernel: a row a block, a tree of additions in shared memory.
// launch rmsnorm block=256 grid=n
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(__half* x, __half* residual, const __half* weight, long long n, long long d) {
  __shared__ float partial[256];
  __half* const row = x + blockIdx.x * d;
  __half* const sums = residual + blockIdx.x * d;
  float squares = 0.0f;
  for (long long j = threadIdx.x; j < d; j += 256) {
    const float sum = __half2float(row[j]) + __half2float(sums[j]);
    squares += sum * sum;
  }
  partial[threadIdx.x] = squares;
  __syncthreads();
  for (int half_size = 128; half_size > 0; half_size /= 2) {
    if (threadIdx.x < half_size) partial[threadIdx.x] += partial[threadIdx.x + half_size];
    __syncthreads();
  }
  const float scale = rsqrtf(partial[0] / static_cast<float>(d) + 1e-6f);
  for (long long j = threadIdx.x; j < d; j += 256) {
    const float sum = __half2float(row[j]) + __half2float(sums[j]);
    row[j] = __float2half(sum * scale * __half2float(weight[j]));
    sums[j] = __float2half(sum);
  }
}
