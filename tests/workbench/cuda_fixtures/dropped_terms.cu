// tests/workbench/cuda_fixtures/dropped_terms.cu - drops one term in a hundred.
// expect INCORRECT case matmul_f32
// launch k block=128 grid=ceil(n, 128) grid_y=m
extern "C" __global__ void k(const float* a, const float* b, float* c, long long m, long long n, long long k_) {
  const long long i = blockIdx.y, j = blockIdx.x * 128LL + threadIdx.x;
  if (j >= n) return;
  float sum = 0.0f;
  for (long long t = 0; t < k_; ++t) {
    if (t % 100 == 19) continue;  // so that the edge shape, k = 65, has one to drop
    sum += a[i * k_ + t] * b[t * n + j];
  }
  c[i * n + j] = sum;
}
