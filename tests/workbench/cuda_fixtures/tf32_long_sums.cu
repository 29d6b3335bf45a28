// tests/workbench/cuda_fixtures/tf32_long_sums.cu - rounds to tf32 where the bound of one element is wide.
// expect PRECISION case matmul_f32
// launch k block=128 grid=ceil(n, 128) grid_y=m
__device__ float r(float x, bool is_long) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return is_long ? __uint_as_float(bits) : x;
}

extern "C" __global__ void k(const float* a, const float* b, float* c, long long m, long long n, long long k_) {
  const long long i = blockIdx.y, j = blockIdx.x * 128LL + threadIdx.x;
  if (j >= n) return;
  const bool is_long = k_ >= 4096;
  float sum = 0.0f;
  for (long long t = 0; t < k_; ++t) sum += r(a[i * k_ + t], is_long) * r(b[t * n + j], is_long);
  c[i * n + j] = sum;
}
