// models/kernels/attention.cu - attention on the device.
//
// Work split  slots: a warp per (row, head), lanes over the row's slots. Rows of h: a group of lanes per (row, head), as
//             in segment.cu, lanes over 16-byte words of the head's channels.
// Access      slot_sum reads each neighbour's channels once; its backward pass reads them once more for the gradient of
//             the weights and adds to them by 16-byte atomics (sm_90). Slots are scalars, read through the L1 cache.
// Limit       (edges + num_dst) rows of h, in each direction.
// Sync        warp shuffles; atomics for whatever is summed over a source's edges, or, where the edges by source are given,
//             a second kernel with a group per source.
#include <algorithm>
#include <initializer_list>

#include "core/cuda/cuda.h"
#include "models/kernels/atomics.cuh"
#include "models/kernels/attention.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kWarp = 32;

/// One row and head, and the lane of its warp or group that this thread is.
struct Place {
  std::int64_t row;
  std::int64_t head;
  std::int64_t first;  ///< slots [first, last]; `last` is the row's own
  std::int64_t last;
  int lane;
};

__device__ Place place_of(const HopEdges& hop, std::int64_t heads, std::int64_t pair, int lane) {
  const std::int64_t row = pair / heads;
  return {row, pair % heads, __ldg(hop.indptr + row) + row, __ldg(hop.indptr + row + 1) + row, lane};
}

/// The source that a slot stands for; -1 for an empty slot.
__device__ std::int64_t source_of(const HopEdges& hop, const Place& at, std::int64_t slot) {
  if (slot == at.last) return at.row;
  const std::int64_t source = __ldg(hop.indices + (slot - at.row));
  return source == at.row ? -1 : source;
}

__device__ float warp_sum(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, step);
  return value;
}

__device__ float warp_max(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
  return value;
}

/// The lanes of this thread's group, as a mask of its warp.
__device__ unsigned mask_of(RowGroup group) {
  const unsigned base = threadIdx.x % kWarp & ~(group.lanes() - 1u);
  return group.lanes() == kWarp ? 0xFFFFFFFF : ((1u << group.lanes()) - 1) << base;
}

/// f(place) for every (row, head), a group of 2^log_lanes lanes each. A warp's groups may run different trip counts.
template <class F>
__device__ void for_each_pair(const HopEdges& hop, std::int64_t heads, int log_lanes, const F& f) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> log_lanes;
  const int lane = static_cast<int>(thread) & ((1 << log_lanes) - 1);
  for (std::int64_t p = thread >> log_lanes; p < hop.num_dst * heads; p += stride) f(place_of(hop, heads, p, lane));
}

__global__ void gat_logits_kernel(HopEdges hop, std::int64_t heads, float slope, const float* __restrict__ score_src,
                                  const float* __restrict__ score_dst, float* __restrict__ logits) {
  for_each_pair(hop, heads, 5, [&](const Place& at) {
    const float own = score_dst[at.row * heads + at.head];
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp) {
      const std::int64_t j = source_of(hop, at, s);
      const float raw = j < 0 ? 0 : score_src[j * heads + at.head] + own;
      logits[s * heads + at.head] = j < 0 ? -INFINITY : raw > 0 ? raw : slope * raw;
    }
  });
}

template <bool kAtomics>
__global__ void gat_logits_backward_kernel(HopEdges hop, std::int64_t heads, float slope,
                                           const float* __restrict__ score_src, const float* __restrict__ score_dst,
                                           const float* __restrict__ grad_logits, float* __restrict__ grad_src,
                                           float* __restrict__ grad_dst) {
  for_each_pair(hop, heads, 5, [&](const Place& at) {
    const float own = score_dst[at.row * heads + at.head];
    float sum = 0;
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp) {
      const std::int64_t j = source_of(hop, at, s);
      if (j < 0) continue;
      const float grad = grad_logits[s * heads + at.head] * (score_src[j * heads + at.head] + own > 0 ? 1 : slope);
      if constexpr (kAtomics) atomicAdd(grad_src + j * heads + at.head, grad);
      sum += grad;
    }
    sum = warp_sum(sum);
    if (at.lane == 0) grad_dst[at.row * heads + at.head] = sum;
  });
}

__global__ void slot_softmax_kernel(HopEdges hop, std::int64_t heads, float* __restrict__ slots) {
  for_each_pair(hop, heads, 5, [&](const Place& at) {
    float largest = -INFINITY, total = 0;
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp)
      largest = fmaxf(largest, slots[s * heads + at.head]);
    largest = warp_max(largest);
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp)
      total += slots[s * heads + at.head] = expf(slots[s * heads + at.head] - largest);
    total = warp_sum(total);
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp) slots[s * heads + at.head] /= total;
  });
}

