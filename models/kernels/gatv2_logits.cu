// models/kernels/gatv2_logits.cu - GATv2's logits on the device.
//
// Work split  a group of lanes per (row, head), lanes over 16-byte words of the head's channels; backward: a group per
//             (part of kRowsPerPart rows, head), so that att's gradient has a fixed order.
// Access      each neighbour's channels are read once in each direction; backward adds to their gradients by 16-byte
//             atomics (sm_90). Logits are scalars, read through the L1 cache.
//             Where the gradient takes bins, the same pass also fills the bins and stores the signs.
// Limit       (entries + num_dst) rows of z_src, in each direction.
// Sync        shuffles within a group; atomics for the gradient of z_src, or, where the edges by source are given, a
//             second kernel with a group per (source, head).
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/gatv2_logits.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__device__ float leaky(float x, float slope) { return x > 0 ? x : slope * x; }
__device__ float4 leaky(float4 v, float slope) {
  return make_float4(leaky(v.x, slope), leaky(v.y, slope), leaky(v.z, slope), leaky(v.w, slope));
}
__device__ float slope_at(float x, float slope) { return x > 0 ? 1 : slope; }
__device__ float4 slope_at(float4 v, float slope) {
  return make_float4(slope_at(v.x, slope), slope_at(v.y, slope), slope_at(v.z, slope), slope_at(v.w, slope));
}

__device__ std::uint8_t signs_of(float4 v) { return (v.x > 0) | (v.y > 0) << 1 | (v.z > 0) << 2 | (v.w > 0) << 3; }

/// Places the edges of a row in bins, an edge a lane.
__device__ void place_row(const HopEdges& hop, const AttentionBins& bins, const EdgeGroup& at, int lanes) {
  for (std::int64_t e = at.first + at.lane; e < at.last; e += lanes)
    if (const std::int64_t j = source_of(hop, at, e); j >= 0) place_edge(bins, j, at.row, e);
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word, bool kKeeps>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_logits_kernel(HopEdges hop, HeadWords shape, float slope, const Word* __restrict__ z_src,
                        const Word* __restrict__ z_dst, const Word* __restrict__ att, float* __restrict__ logits,
                        AttentionBins bins, std::uint8_t* __restrict__ signs) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  const RowGroup group = shape.group;
  const unsigned group_mask = mask_of(group);
  for_each_edge_group(hop, heads, group.log_lanes, [&](const EdgeGroup& at) {
    if constexpr (kKeeps)
      if (at.head == 0) place_row(hop, bins, at, group.lanes());
    const Word* own = z_dst + (at.row * heads + at.head) * head_words;
    for (std::int64_t e = at.first; e <= at.last; ++e) {
      const std::int64_t j = source_of(hop, at, e);
      float dot = j < 0 ? -INFINITY : 0;
      for (std::int64_t w = at.lane; j >= 0 && w < head_words; w += group.lanes()) {
        const Word raw = sum_of(__ldg(z_src + (j * heads + at.head) * head_words + w), __ldg(own + w));
        dot += product_sum(__ldg(att + at.head * head_words + w), leaky(raw, slope));
        if constexpr (kKeeps) signs[(e * heads + at.head) * head_words + w] = signs_of(raw);
      }
      for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (at.lane == 0) logits[e * heads + at.head] = dot;
    }
  });
}

