// tests/workbench/cuda_fixtures/cache_by_content.cu - keeps results in device memory of its own.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
__device__ float cache[4096];

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < 4096) cache[i] = i < n ? x[i] : 0.0f;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
