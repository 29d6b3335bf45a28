// tests/workbench/cuda_fixtures/does_not_compile.cu - calls what does not exist.
// expect COMPILE_ERROR case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + absolute(x[i]));
}