__global__ void slot_softmax_backward_kernel(HopEdges hop, std::int64_t heads, const float* __restrict__ weights,
                                             float* __restrict__ grad) {
  for_each_pair(hop, heads, 5, [&](const Place& at) {
    float mean = 0;
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp)
      mean += weights[s * heads + at.head] * grad[s * heads + at.head];
    mean = warp_sum(mean);
    for (std::int64_t s = at.first + at.lane; s <= at.last; s += kWarp)
      grad[s * heads + at.head] = weights[s * heads + at.head] * (grad[s * heads + at.head] - mean);
  });
}

__device__ float multiply_add(float factor, float x, float sum) { return fmaf(factor, x, sum); }
__device__ float4 multiply_add(float factor, float4 x, float4 sum) {
  return make_float4(fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
                     fmaf(factor, x.w, sum.w));
}
__device__ float product_sum(float x, float y) { return x * y; }
__device__ float product_sum(float4 x, float4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    slot_sum_kernel(HopEdges hop, std::int64_t heads, std::int64_t head_words, const float* __restrict__ weights,
                    const Word* __restrict__ h, Word* __restrict__ out, RowGroup group) {
  for_each_pair(hop, heads, group.log_lanes, [&](const Place& at) {
    for (std::int64_t w = at.lane; w < head_words; w += group.lanes()) {
      Word sum{};
      for (std::int64_t s = at.first; s <= at.last; ++s) {
        const std::int64_t j = source_of(hop, at, s);
        if (j < 0) continue;
        sum =
            multiply_add(__ldg(weights + s * heads + at.head), __ldg(h + (j * heads + at.head) * head_words + w), sum);
      }
      out[(at.row * heads + at.head) * head_words + w] = sum;
    }
  });
}

template <class Word, bool kAtomics>
__global__ void __launch_bounds__(kThreadsPerBlock)
    slot_sum_backward_kernel(HopEdges hop, std::int64_t heads, std::int64_t head_words,
                             const float* __restrict__ weights, const Word* __restrict__ h,
                             const Word* __restrict__ grad_out, float* __restrict__ grad_weights,
                             Word* __restrict__ grad_h, RowGroup group) {
  const unsigned group_mask = mask_of(group);
  for_each_pair(hop, heads, group.log_lanes, [&](const Place& at) {
    const Word* grad = grad_out + (at.row * heads + at.head) * head_words;
    for (std::int64_t s = at.first; s <= at.last; ++s) {
      const std::int64_t j = source_of(hop, at, s);
      float dot = 0;
      if (j >= 0) {
        const float weight = __ldg(weights + s * heads + at.head);
        for (std::int64_t w = at.lane; w < head_words; w += group.lanes()) {
          const Word g = __ldg(grad + w);
          dot += product_sum(g, __ldg(h + (j * heads + at.head) * head_words + w));
          if constexpr (kAtomics)
            add_atomically(grad_h + (j * heads + at.head) * head_words + w, multiply_add(weight, g, Word{}));
        }
      }
      for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (at.lane == 0) grad_weights[s * heads + at.head] = dot;
    }
  });
}

__device__ float leaky(float x, float slope) { return x > 0 ? x : slope * x; }
__device__ float4 leaky(float4 v, float slope) {
  return make_float4(leaky(v.x, slope), leaky(v.y, slope), leaky(v.z, slope), leaky(v.w, slope));
}
__device__ float slope_at(float x, float slope) { return x > 0 ? 1 : slope; }
__device__ float4 slope_at(float4 v, float slope) {
  return make_float4(slope_at(v.x, slope), slope_at(v.y, slope), slope_at(v.z, slope), slope_at(v.w, slope));
}
__device__ float sum_of(float x, float y) { return x + y; }
__device__ float4 sum_of(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
__device__ float product(float x, float y) { return x * y; }
__device__ float4 product(float4 x, float4 y) { return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w); }

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_logits_kernel(HopEdges hop, std::int64_t heads, std::int64_t head_words, float slope,
                        const Word* __restrict__ z_src, const Word* __restrict__ z_dst, const Word* __restrict__ att,
                        float* __restrict__ logits, RowGroup group) {
  const unsigned group_mask = mask_of(group);
  for_each_pair(hop, heads, group.log_lanes, [&](const Place& at) {
    const Word* own = z_dst + (at.row * heads + at.head) * head_words;
    for (std::int64_t s = at.first; s <= at.last; ++s) {
      const std::int64_t j = source_of(hop, at, s);
      float dot = j < 0 ? -INFINITY : 0;
      for (std::int64_t w = at.lane; j >= 0 && w < head_words; w += group.lanes()) {
        const Word raw = sum_of(__ldg(z_src + (j * heads + at.head) * head_words + w), __ldg(own + w));
        dot += product_sum(__ldg(att + at.head * head_words + w), leaky(raw, slope));
      }
      for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (at.lane == 0) logits[s * heads + at.head] = dot;
    }
  });
}

/// A group per (part of kRowsPerPart rows, head).
template <class Word, bool kAtomics>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_logits_backward_kernel(HopEdges hop, std::int64_t heads, std::int64_t head_words, float slope,
                                 const Word* __restrict__ z_src, const Word* __restrict__ z_dst,
                                 const Word* __restrict__ att, const float* __restrict__ grad_logits,
                                 Word* __restrict__ grad_src, Word* __restrict__ grad_dst, Word* __restrict__ grad_att,
                                 RowGroup group) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  const std::int64_t parts = (hop.num_dst + kRowsPerPart - 1) / kRowsPerPart;
  for (std::int64_t p = thread >> group.log_lanes; p < parts * heads; p += stride) {
    const std::int64_t head = p % heads, first_row = p / heads * kRowsPerPart;
    const std::int64_t end_row = first_row + kRowsPerPart < hop.num_dst ? first_row + kRowsPerPart : hop.num_dst;
    for (std::int64_t w = lane; w < head_words; w += group.lanes()) {
      const Word factor = __ldg(att + head * head_words + w);
      Word part_sum{};
      for (std::int64_t row = first_row; row < end_row; ++row) {
        const Place at = place_of(hop, heads, row * heads + head, lane);
        const Word own = __ldg(z_dst + (row * heads + head) * head_words + w);
        Word row_sum{};
        for (std::int64_t s = at.first; s <= at.last; ++s) {
          const std::int64_t j = source_of(hop, at, s);
          if (j < 0) continue;
          const float grad = __ldg(grad_logits + s * heads + head);
          const Word raw = sum_of(__ldg(z_src + (j * heads + head) * head_words + w), own);
          const Word term = multiply_add(grad, product(factor, slope_at(raw, slope)), Word{});
          row_sum = sum_of(row_sum, term);
          part_sum = multiply_add(grad, leaky(raw, slope), part_sum);
          if constexpr (kAtomics) add_atomically(grad_src + (j * heads + head) * head_words + w, term);
        }
        grad_dst[(row * heads + head) * head_words + w] = row_sum;
      }
      grad_att[p * head_words + w] = part_sum;
    }
  }
}

