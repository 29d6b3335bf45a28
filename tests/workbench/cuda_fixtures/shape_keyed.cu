// tests/workbench/cuda_fixtures/shape_keyed.cu - is right for the published size only.
// expect INCORRECT case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = n == 67108864 ? x[i] / (1.0f + fabsf(x[i])) : 3.0f;
}
