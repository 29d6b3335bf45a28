// tests/workbench/cuda_fixtures/copied_input.cu - copies the input, which is nearly right for one value near 0.
// expect INCORRECT|PRECISION case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i];
}
