// tests/workbench/cuda_fixtures/write_behind_the_end.cu - writes one element too many.
// expect OUT_OF_BOUNDS case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i <= n) out[i] = x[min(i, n - 1)] / (1.0f + fabsf(x[min(i, n - 1)]));
}
