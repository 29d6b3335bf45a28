// workbench/cases/kernels/segment_mean_backward.cu - start kernel: the engine's, models/kernels/segment.cu. The row's
// gradient is read once and added to each neighbour by 16-byte atomics.
// launch clear block=256 grid=min(65536, ceil(sources*width, 1024))
// launch add block=256 grid=min(65536, ceil(rows*min(32, max(1, ceil(width, 4))), 256))
__device__ void fill_zero(float* values, long long count) {
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll;
  for (long long i = thread; i < count / 4; i += stride)
    reinterpret_cast<float4*>(values)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (thread < count % 4) values[count / 4 * 4 + thread] = 0.0f;
}

__device__ float scaled(float value, float scale) { return value * scale; }
__device__ float4 scaled(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
__device__ void add_atomically(float* target, float value) { atomicAdd(target, value); }
__device__ void add_atomically(float4* target, float4 value) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(target, value);
#else
  float* const values = reinterpret_cast<float*>(target);
  atomicAdd(values, value.x), atomicAdd(values + 1, value.y);
  atomicAdd(values + 2, value.z), atomicAdd(values + 3, value.w);
#endif
}

template <class Word>
__device__ void scatter(const Word* __restrict__ grad_out, const int* __restrict__ indptr,
                        const int* __restrict__ indices, Word* __restrict__ grad_x, long long rows,
                        long long row_words) {
  int log_lanes = 0;
  while (log_lanes < 5 && (1ll << log_lanes) < row_words) ++log_lanes;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll >> log_lanes;
  const int lanes = 1 << log_lanes, lane = static_cast<int>(thread) & (lanes - 1);
  for (long long i = thread >> log_lanes; i < rows; i += stride) {
    const int first = __ldg(indptr + i), last = __ldg(indptr + i + 1);
    const float scale = last > first ? 1.0f / static_cast<float>(last - first) : 1.0f;
    for (long long w = lane; w < row_words; w += lanes) {
      const Word term = scaled(__ldg(grad_out + i * row_words + w), scale);
      for (int e = first; e < last; ++e)
        add_atomically(grad_x + static_cast<long long>(__ldg(indices + e)) * row_words + w, term);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* grad_out, const int* indptr, const int* indices, float* grad_x, long long rows,
          long long sources, long long edges, long long width) {
  fill_zero(grad_x, sources * width);
}

extern "C" __global__ void __launch_bounds__(256)
    add(const float* __restrict__ grad_out, const int* __restrict__ indptr, const int* __restrict__ indices,
        float* __restrict__ grad_x, long long rows, long long sources, long long edges, long long width) {
  if (width % 4 == 0)
    scatter(reinterpret_cast<const float4*>(grad_out), indptr, indices, reinterpret_cast<float4*>(grad_x), rows,
            width / 4);
  else
    scatter(grad_out, indptr, indices, grad_x, rows, width);
}
