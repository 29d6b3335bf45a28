// tests/workbench/cuda_fixtures/reads_the_clock.cu - asks for the time.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (clock64() == 0) return;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