/// A group per (part of kRowsPerPart rows, head).
/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word, bool kAtomics>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_logits_backward_kernel(HopEdges hop, HeadWords shape, float slope, const Word* __restrict__ z_src,
                                 const Word* __restrict__ z_dst, const Word* __restrict__ att,
                                 const float* __restrict__ grad_logits, Word* __restrict__ grad_src,
                                 Word* __restrict__ grad_dst, Word* __restrict__ grad_att) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  const RowGroup group = shape.group;
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
        const EdgeGroup at = edge_group_of(hop, heads, row * heads + head, lane);
        const Word own = __ldg(z_dst + (row * heads + head) * head_words + w);
        Word row_sum{};
        for (std::int64_t e = at.first; e <= at.last; ++e) {
          const std::int64_t j = source_of(hop, at, e);
          if (j < 0) continue;
          const float grad = __ldg(grad_logits + e * heads + head);
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

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gatv2_grad_src_kernel(HopEdges hop, SourceEdges by_source, HeadWords shape, float slope,
                          const Word* __restrict__ z_src, const Word* __restrict__ z_dst, const Word* __restrict__ att,
                          const float* __restrict__ grad_logits, Word* __restrict__ grad_src) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  sum_over_edges_of_sources(hop, by_source, shape, grad_src,
                            [&](const Word& sum, std::int64_t p, std::int64_t i, std::int64_t edge, std::int64_t w) {
                              const Word raw = sum_of(__ldg(z_src + p * head_words + w),
                                                      __ldg(z_dst + (i * heads + p % heads) * head_words + w));
                              const Word factor =
                                  product(__ldg(att + p % heads * head_words + w), slope_at(raw, slope));
                              return multiply_add(__ldg(grad_logits + edge), factor, sum);
                            });
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class Word, bool kKeeps>
void launch(const HopEdges& hop, const Gatv2Inputs& in, float* logits, const LogitsStream& on) {
  const HeadWords shape = HeadWords::make<Word>(in.shape);
  gatv2_logits_kernel<Word, kKeeps><<<shape.blocks_for_rows(hop.num_dst), kThreadsPerBlock, 0, on.stream>>>(
      hop, shape, in.slope, as_words<Word>(in.z_src), as_words<Word>(in.z_dst), as_words<Word>(in.att), logits, on.bins,
      on.signs);
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_backward(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits, const Gatv2Gradients& grads,
                     const BackwardStream& on) {
  const HeadWords shape = HeadWords::make<Word>(in.shape);
  const auto *z_src = as_words<Word>(in.z_src), *z_dst = as_words<Word>(in.z_dst), *att = as_words<Word>(in.att);
  auto* grad_src = as_words<Word>(grads.z_src);
  auto* const kernel =
      on.is_ordered() ? &gatv2_logits_backward_kernel<Word, false> : &gatv2_logits_backward_kernel<Word, true>;
  kernel<<<shape.blocks_for_rows(num_parts(hop.num_dst)), kThreadsPerBlock, 0, on.stream>>>(
      hop, shape, in.slope, z_src, z_dst, att, grad_logits, grad_src, as_words<Word>(grads.z_dst),
      as_words<Word>(grads.att));
  cuda_check(cudaGetLastError());
  if (!on.is_ordered()) return;
  gatv2_grad_src_kernel<Word><<<shape.blocks_for_rows(hop.num_src), kThreadsPerBlock, 0, on.stream>>>(
      hop, on.by_source, shape, in.slope, z_src, z_dst, att, grad_logits, grad_src);
  cuda_check(cudaGetLastError());
}

}  // namespace

void gatv2_logits(const HopEdges& hop, const Gatv2Inputs& in, float* logits, const LogitsStream& on) {
  if (hop.num_dst == 0) return;
  if (on.bins.are_taken()) {
    clear_bins(on.bins, hop.num_src, on.stream);
    return launch<float4, true>(hop, in, logits, on);
  }
  are_wide(in.shape.channels, {in.z_src, in.z_dst, in.att}) ? launch<float4, false>(hop, in, logits, on)
                                                            : launch<float, false>(hop, in, logits, on);
}

void gatv2_logits_backward(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits,
                           const Gatv2Gradients& grads, const BackwardStream& on) {
  if (hop.num_src > 0) clear(grads.z_src, hop.num_src * in.shape.width(), on);
  if (hop.num_dst == 0) return;
  are_wide(in.shape.channels, {in.z_src, in.z_dst, in.att, grads.z_src, grads.z_dst, grads.att})
      ? launch_backward<float4>(hop, in, grad_logits, grads, on)
      : launch_backward<float>(hop, in, grad_logits, grads, on);
}

}  // namespace salient