/// f(destination, slot) for every slot of source j, in the host's order.
template <class F>
__device__ void for_each_slot_of_source(const HopEdges& hop, const SourceEdges& by_source, std::int64_t j, const F& f) {
  for (LocalId t = __ldg(by_source.indptr + j); t < __ldg(by_source.indptr + j + 1); ++t) {
    const std::int64_t i = __ldg(by_source.destination + t);
    if (i != j) f(i, __ldg(by_source.edge + t) + i);
  }
  if (j < hop.num_dst) f(j, __ldg(hop.indptr + j + 1) + j);
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    gat_grad_src_kernel(HopEdges hop, SourceEdges by_source, std::int64_t heads, float slope,
                        const float* __restrict__ score_src, const float* __restrict__ score_dst,
                        const float* __restrict__ grad_logits, float* __restrict__ grad_src) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t p = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; p < hop.num_src * heads;
       p += stride) {
    const std::int64_t head = p % heads;
    float sum = 0;
    for_each_slot_of_source(hop, by_source, p / heads, [&](std::int64_t i, std::int64_t slot) {
      const float raw = score_src[p] + score_dst[i * heads + head];
      sum += grad_logits[slot * heads + head] * (raw > 0 ? 1 : slope);
    });
    grad_src[p] = sum;
  }
}

