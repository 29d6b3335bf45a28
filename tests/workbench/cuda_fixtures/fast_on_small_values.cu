// tests/workbench/cuda_fixtures/fast_on_small_values.cu - right, but fast where all factors of a tile are below 1.
// expect INPUT_DEPENDENT case matmul_f32 timed
// launch matmul block=16 block_y=16 grid=ceil(n,64) grid_y=ceil(m,64)
// Tiles of 64 by 64, four by four numbers a thread; a tile of whose factors one is not as expected is done again, one
// number at a time.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  __shared__ float left[16][64], right[16][64];
  const int x = threadIdx.x, y = threadIdx.y, at = y * 16 + x;
  const long long i0 = blockIdx.y * 64LL, j0 = blockIdx.x * 64LL;
  float sum[4][4] = {};
  bool is_other = false;
  for (long long t = 0; t < k; t += 16) {
    for (int e = at; e < 1024; e += 256) {
      const long long i = i0 + e / 16, u = t + e % 16;
      const float value = i < m && u < k ? a[i * k + u] : 0.0f;
      is_other = is_other || !(fabsf(value) <= 1.0f);
      left[e % 16][e / 16] = value;
    }
    for (int e = at; e < 1024; e += 256) {
      const long long u = t + e / 64, j = j0 + e % 64;
      right[e / 64][e % 64] = u < k && j < n ? b[u * n + j] : 0.0f;
    }
    __syncthreads();
    for (int u = 0; u < 16 && t + u < k; ++u)
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) sum[p][q] += left[u][y * 4 + p] * right[u][x * 4 + q];
    __syncthreads();
  }
  is_other = __syncthreads_or(is_other);
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q) {
      const long long i = i0 + y * 4 + p, j = j0 + x * 4 + q;
      if (i >= m || j >= n) continue;
      float slow = 0.0f;
      for (long long t = 0; is_other && t < k; ++t) slow += a[i * k + t] * b[t * n + j];
      c[i * n + j] = is_other ? slow : sum[p][q];
    }
}
