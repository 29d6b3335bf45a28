// workbench/cases/kernels/matmul_triangular.cu - start kernel: tiles of 16 by 16 in shared memory, between
// the diagonal's tiles of the row and of the column.
// launch matmul block=16 block_y=16 grid=ceil(n, 16) grid_y=ceil(n, 16)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, long long n) {
  __shared__ float left[16][17], right[16][17];
  const long long i = blockIdx.y * 16LL + threadIdx.y, j = blockIdx.x * 16LL + threadIdx.x;
  float sum = 0.0f;
  for (long long t = blockIdx.y * 16LL; t < blockIdx.x * 16LL + 16; t += 16) {
    const long long ta = t + threadIdx.x, tb = t + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = i < n && ta < n && ta >= i ? a[i * n + ta] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < n && tb <= j ? b[tb * n + j] : 0.0f;
    __syncthreads();
    for (int u = 0; u < 16; ++u) sum += left[threadIdx.y][u] * right[u][threadIdx.x];
    __syncthreads();
  }
  if (i < n && j < n) c[i * n + j] = i <= j ? sum : 0.0f;
}
