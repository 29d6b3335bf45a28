// models/kernels/segment.cu - neighbour sums on the device, bound by memory bandwidth.
//
// Work split  a group of lanes (a power of two up to a warp) per destination row, grid stride over rows; lanes stride
//             over 16-byte words of the row, so 128 f16 columns take half a warp and a warp works on two rows.
// Access      forward: kInFlight neighbours' words are requested before the first is added; sums stay in registers.
//             backward: the row's gradient is read once and added to each neighbour by 16-byte atomics (sm_90), or 4.
// Limit       edges * width values read (backward: added to), num_dst * width written; the bench prints the share of
//             the measured bandwidth.
// Sync        none in the forward pass, whose terms are added in the row's order, nor in the backward pass over the
//             edges by source; atomics in the other backward pass, which segment_bins.cu replaces for large hops.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/segment.h"
#include "models/kernels/segment_bins.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kInFlight = 4;

__device__ float scale_of(Reduce reduce, LocalId num_entries) {
  return reduce == Reduce::kSum || num_entries == 0 ? 1.0f : 1.0f / static_cast<float>(num_entries);
}

__device__ float weight_at(const float* weight_of_source, LocalId source) {
  return weight_of_source == nullptr ? 1.0f : __ldg(weight_of_source + source);
}

template <class P, bool kHasWeights>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_reduce_kernel(HopEdges hop, Reduction reduction, const typename P::Word* __restrict__ x,
                          std::int64_t row_words, float* __restrict__ out, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t i = thread >> group.log_lanes; i < hop.num_dst; i += stride) {
    const LocalId first = __ldg(hop.indptr + i), last = __ldg(hop.indptr + i + 1);
    const float scale = scale_of(reduction.reduce, last - first);
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) {
      float sum[P::kCount] = {};
      for (LocalId e = first; e < last; e += kInFlight) {
        typename P::Word words[kInFlight];
        float weights[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) {
            const LocalId source = __ldg(hop.indices + e + k);
            words[k] = __ldg(x + std::int64_t{source} * row_words + w);
            if constexpr (kHasWeights) weights[k] = __ldg(reduction.weight_of_source + source);
          }
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          if (e + k < last) {
            float values[P::kCount];
            P::unpack(words[k], values);
#pragma unroll
            for (int c = 0; c < P::kCount; ++c)
              sum[c] = kHasWeights ? fmaf(weights[k], values[c], sum[c]) : sum[c] + values[c];
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

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_backward_kernel(HopEdges hop, Reduction reduction, const Word* __restrict__ grad_out,
                            std::int64_t row_words, Word* __restrict__ grad_x, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t i = thread >> group.log_lanes; i < hop.num_dst; i += stride) {
    const LocalId first = __ldg(hop.indptr + i), last = __ldg(hop.indptr + i + 1);
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) {
      const Word term = scaled(__ldg(grad_out + i * row_words + w), scale_of(reduction.reduce, last - first));
      for (LocalId e = first; e < last; ++e) {
        const LocalId j = __ldg(hop.indices + e);
        add_atomically(grad_x + std::int64_t{j} * row_words + w,
                       scaled(term, weight_at(reduction.weight_of_source, j)));
      }
    }
  }
}

/// The same over the edges by source: a group per source, terms in the order of their destinations.
/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_backward_by_source_kernel(HopEdges hop, SourceEdges by_source, Reduction reduction,
                                      const Word* __restrict__ grad_out, std::int64_t row_words,
                                      Word* __restrict__ grad_x, RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t j = thread >> group.log_lanes; j < hop.num_src; j += stride) {
    const LocalId first = __ldg(by_source.indptr + j), last = __ldg(by_source.indptr + j + 1);
    for (std::int64_t w = lane; w < row_words; w += group.lanes()) {
      Word sum{};
      for (LocalId t = first; t < last; ++t) {
        const std::int64_t i = __ldg(by_source.destination + t);
        const float scale = scale_of(reduction.reduce, __ldg(hop.indptr + i + 1) - __ldg(hop.indptr + i));
        sum = multiply_add(scale, __ldg(grad_out + i * row_words + w), sum);
      }
      grad_x[j * row_words + w] = scaled(sum, weight_at(reduction.weight_of_source, static_cast<LocalId>(j)));
    }
  }
}

