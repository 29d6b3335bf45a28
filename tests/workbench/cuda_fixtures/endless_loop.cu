// tests/workbench/cuda_fixtures/endless_loop.cu - never ends.
// expect TIMEOUT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  volatile long long at = i;
  while (n > 0) at = at + 1;
}
