// tests/workbench/cuda_fixtures/zeroed_output.cu - writes zeros.
// expect INCORRECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = 0.0f;
}
