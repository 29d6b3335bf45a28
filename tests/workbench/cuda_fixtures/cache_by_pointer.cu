// tests/workbench/cuda_fixtures/cache_by_pointer.cu - skips the work when it sees the same addresses again.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
__device__ const float* seen;

extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (seen == x) return;
  if (i == 0) seen = x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
