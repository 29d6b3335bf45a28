// tests/workbench/cuda_fixtures/partial_output.cu - leaves out the last element.
// expect UNWRITTEN case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i + 1 < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
}
