// workbench/cases/kernels/gather_mean.cu - start kernel: the engine's, models/kernels/segment.cu. A group of lanes a
// row, four neighbours in flight.
// launch gather_mean block=256 grid=min(65536, ceil(rows*min(32, max(1, ceil(width, 4))), 256))
__device__ void unpack(float word, float* values) { values[0] = word; }
__device__ void unpack(float4 word, float* values) {
  values[0] = word.x, values[1] = word.y, values[2] = word.z, values[3] = word.w;
}
__device__ void store(float* target, const float (&sum)[1], float scale) { *target = sum[0] * scale; }
__device__ void store(float* target, const float (&sum)[4], float scale) {
  *reinterpret_cast<float4*>(target) = make_float4(sum[0] * scale, sum[1] * scale, sum[2] * scale, sum[3] * scale);
}

template <class Word>
__device__ void reduce(const Word* __restrict__ x, const int* __restrict__ indptr, const int* __restrict__ indices,
                       float* __restrict__ out, long long rows, long long row_words) {
  constexpr int kCount = sizeof(Word) / sizeof(float), kInFlight = 4;
  int log_lanes = 0;
  while (log_lanes < 5 && (1ll << log_lanes) < row_words) ++log_lanes;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll >> log_lanes;
  const int lanes = 1 << log_lanes, lane = static_cast<int>(thread) & (lanes - 1);
  for (long long i = thread >> log_lanes; i < rows; i += stride) {
    const int first = __ldg(indptr + i), last = __ldg(indptr + i + 1);
    const float scale = last > first ? 1.0f / static_cast<float>(last - first) : 1.0f;
    for (long long w = lane; w < row_words; w += lanes) {
      float sum[kCount] = {};
      for (int e = first; e < last; e += kInFlight) {
        Word words[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) words[k] = __ldg(x + static_cast<long long>(__ldg(indices + e + k)) * row_words + w);
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) {
            float values[kCount];
            unpack(words[k], values);
#pragma unroll
            for (int c = 0; c < kCount; ++c) sum[c] += values[c];
          }
      }
      store(out + (i * row_words + w) * kCount, sum, scale);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    gather_mean(const float* __restrict__ x, const int* __restrict__ indptr, const int* __restrict__ indices,
                float* __restrict__ out, long long rows, long long sources, long long edges, long long width) {
  if (width % 4 == 0)
    reduce(reinterpret_cast<const float4*>(x), indptr, indices, out, rows, width / 4);
  else
    reduce(x, indptr, indices, out, rows, width);
}
