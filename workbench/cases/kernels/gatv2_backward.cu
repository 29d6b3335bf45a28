// workbench/cases/kernels/gatv2_backward.cu - start kernel: the engine's, models/kernels/gatv2_logits.cu. A group of
// lanes per (16 rows, head); att's gradient in parts, which the engine leaves to torch to add up.
// launch clear block=256 grid=min(65536, ceil((rows+others)*heads*channels, 1024))
// launch backward block=256 grid=min(65536, ceil(ceil(rows, 16)*heads*min(32, max(1, ceil(channels, 4))), 256))
// launch add_parts block=256 grid=heads*channels
// scratch parts f32 ceil(rows, 16)*heads*channels
__device__ void fill_zero(float* values, long long count) {
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll;
  for (long long i = thread; i < count / 4; i += stride)
    reinterpret_cast<float4*>(values)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (thread < count % 4) values[count / 4 * 4 + thread] = 0.0f;
}

__device__ float leaky(float x) { return x > 0 ? x : 0.2f * x; }
__device__ float4 leaky(float4 v) { return make_float4(leaky(v.x), leaky(v.y), leaky(v.z), leaky(v.w)); }
__device__ float slope_at(float x) { return x > 0 ? 1.0f : 0.2f; }
__device__ float4 slope_at(float4 v) { return make_float4(slope_at(v.x), slope_at(v.y), slope_at(v.z), slope_at(v.w)); }
__device__ float sum_of(float x, float y) { return x + y; }
__device__ float4 sum_of(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
__device__ float product(float x, float y) { return x * y; }
__device__ float4 product(float4 x, float4 y) { return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w); }
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
__device__ void add_gradients(const Word* __restrict__ z_src, const Word* __restrict__ z_dst,
                              const Word* __restrict__ att, const int* __restrict__ indptr,
                              const int* __restrict__ indices, const float* __restrict__ grad_logits,
                              Word* __restrict__ grad_src, Word* __restrict__ grad_dst, Word* __restrict__ grad_att,
                              long long rows, long long heads, long long head_words) {
  const int log_lanes = log_lanes_of(head_words), lanes = 1 << log_lanes;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll >> log_lanes;
  const int lane = static_cast<int>(thread) & (lanes - 1);
  const long long num_parts = (rows + 15) / 16;
  for (long long p = thread >> log_lanes; p < num_parts * heads; p += stride) {
    const long long head = p % heads, first_row = p / heads * 16;
    const long long end_row = first_row + 16 < rows ? first_row + 16 : rows;
    for (long long w = lane; w < head_words; w += lanes) {
      const Word factor = __ldg(att + head * head_words + w);
      Word part_sum{};
      for (long long row = first_row; row < end_row; ++row) {
        const EdgeGroup at = edge_group_of(indptr, heads, row * heads + head);
        const Word own = __ldg(z_dst + (row * heads + head) * head_words + w);
        Word row_sum{};
        for (long long e = at.first; e <= at.last; ++e) {
          const long long j = source_of(indices, at, e);
          if (j < 0) continue;
          const float grad = __ldg(grad_logits + e * heads + head);
          const Word raw = sum_of(__ldg(z_src + (j * heads + head) * head_words + w), own);
          const Word term = multiply_add(grad, product(factor, slope_at(raw)), Word{});
          row_sum = sum_of(row_sum, term);
          part_sum = multiply_add(grad, leaky(raw), part_sum);
          add_atomically(grad_src + (j * heads + head) * head_words + w, term);
        }
        grad_dst[(row * heads + head) * head_words + w] = row_sum;
      }
      grad_att[p * head_words + w] = part_sum;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    clear(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
          const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
          float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
          long long others, long long edges, long long heads, long long channels, float* __restrict__ parts) {
  fill_zero(grad_src, (rows + others) * heads * channels);
}

extern "C" __global__ void __launch_bounds__(256)
    backward(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
             const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
             float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
             long long others, long long edges, long long heads, long long channels, float* __restrict__ parts) {
  using Wide = float4;
  if (channels % 4 == 0)
    add_gradients(reinterpret_cast<const Wide*>(z_src), reinterpret_cast<const Wide*>(z_dst),
                  reinterpret_cast<const Wide*>(att), indptr, indices, grad_logits, reinterpret_cast<Wide*>(grad_src),
                  reinterpret_cast<Wide*>(grad_dst), reinterpret_cast<Wide*>(parts), rows, heads, channels / 4);
  else
    add_gradients(z_src, z_dst, att, indptr, indices, grad_logits, grad_src, grad_dst, parts, rows, heads, channels);
}

extern "C" __global__ void __launch_bounds__(256)
    add_parts(const float* __restrict__ z_src, const float* __restrict__ z_dst, const float* __restrict__ att,
              const int* __restrict__ indptr, const int* __restrict__ indices, const float* __restrict__ grad_logits,
              float* __restrict__ grad_src, float* __restrict__ grad_dst, float* __restrict__ grad_att, long long rows,
              long long others, long long edges, long long heads, long long channels, float* __restrict__ parts) {
  __shared__ float partial[256];
  const long long width = heads * channels, column = blockIdx.x;
  float sum = 0.0f;
  for (long long p = threadIdx.x; p < (rows + 15) / 16; p += 256) sum += parts[p * width + column];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) grad_att[column] = partial[0];
}
