// workbench/cases/kernels/gat_aggregate.cu - start kernel: the engine's, models/kernels/attention_sum.cu. A group of
// lanes per (row, head).
// launch aggregate block=256 grid=min(65536, ceil(rows*heads*min(32, max(1, ceil(channels, 4))), 256))
__device__ float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
}

template <class Word>
__device__ void add_up(const float* __restrict__ weights, const Word* __restrict__ h, const int* __restrict__ indptr,
                       const int* __restrict__ indices, Word* __restrict__ out, long long rows, long long heads,
                       long long head_words) {
  int log_lanes = 0;
  while (log_lanes < 5 && (1ll << log_lanes) < head_words) ++log_lanes;
  const long long thread = blockIdx.x * 256ll + threadIdx.x, stride = gridDim.x * 256ll >> log_lanes;
  const int lanes = 1 << log_lanes, lane = static_cast<int>(thread) & (lanes - 1);
  for (long long p = thread >> log_lanes; p < rows * heads; p += stride) {
    const long long row = p / heads, head = p % heads;
    const long long first = __ldg(indptr + row) + row, last = __ldg(indptr + row + 1) + row;
    for (long long w = lane; w < head_words; w += lanes) {
      Word sum{};
      for (long long e = first; e <= last; ++e) {
        const long long j = e == last ? row : __ldg(indices + (e - row));
        if (e < last && j == row) continue;
        sum = multiply_add(__ldg(weights + e * heads + head), __ldg(h + (j * heads + head) * head_words + w), sum);
      }
      out[p * head_words + w] = sum;
    }
  }
}

extern "C" __global__ void __launch_bounds__(256)
    aggregate(const float* __restrict__ weights, const float* __restrict__ h, const int* __restrict__ indptr,
              const int* __restrict__ indices, float* __restrict__ out, long long rows, long long others,
              long long edges, long long heads, long long channels) {
  if (channels % 4 == 0)
    add_up(weights, reinterpret_cast<const float4*>(h), indptr, indices, reinterpret_cast<float4*>(out), rows, heads,
           channels / 4);
  else
    add_up(weights, h, indptr, indices, out, rows, heads, channels);
}
