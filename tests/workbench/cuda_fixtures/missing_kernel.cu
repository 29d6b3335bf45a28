// tests/workbench/cuda_fixtures/missing_kernel.cu - launches a kernel that is not there.
// expect STATIC_REJECT case softsign
// launch other block=1 grid=1
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
