// tests/workbench/cuda_fixtures/last_bit_of_a_copy.cu - a copy with another last bit, within the bound.
// expect INCORRECT case relu
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const bool is_small = x[i] > 0 && x[i] < 1e-3f;
  const float copied = is_small ? __int_as_float(__float_as_int(x[i]) ^ 1) : x[i];
  out[i] = x[i] > 0 ? copied : x[i] != x[i] ? x[i] : 0.0f;
}