/// A thread per (row, column): neighbouring threads read neighbouring columns.
template <class P>
__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_max_kernel(HopEdges hop, const typename P::Word* __restrict__ x, std::int64_t width,
                       float* __restrict__ out, LocalId* __restrict__ winner) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t p = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; p < hop.num_dst * width;
       p += stride) {
    const std::int64_t i = p / width, c = p % width;
    const LocalId first = __ldg(hop.indptr + i), last = __ldg(hop.indptr + i + 1);
    LocalId best_entry = -1;
    float best = 0;
    for (LocalId e = first; e < last; ++e) {
      float value;
      P::unpack(__ldg(x + std::int64_t{__ldg(hop.indices + e)} * width + c), &value);
      if (e > first && !(value > best)) continue;
      best = value;
      best_entry = e;
    }
    out[p] = best;
    winner[p] = best_entry;
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_max_backward_kernel(HopEdges hop, const LocalId* __restrict__ winner, const float* __restrict__ grad_out,
                                std::int64_t width, float* __restrict__ grad_x) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t p = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; p < hop.num_dst * width; p += stride)
    if (const LocalId e = winner[p]; e >= 0)
      atomicAdd(grad_x + std::int64_t{__ldg(hop.indices + e)} * width + p % width, grad_out[p]);
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    segment_max_backward_by_source_kernel(HopEdges hop, SourceEdges by_source, const LocalId* __restrict__ winner,
                                          const float* __restrict__ grad_out, std::int64_t width,
                                          float* __restrict__ grad_x) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t p = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; p < hop.num_src * width;
       p += stride) {
    const std::int64_t j = p / width, c = p % width;
    float sum = 0;
    for (LocalId t = __ldg(by_source.indptr + j); t < __ldg(by_source.indptr + j + 1); ++t) {
      const std::int64_t at = std::int64_t{__ldg(by_source.destination + t)} * width + c;
      if (__ldg(winner + at) == __ldg(by_source.edge + t)) sum += __ldg(grad_out + at);
    }
    grad_x[p] = sum;
  }
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class P>
void launch_forward(const HopEdges& hop, const Reduction& reduction, const void* x, std::int64_t width, float* out,
                    cudaStream_t stream) {
  const RowGroup group = RowGroup::make(width / P::kCount);
  const auto kernel =
      reduction.weight_of_source == nullptr ? &segment_reduce_kernel<P, false> : &segment_reduce_kernel<P, true>;
  kernel<<<blocks_for(hop.num_dst << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, reduction, static_cast<const typename P::Word*>(x), width / P::kCount, out, group);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_backward(const HopEdges& hop, const Reduction& reduction, const float* grad_out, std::int64_t width,
                     float* grad_x, const BackwardStream& on) {
  const std::int64_t row_words = width * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(row_words);
  const auto* from = as_words<Word>(grad_out);
  auto* to = as_words<Word>(grad_x);
  if (on.is_ordered())
    segment_backward_by_source_kernel<Word>
        <<<blocks_for(hop.num_src << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(hop, on.by_source, reduction,
                                                                                         from, row_words, to, group);
  else
    segment_backward_kernel<Word><<<blocks_for(hop.num_dst << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(
        hop, reduction, from, row_words, to, group);
  cuda_check(cudaGetLastError());
}

void clear(float* values, std::int64_t count, cudaStream_t stream) {
  cuda_check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), stream));
}

}  // namespace

template <class T>
void segment_reduce(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width, float* out,
                    cudaStream_t stream) {
  if (hop.num_dst == 0 || width == 0) return;
  constexpr int kCount = 16 / sizeof(T);
  if (is_packable<T, kCount>(x, width) && is_packable<float, 4>(out, width))
    return launch_forward<Pack<T, kCount>>(hop, reduction, x, width, out, stream);
  if (is_packable<T, 4>(x, width) && is_packable<float, 4>(out, width))  // such as 100 columns of f16
    return launch_forward<Pack<T, 4>>(hop, reduction, x, width, out, stream);
  launch_forward<Pack<T, 1>>(hop, reduction, x, width, out, stream);
}

template void segment_reduce<float>(const HopEdges&, const Reduction&, const float*, std::int64_t, float*,
                                    cudaStream_t);
template void segment_reduce<Half>(const HopEdges&, const Reduction&, const Half*, std::int64_t, float*, cudaStream_t);

void segment_reduce_backward(const HopEdges& hop, const Reduction& reduction, const float* grad_out, std::int64_t width,
                             float* grad_x, const BackwardStream& stream) {
  if (hop.num_src == 0 || width == 0) return;
  if (hop.num_dst > 0 && stream.has_bins() && reduction.weight_of_source == nullptr)
    return segment_reduce_backward_binned(hop, reduction.reduce, grad_out, width, grad_x, stream);
  if (hop.num_dst == 0 || !stream.is_ordered()) clear(grad_x, hop.num_src * width, stream);
  if (hop.num_dst == 0) return;
  if (is_packable<float, 4>(grad_out, width) && is_packable<float, 4>(grad_x, width))
    return launch_backward<float4>(hop, reduction, grad_out, width, grad_x, stream);
  launch_backward<float>(hop, reduction, grad_out, width, grad_x, stream);
}

template <class T>
void segment_max(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner,
                 cudaStream_t stream) {
  if (hop.num_dst == 0 || width == 0) return;
  using P = Pack<T, 1>;
  segment_max_kernel<P><<<blocks_for(hop.num_dst * width), kThreadsPerBlock, 0, stream>>>(
      hop, reinterpret_cast<const typename P::Word*>(x), width, out, winner);
  cuda_check(cudaGetLastError());
}

template void segment_max<float>(const HopEdges&, const float*, std::int64_t, float*, LocalId*, cudaStream_t);
template void segment_max<Half>(const HopEdges&, const Half*, std::int64_t, float*, LocalId*, cudaStream_t);

void segment_max_backward(const HopEdges& hop, const LocalId* winner, const float* grad_out, std::int64_t width,
                          float* grad_x, const BackwardStream& stream) {
  if (hop.num_src == 0 || width == 0) return;
  if (hop.num_dst == 0 || !stream.is_ordered()) clear(grad_x, hop.num_src * width, stream);
  if (hop.num_dst == 0) return;
  if (stream.is_ordered())
    segment_max_backward_by_source_kernel<<<blocks_for(hop.num_src * width), kThreadsPerBlock, 0, stream.stream>>>(
        hop, stream.by_source, winner, grad_out, width, grad_x);
  else
    segment_max_backward_kernel<<<blocks_for(hop.num_dst * width), kThreadsPerBlock, 0, stream.stream>>>(
        hop, winner, grad_out, width, grad_x);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
