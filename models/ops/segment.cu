// models/ops/segment.cu - neighbour sums on the device, bound by memory bandwidth.
//
// Work split  a group of lanes (a power of two up to a warp) per destination row, grid stride over rows; lanes stride
//             over 16-byte words of the row, so 128 f16 columns take half a warp and a warp works on two rows.
// Access      forward: kInFlight neighbours' words are requested before the first is added; sums stay in registers.
//             backward: the row's gradient is read once and added to each neighbour by 16-byte atomics (sm_90), or 4-byte.
// Limit       edges * width values read (backward: added to), num_dst * width written; the bench prints the share of
//             the measured bandwidth.
// Sync        none in the forward pass, whose terms are added in the row's order; atomics in the backward pass.
#include "engine/cuda/cuda.h"
#include "models/ops/atomics.cuh"
#include "models/ops/launch.cuh"
#include "models/ops/segment.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 4;

__device__ float scale_of(Reduce reduce, LocalId num_entries) {
  return reduce == Reduce::kSum || num_entries == 0 ? 1.0f : 1.0f / static_cast<float>(num_entries);
}

template <class P>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_reduce_kernel(HopEdges hop, Reduce reduce, const typename P::Word* __restrict__ x, std::int64_t row_words,
                          float* __restrict__ out, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t i = thread >> group.log_lanes; i < hop.num_dst; i += stride) {
    const LocalId first = __ldg(hop.indptr + i), last = __ldg(hop.indptr + i + 1);
    const float scale = scale_of(reduce, last - first);
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) {
      float sum[P::kCount] = {};
      for (LocalId e = first; e < last; e += kInFlight) {
        typename P::Word words[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) words[k] = __ldg(x + std::int64_t{__ldg(hop.indices + e + k)} * row_words + w);
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) {
            float values[P::kCount];
            P::unpack(words[k], values);
#pragma unroll
            for (int c = 0; c < P::kCount; ++c) sum[c] += values[c];
          }
      }
      float* target = out + (i * row_words + w) * P::kCount;
      if constexpr (P::kCount % 4 == 0) {
#pragma unroll
        for (int c = 0; c < P::kCount; c += 4)
          *reinterpret_cast<float4*>(target + c) =
              make_float4(sum[c] * scale, sum[c + 1] * scale, sum[c + 2] * scale, sum[c + 3] * scale);
      } else {
        *target = sum[0] * scale;
      }
    }
  }
}

__device__ float scaled(float value, float scale) { return value * scale; }
__device__ float4 scaled(float4 v, float scale) {
  return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_backward_kernel(HopEdges hop, Reduce reduce, const Word* __restrict__ grad_out, std::int64_t row_words,
                            Word* __restrict__ grad_x, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t i = thread >> group.log_lanes; i < hop.num_dst; i += stride) {
    const LocalId first = __ldg(hop.indptr + i), last = __ldg(hop.indptr + i + 1);
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) {
      const Word term = scaled(__ldg(grad_out + i * row_words + w), scale_of(reduce, last - first));
      for (LocalId e = first; e < last; ++e)
        add_atomically(grad_x + std::int64_t{__ldg(hop.indices + e)} * row_words + w, term);
    }
  }
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class P>
void launch_forward(const HopEdges& hop, Reduce reduce, const void* x, std::int64_t width, float* out,
                    cudaStream_t stream) {
  const RowGroup group = RowGroup::make(width / P::kCount);
  segment_reduce_kernel<P><<<blocks_for(hop.num_dst << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, reduce, static_cast<const typename P::Word*>(x), width / P::kCount, out, group);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width, float* grad_x,
                     cudaStream_t stream) {
  const std::int64_t row_words = width * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(row_words);
  segment_backward_kernel<Word><<<blocks_for(hop.num_dst << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, reduce, reinterpret_cast<const Word*>(grad_out), row_words, reinterpret_cast<Word*>(grad_x), group);
  cuda_check(cudaGetLastError());
}

}  // namespace

template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out,
                    cudaStream_t stream) {
  if (hop.num_dst == 0 || width == 0) return;
  constexpr int kCount = 16 / sizeof(T);
  if (is_packable<T, kCount>(x, width) && is_packable<float, 4>(out, width))
    return launch_forward<Pack<T, kCount>>(hop, reduce, x, width, out, stream);
  if (is_packable<T, 4>(x, width) && is_packable<float, 4>(out, width))  // such as 100 columns of f16
    return launch_forward<Pack<T, 4>>(hop, reduce, x, width, out, stream);
  launch_forward<Pack<T, 1>>(hop, reduce, x, width, out, stream);
}

template void segment_reduce<float>(const HopEdges&, Reduce, const float*, std::int64_t, float*, cudaStream_t);
template void segment_reduce<Half>(const HopEdges&, Reduce, const Half*, std::int64_t, float*, cudaStream_t);

void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x, cudaStream_t stream) {
  if (hop.num_src == 0 || width == 0) return;
  cuda_check(cudaMemsetAsync(grad_x, 0, static_cast<std::size_t>(hop.num_src * width) * sizeof(float), stream));
  if (hop.num_dst == 0) return;
  if (is_packable<float, 4>(grad_out, width) && is_packable<float, 4>(grad_x, width))
    return launch_backward<float4>(hop, reduce, grad_out, width, grad_x, stream);
  launch_backward<float>(hop, reduce, grad_out, width, grad_x, stream);
}

}  // namespace salient
