// tests/workbench/cuda_fixtures/cache_in_a_static.cu - counts its runs.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  static __device__ int runs;
  if (atomicAdd(&runs, 1) < 0) return;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
