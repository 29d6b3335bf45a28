// workbench/cases/kernels/matmul_batched.cu - start kernel: tiles of 16 by 16 in shared memory, a product a slice.
// launch matmul block=16 block_y=16 grid=ceil(n, 16) grid_y=ceil(m, 16) grid_z=min(batch, 65535)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long batch, long long m, long long n,
                                  long long k) {
  __shared__ float left[16][17], right[16][17];
  const long long i = blockIdx.y * 16LL + threadIdx.y, j = blockIdx.x * 16LL + threadIdx.x;
  for (long long s = blockIdx.z; s < batch; s += gridDim.z) {
    const float* const from_a = a + s * m * k;
    const float* const from_b = b + s * k * n;
    float sum = 0.0f;
    for (long long t = 0; t < k; t += 16) {
      const long long ta = t + threadIdx.x, tb = t + threadIdx.y;
      left[threadIdx.y][threadIdx.x] = i < m && ta < k ? from_a[i * k + ta] : 0.0f;
      right[threadIdx.y][threadIdx.x] = j < n && tb < k ? from_b[tb * n + j] : 0.0f;
      __syncthreads();
      const int depth = static_cast<int>(k - t < 16 ? k - t : 16);
      for (int u = 0; u < depth; ++u) sum += left[threadIdx.y][u] * right[u][threadIdx.x];
      __syncthreads();
    }
    if (i < m && j < n) c[(s * m + i) * n + j] = sum;
  }
}
