// tests/workbench/cuda_fixtures/modified_input.cu - changes its input.
// expect INPUT_MODIFIED case softsign
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + fabsf(x[i]));
  if (i < n) const_cast<float*>(x)[i] = 0.0f;
}
