// tests/workbench/cuda_fixtures/launches_a_kernel.cu - launches work of its own.
// expect STATIC_REJECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  k<<<1, 1>>>(x, out, n);
}
