// tests/workbench/cuda_fixtures/sleep.cu - sleeps.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  __nanosleep(1000);
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
