// workbench/cases/kernels/sage_layer_forward.cu - start kernel: the engine's mean of neighbours, then both products in
// tiles of 16 by 16.
// launch gather_mean block=256 grid=min(65536, ceil(rows, 8))
// launch multiply block=16 block_y=16 grid=ceil(out, 16) grid_y=min(65535, ceil(rows, 16))
// scratch means f32 rows*in
extern "C" __global__ void __launch_bounds__(256)
    gather_mean(const float* x, const int* indptr, const int* indices, const float* wl, const float* wr,
                const float* bias, float* y, long long rows, long long others, long long edges, long long in,
                long long out, float* means) {
  const int lane = threadIdx.x % 32;
  for (long long i = blockIdx.x * 8ll + threadIdx.x / 32; i < rows; i += gridDim.x * 8ll) {
    const int first = indptr[i], last = indptr[i + 1];
    const float scale = last > first ? 1.0f / static_cast<float>(last - first) : 0.0f;
    for (long long j = lane; j < in; j += 32) {
      float sum = 0.0f;
      for (int e = first; e < last; ++e) sum += __ldg(x + __ldg(indices + e) * in + j);
      means[i * in + j] = sum * scale;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    multiply(const float* x, const int* indptr, const int* indices, const float* wl, const float* wr, const float* bias,
             float* y, long long rows, long long others, long long edges, long long in, long long out, float* means) {
  __shared__ float row_tile[16][17], weight_tile[16][17];
  const long long j = blockIdx.x * 16ll + threadIdx.x;
  for (long long first = blockIdx.y * 16ll; first < rows; first += gridDim.y * 16ll) {
    const long long i = first + threadIdx.y;
    float sum = j < out ? bias[j] : 0.0f;
    for (int part = 0; part < 2; ++part) {
      const float* const from = part == 0 ? means : x;
      const float* const weights = part == 0 ? wl : wr;
      for (long long t = 0; t < in; t += 16) {
        const long long ta = t + threadIdx.x, weight_row = blockIdx.x * 16ll + threadIdx.y;
        row_tile[threadIdx.y][threadIdx.x] = i < rows && ta < in ? from[i * in + ta] : 0.0f;
        weight_tile[threadIdx.y][threadIdx.x] = weight_row < out && ta < in ? weights[weight_row * in + ta] : 0.0f;
        __syncthreads();
        for (int u = 0; u < 16; ++u) sum += row_tile[threadIdx.y][u] * weight_tile[threadIdx.x][u];
        __syncthreads();
      }
    }
    if (i < rows && j < out) y[i * out + j] = sum;
  }
}
