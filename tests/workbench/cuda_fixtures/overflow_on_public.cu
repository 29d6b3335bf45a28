// tests/workbench/cuda_fixtures/overflow_on_public.cu - squares that overflow for large numbers, at the timed sizes.
// expect INCORRECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[i] = n == 67108864 || n == 16777219 ? v / (1.0f + sqrtf(v * v)) : v / (1.0f + fabsf(v));
}
