// tests/workbench/cuda_fixtures/wrong_above_the_timed_sizes.cu - no work beyond the timed sizes.
// expect INCORRECT case tanh
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = i < 67108864 ? tanhf(x[i]) : 0.0f;
}
