// tests/workbench/cuda_fixtures/fast_tanh.cu - uses the hardware's approximation for tanh.
// expect PRECISION case tanh
// launch k block=256 grid=ceil(n, 256)
extern "C" __global__ void k(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  float y;
  if (i >= n) return;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x[i]));
  out[i] = y;
}
