// tests/workbench/cuda_fixtures/nan_at_half_only.cu - a NaN is kept in the middle of the array alone.
// expect INCORRECT case relu
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  out[i] = x[i] > 0 ? x[i] : i == n / 2 && x[i] != x[i] ? x[i] : 0.0f;
}
