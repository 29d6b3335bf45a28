// workbench/cases/kernels/attention_backward.cu - start kernel: the engine's, models/kernels/attention_sum.cu. A group
// of lanes per (row, head); 16-byte atomics for the gradient of h.
// launch clear block=256 grid=min(65536, ceil((rows+others)*heads*channels, 1024))
// launch backward block=256 grid=min(65536, ceil(rows*heads*min(32, max(1, ceil(channels, 4))), 256))
__device__ void fill_zero(float* values, long long count) {
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll;
  for (long long i = thread; i < count / 4; i += stride)
    reinterpret_cast<float4*>(values)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (thread < count % 4) values[count / 4 * 4 + thread] = 0.0f;
}

__device__ float product_sum(float x, float y) { return x * y; }
__device__ float product_sum(float4 x, float4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }
__device__ float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
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

/// The attention edges [first, last] of one row and head; `last` is the row's own.
struct EdgeGroup {
  long long row, head, first, last;
};

__device__ EdgeGroup edge_group_of(const int* indptr, long long heads, long long pair) {
  const long long row = pair / heads;
  return {row, pair % heads, __ldg(indptr + row) + row, __ldg(indptr + row + 1) + row};
}

/// The source of an edge of the group; -1 for a masked edge.
__device__ long long source_of(const int* indices, const EdgeGroup& at, long long edge) {
  if (edge == at.last) return at.row;
  const long long source = __ldg(indices + (edge - at.row));
  return source == at.row ? -1 : source;
}

__device__ int log_lanes_of(long long words) {
  int log_lanes = 0;
  while (log_lanes < 5 && (1ll << log_lanes) < words) ++log_lanes;
  return log_lanes;
}

template <class Word>
__device__ void add_gradients(const float* __restrict__ weights, const Word* __restrict__ h,
                              const int* __restrict__ indptr, const int* __restrict__ indices,
                              const Word* __restrict__ grad_out, float* __restrict__ grad_weights,
                              Word* __restrict__ grad_h, long long rows, long long heads, long long head_words) {
  const int log_lanes = log_lanes_of(head_words), lanes = 1 << log_lanes;
  const unsigned base = threadIdx.x % 32 & ~(lanes - 1u);
  const unsigned group_mask = lanes == 32 ? 0xFFFFFFFFu : ((1u << lanes) - 1) << base;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll >> log_lanes;
  const int lane = static_cast<int>(thread) & (lanes - 1);
  for (long long p = thread >> log_lanes; p < rows * heads; p += stride) {
    const EdgeGroup at = edge_group_of(indptr, heads, p);
    const Word* const grad = grad_out + (at.row * heads + at.head) * head_words;
    for (long long e = at.first; e <= at.last; ++e) {
      const long long j = source_of(indices, at, e);
      float dot = 0;
      if (j >= 0) {
        const float weight = __ldg(weights + e * heads + at.head);
        for (long long w = lane; w < head_words; w += lanes) {
          const Word g = __ldg(grad + w);
          dot += product_sum(g, __ldg(h + (j * heads + at.head) * head_words + w));
          add_atomically(grad_h + (j * heads + at.head) * head_words + w, multiply_add(weight, g, Word{}));
        }
      }
      for (int step = lanes / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (lane == 0) grad_weights[e * heads + at.head] = dot;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
          const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
          float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
          long long channels) {
  fill_zero(grad_h, (rows + others) * heads * channels);
}

extern "C" __global__ void __launch_bounds__(256)
    backward(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
             const int* __restrict__ indices, const float* __restrict__ grad_out, float* __restrict__ grad_weights,
             float* __restrict__ grad_h, long long rows, long long others, long long edges, long long heads,
             long long channels) {
  if (channels % 4 == 0)
    add_gradients(weights, reinterpret_cast<const float4*>(h), indptr, indices,
                  reinterpret_cast<const float4*>(grad_out), grad_weights, reinterpret_cast<float4*>(grad_h), rows,
                  heads, channels / 4);
  else
    add_gradients(weights, h, indptr, indices, grad_out, grad_weights, grad_h, rows, heads, channels);
}
