// models/kernels/attention_sum.cu - the weighted sum of neighbours' rows on the device.
//
// Work split  a group of lanes per (row, head), as in segment.cu, lanes over 16-byte words of the head's channels.
// Access      each neighbour's channels are read once; the backward pass reads them once more for the gradient of the
//             weights and adds to their gradients by 16-byte atomics (sm_90). Weights are scalars, read through L1.
// Limit       (entries + num_dst) rows of h, in each direction.
// Sync        shuffles within a group; atomics for the gradient of h, or, where the edges by source are given, a second
//             kernel with a group per (source, head). With bins by source, see gat_bins.cu.
#include "models/kernels/attention_edges.cuh"
#include "models/kernels/attention_sum.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    attention_sum_kernel(HopEdges hop, HeadWords shape, const float* __restrict__ weights, const Word* __restrict__ h,
                         Word* __restrict__ out) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  for_each_edge_group(hop, heads, shape.group.log_lanes, [&](const EdgeGroup& at) {
    for (std::int64_t w = at.lane; w < head_words; w += shape.group.lanes()) {
      Word sum{};
      for (std::int64_t e = at.first; e <= at.last; ++e) {
        const std::int64_t j = source_of(hop, at, e);
        if (j < 0) continue;
        sum =
            multiply_add(__ldg(weights + e * heads + at.head), __ldg(h + (j * heads + at.head) * head_words + w), sum);
      }
      out[(at.row * heads + at.head) * head_words + w] = sum;
    }
  });
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word, bool kAtomics>
__global__ void __launch_bounds__(kThreadsPerBlock)
    attention_sum_backward_kernel(HopEdges hop, HeadWords shape, const float* __restrict__ weights,
                                  const Word* __restrict__ h, const Word* __restrict__ grad_out,
                                  float* __restrict__ grad_weights, Word* __restrict__ grad_h) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  const RowGroup group = shape.group;
  const unsigned group_mask = mask_of(group);
  for_each_edge_group(hop, heads, group.log_lanes, [&](const EdgeGroup& at) {
    const Word* grad = grad_out + (at.row * heads + at.head) * head_words;
    for (std::int64_t e = at.first; e <= at.last; ++e) {
      const std::int64_t j = source_of(hop, at, e);
      float dot = 0;
      if (j >= 0) {
        const float weight = __ldg(weights + e * heads + at.head);
        for (std::int64_t w = at.lane; w < head_words; w += group.lanes()) {
          const Word g = __ldg(grad + w);
          dot += product_sum(g, __ldg(h + (j * heads + at.head) * head_words + w));
          if constexpr (kAtomics)
            add_atomically(grad_h + (j * heads + at.head) * head_words + w, multiply_add(weight, g, Word{}));
        }
      }
      for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (at.lane == 0) grad_weights[e * heads + at.head] = dot;
    }
  });
}

template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock)
    attention_sum_grad_h_kernel(HopEdges hop, SourceEdges by_source, HeadWords shape, const float* __restrict__ weights,
                                const Word* __restrict__ grad_out, Word* __restrict__ grad_h) {
  const std::int64_t heads = shape.heads, head_words = shape.words;
  sum_over_edges_of_sources(hop, by_source, shape, grad_h,
                            [&](const Word& sum, std::int64_t p, std::int64_t i, std::int64_t edge, std::int64_t w) {
                              return multiply_add(__ldg(weights + edge),
                                                  __ldg(grad_out + (i * heads + p % heads) * head_words + w), sum);
                            });
}

// ---- host code: pick a word, size the grid, launch, check ------------------------------------------------

template <class Word>
void launch(const HopEdges& hop, const AttentionTerms& terms, float* out, cudaStream_t stream) {
  const HeadWords shape = HeadWords::make<Word>(terms.shape);
  attention_sum_kernel<Word><<<shape.blocks_for_rows(hop.num_dst), kThreadsPerBlock, 0, stream>>>(
      hop, shape, terms.weights, as_words<Word>(terms.h), as_words<Word>(out));
  cuda_check(cudaGetLastError());
}

template <class Word>
void launch_backward(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                     const AttentionSumGradients& grads, const BackwardStream& on) {
  const HeadWords shape = HeadWords::make<Word>(terms.shape);
  auto* const kernel =
      on.is_ordered() ? &attention_sum_backward_kernel<Word, false> : &attention_sum_backward_kernel<Word, true>;
  const auto* grad = as_words<Word>(grad_out);
  auto* grad_h = as_words<Word>(grads.h);
  kernel<<<shape.blocks_for_rows(hop.num_dst), kThreadsPerBlock, 0, on.stream>>>(
      hop, shape, terms.weights, as_words<Word>(terms.h), grad, grads.weights, grad_h);
  cuda_check(cudaGetLastError());
  if (!on.is_ordered()) return;
  attention_sum_grad_h_kernel<Word><<<shape.blocks_for_rows(hop.num_src), kThreadsPerBlock, 0, on.stream>>>(
      hop, on.by_source, shape, terms.weights, grad, grad_h);
  cuda_check(cudaGetLastError());
}

}  // namespace

void attention_sum(const HopEdges& hop, const AttentionTerms& terms, float* out, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  are_wide(terms.shape.channels, {terms.h, out}) ? launch<float4>(hop, terms, out, stream)
                                                 : launch<float>(hop, terms, out, stream);
}

void attention_sum_backward(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                            const AttentionSumGradients& grads, const BackwardStream& on) {
  if (hop.num_src > 0) clear(grads.h, hop.num_src * terms.shape.width(), on);
  if (hop.num_dst == 0) return;
  are_wide(terms.shape.channels, {terms.h, grad_out, grads.h})
      ? launch_backward<float4>(hop, terms, grad_out, grads, on)
      : launch_backward<float>(hop, terms, grad_out, grads, on);
}

}  // namespace salient