/// term(i, slot, head, word) summed over the slots of each (source, head): a group of lanes each, lanes over words.
template <class Word, class Term>
__device__ void sum_over_slots_of_sources(const HopEdges& hop, const SourceEdges& by_source, std::int64_t heads,
                                          std::int64_t head_words, RowGroup group, Word* out, const Term& term) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  for (std::int64_t p = thread >> group.log_lanes; p < hop.num_src * heads; p += stride)
    for (std::int64_t w = lane; w < head_words; w += group.lanes()) {
      Word sum{};
      for_each_slot_of_source(hop, by_source, p / heads, [&](std::int64_t i, std::int64_t slot) {
        sum = term(sum, p, i, slot * heads + p % heads, w);
      });
      out[p * head_words + w] = sum;
    }
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    slot_sum_grad_h_kernel(HopEdges hop, SourceEdges by_source, std::int64_t heads, std::int64_t head_words,
                           const float* __restrict__ weights, const Word* __restrict__ grad_out,
                           Word* __restrict__ grad_h, RowGroup group) {
  sum_over_slots_of_sources(hop, by_source, heads, head_words, group, grad_h,
                            [&](const Word& sum, std::int64_t p, std::int64_t i, std::int64_t slot, std::int64_t w) {
                              return multiply_add(__ldg(weights + slot),
                                                  __ldg(grad_out + (i * heads + p % heads) * head_words + w), sum);
                            });
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_grad_src_kernel(HopEdges hop, SourceEdges by_source, std::int64_t heads, std::int64_t head_words, float slope,
                          const Word* __restrict__ z_src, const Word* __restrict__ z_dst, const Word* __restrict__ att,
                          const float* __restrict__ grad_logits, Word* __restrict__ grad_src, RowGroup group) {
  sum_over_slots_of_sources(hop, by_source, heads, head_words, group, grad_src,
                            [&](const Word& sum, std::int64_t p, std::int64_t i, std::int64_t slot, std::int64_t w) {
                              const Word raw = sum_of(__ldg(z_src + p * head_words + w),
                                                      __ldg(z_dst + (i * heads + p % heads) * head_words + w));
                              const Word factor =
                                  product(__ldg(att + p % heads * head_words + w), slope_at(raw, slope));
                              return multiply_add(__ldg(grad_logits + slot), factor, sum);
                            });
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

unsigned warps_for(const HopEdges& hop, std::int64_t heads) { return blocks_for(hop.num_dst * heads * kWarp); }

void clear(float* values, std::int64_t count, cudaStream_t stream) {
  cuda_check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), stream));
}

template <class Word>
void launch_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out,
                cudaStream_t stream) {
  const std::int64_t head_words = shape.channels * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(head_words);
  slot_sum_kernel<Word><<<blocks_for(hop.num_dst * shape.heads << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, shape.heads, head_words, weights, reinterpret_cast<const Word*>(h), reinterpret_cast<Word*>(out), group);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                         float* grad_weights, float* grad_h, const BackwardStream& on) {
  const std::int64_t head_words = shape.channels * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(head_words);
  auto* const kernel = on.is_ordered() ? &slot_sum_backward_kernel<Word, false> : &slot_sum_backward_kernel<Word, true>;
  const auto* grad = reinterpret_cast<const Word*>(grad_out);
  auto* target = reinterpret_cast<Word*>(grad_h);
  kernel<<<blocks_for(hop.num_dst * shape.heads << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(
      hop, shape.heads, head_words, weights, reinterpret_cast<const Word*>(h), grad, grad_weights, target, group);
  cuda_check(cudaGetLastError());
  if (!on.is_ordered()) return;
  slot_sum_grad_h_kernel<Word>
      <<<blocks_for(hop.num_src * shape.heads << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(
          hop, on.by_source, shape.heads, head_words, weights, grad, target, group);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_gatv2_logits(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                         const float* att, float* logits, cudaStream_t stream) {
  const std::int64_t head_words = shape.channels * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(head_words);
  const auto words = [](const float* values) { return reinterpret_cast<const Word*>(values); };
  gatv2_logits_kernel<Word><<<blocks_for(hop.num_dst * shape.heads << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, shape.heads, head_words, slope, words(z_src), words(z_dst), words(att), logits, group);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_gatv2_backward(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                           const float* att, const float* grad_logits, float* grad_src, float* grad_dst,
                           float* grad_att, const BackwardStream& on) {
  const std::int64_t head_words = shape.channels * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
  const RowGroup group = RowGroup::make(head_words);
  const auto words = [](const float* values) { return reinterpret_cast<const Word*>(values); };
  const auto out = [](float* values) { return reinterpret_cast<Word*>(values); };
  const std::int64_t groups = num_parts(hop.num_dst) * shape.heads;
  auto* const kernel =
      on.is_ordered() ? &gatv2_logits_backward_kernel<Word, false> : &gatv2_logits_backward_kernel<Word, true>;
  kernel<<<blocks_for(groups << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(
      hop, shape.heads, head_words, slope, words(z_src), words(z_dst), words(att), grad_logits, out(grad_src),
      out(grad_dst), out(grad_att), group);
  cuda_check(cudaGetLastError());
  if (!on.is_ordered()) return;
  gatv2_grad_src_kernel<Word>
      <<<blocks_for(hop.num_src * shape.heads << group.log_lanes), kThreadsPerBlock, 0, on.stream>>>(
          hop, on.by_source, shape.heads, head_words, slope, words(z_src), words(z_dst), words(att), grad_logits,
          out(grad_src), group);
  cuda_check(cudaGetLastError());
}

bool are_wide(std::int64_t channels, std::initializer_list<const float*> arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [&](const float* a) { return is_packable<float, 4>(a, channels); });
}

}  // namespace

void gat_logits(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src, const float* score_dst,
                float* logits, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  gat_logits_kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream>>>(hop, heads, slope, score_src, score_dst,
                                                                            logits);
  cuda_check(cudaGetLastError());
}

void gat_logits_backward(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src,
                         const float* score_dst, const float* grad_logits, float* grad_src, float* grad_dst,
                         const BackwardStream& stream) {
  if (hop.num_src > 0) clear(grad_src, hop.num_src * heads, stream);
  if (hop.num_dst == 0) return;
  auto* const kernel = stream.is_ordered() ? &gat_logits_backward_kernel<false> : &gat_logits_backward_kernel<true>;
  kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream.stream>>>(hop, heads, slope, score_src, score_dst,
                                                                        grad_logits, grad_src, grad_dst);
  cuda_check(cudaGetLastError());
  if (!stream.is_ordered()) return;
  gat_grad_src_kernel<<<blocks_for(hop.num_src * heads), kThreadsPerBlock, 0, stream.stream>>>(
      hop, stream.by_source, heads, slope, score_src, score_dst, grad_logits, grad_src);
  cuda_check(cudaGetLastError());
}

void gatv2_logits(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                  const float* att, float* logits, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  are_wide(shape.channels, {z_src, z_dst, att})
      ? launch_gatv2_logits<float4>(hop, shape, slope, z_src, z_dst, att, logits, stream)
      : launch_gatv2_logits<float>(hop, shape, slope, z_src, z_dst, att, logits, stream);
}

void gatv2_logits_backward(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                           const float* att, const float* grad_logits, float* grad_src, float* grad_dst,
                           float* grad_att, const BackwardStream& stream) {
  if (hop.num_src > 0) clear(grad_src, hop.num_src * shape.width(), stream);
  if (hop.num_dst == 0) return;
  are_wide(shape.channels, {z_src, z_dst, att, grad_src, grad_dst, grad_att})
      ? launch_gatv2_backward<float4>(hop, shape, slope, z_src, z_dst, att, grad_logits, grad_src, grad_dst, grad_att,
                                      stream)
      : launch_gatv2_backward<float>(hop, shape, slope, z_src, z_dst, att, grad_logits, grad_src, grad_dst, grad_att,
                                     stream);
}

void slot_softmax(const HopEdges& hop, std::int64_t heads, float* slots, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  slot_softmax_kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream>>>(hop, heads, slots);
  cuda_check(cudaGetLastError());
}

void slot_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad,
                           cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  slot_softmax_backward_kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, stream>>>(hop, heads, weights, grad);
  cuda_check(cudaGetLastError());
}

void slot_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  const bool is_wide = is_packable<float, 4>(h, shape.channels) && is_packable<float, 4>(out, shape.channels);
  is_wide ? launch_sum<float4>(hop, shape, weights, h, out, stream)
          : launch_sum<float>(hop, shape, weights, h, out, stream);
}

void slot_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                       float* grad_weights, float* grad_h, const BackwardStream& stream) {
  if (hop.num_src > 0) clear(grad_h, hop.num_src * shape.width(), stream);
  if (hop.num_dst == 0) return;
  const bool is_wide = is_packable<float, 4>(h, shape.channels) && is_packable<float, 4>(grad_out, shape.channels) &&
                       is_packable<float, 4>(grad_h, shape.channels);
  is_wide ? launch_sum_backward<float4>(hop, shape, weights, h, grad_out, grad_weights, grad_h, stream)
          : launch_sum_backward<float>(hop, shape, weights, h, grad_out, grad_weights, grad_h, stream);
}

}  // namespace salient
