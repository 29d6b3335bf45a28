// models/kernels/attention_bins.cu - the gradient of attention's weighted sum, where grad_h is written once.
//
// After a run of the kernel workbench on an H200 (Astra's method): workbench/results/attention_backward-astra.
//
// Work split  a warp per (source, head). Lane t has edge t of the source: the entries of its bin, then its self loop if
//             it is a destination. Likewise a warp per (entry, head) for those that found their bin full.
// Access      a source's row of h is read once, kWordsPerLane words a lane, and grad_out's rows of two edges together;
//             the next source's bin is on its way meanwhile.
// Limit       edges + num_src rows read, num_src rows written.
// Sync        shuffles within a warp; atomics for sources with more than kEntriesPerBin entries, whose rows are 0
//             before.
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/attention_bins.h"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kWordsPerLane = 2, kEdgesTogether = 2, kBlocksPerMultiprocessor = 4;

/// What the edges of one (source, head) are read from, and its words.
template <class Word>
struct HeadOfSource {
  const Word* h;         ///< of the source
  Word* grad_h;          ///< likewise
  const Word* grad_out;  ///< of row 0
  std::uint32_t row_words;
  std::uint32_t words;
};

/// Writes grad_h from word `first` on, and returns the part of these words in the gradient of this lane's weight.
template <class Word>
__device__ float gather_words(const HeadOfSource<Word>& at, const EdgesOfSource& edges, float weight_of_lane,
                              std::uint32_t first, int lane) {
  Word h[kWordsPerLane], sum[kWordsPerLane]{};
  std::uint32_t word[kWordsPerLane];  // those behind the last one read it again
#pragma unroll
  for (int u = 0; u < kWordsPerLane; ++u) {
    word[u] = min(first + lane + u * kWarp, at.words - 1);
    h[u] = __ldcs(at.h + word[u]);
  }
  float dot_of_lane = 0;
#pragma unroll 1
  for (int t = 0; t < edges.count; t += kEdgesTogether) {
    Word grad[kEdgesTogether][kWordsPerLane];
#pragma unroll
    for (int k = 0; k < kEdgesTogether; ++k) {
      const auto row = static_cast<std::uint32_t>(edges.row_at(t + k));
      const Word* const from = at.grad_out + std::size_t{row} * at.row_words;
#pragma unroll
      for (int u = 0; u < kWordsPerLane; ++u) grad[k][u] = __ldg(from + word[u]);
    }
#pragma unroll
    for (int k = 0; k < kEdgesTogether; ++k) {  // where there is no edge, weight_of_lane is 0
      const float weight = __shfl_sync(kAllLanes, weight_of_lane, t + k);
      float dot = 0;
#pragma unroll
      for (int u = 0; u < kWordsPerLane; ++u) {
        if (first + lane + u * kWarp < at.words) dot += product_sum(grad[k][u], h[u]);
        sum[u] = multiply_add(weight, grad[k][u], sum[u]);
      }
      dot = warp_sum(dot);
      if (lane == t + k) dot_of_lane = dot;
    }
  }
#pragma unroll
  for (int u = 0; u < kWordsPerLane; ++u)
    if (first + lane + u * kWarp < at.words)
      edges.are_all ? __stcs(at.grad_h + word[u], sum[u]) : add_atomically(at.grad_h + word[u], sum[u]);
  return dot_of_lane;
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <class Word>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerMultiprocessor)
    gather_kernel(HopEdges hop, HeadWords shape, Bins bins, const float* __restrict__ weights,
                  const Word* __restrict__ h, const Word* __restrict__ grad_out, float* __restrict__ grad_weights,
                  Word* __restrict__ grad_h) {
  const auto heads = static_cast<std::uint32_t>(shape.heads),
             words = static_cast<std::uint32_t>(shape.words);  // 32 bits, as registers are short
  constexpr std::uint32_t kWarpsPerBlock = kThreadsPerBlock / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for_each_source(hop, bins, heads, blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp, gridDim.x * kWarpsPerBlock,
                  [&](std::uint32_t source, const EdgesOfSource& edges, std::uint32_t head) {
                    const std::size_t edge = std::size_t{edges.edge} * heads + head,
                                      row = std::size_t{source} * heads + head;
                    const float weight = lane < edges.count ? __ldg(weights + edge) : 0.0f;
                    const HeadOfSource<Word> at{h + row * words, grad_h + row * words, grad_out + head * words,
                                                heads * words, words};
                    float dot = 0;
                    for (std::uint32_t first = 0; first < words; first += kWordsPerLane * kWarp)
                      dot += gather_words(at, edges, weight, first, lane);
                    if (lane < edges.count) grad_weights[edge] = dot;
                  });
}

// ---- host code: pick a word, size the grids, launch, check -----------------------------------------------

template <class Word>
void launch(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out, const AttentionSumGradients& grads,
            const Bins& bins, cudaStream_t stream) {
  const HeadWords shape = HeadWords::make<Word>(terms.shape);
  gather_kernel<Word><<<blocks_on_device(kBlocksPerMultiprocessor), kThreadsPerBlock, 0, stream>>>(
      hop, shape, bins, terms.weights, as_words<Word>(terms.h), as_words<Word>(grad_out), grads.weights,
      as_words<Word>(grads.h));
  cuda_check(cudaGetLastError());
}

}  // namespace

void attention_sum_backward_binned(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                                   const AttentionSumGradients& grads, const BackwardStream& on) {
  const Bins bins = Bins::make(on.bins, Kept::kRowsAndPositions, hop.num_src);
  const std::int64_t num_weights = num_attention_edges(on.bins.num_edges, hop.num_dst) * terms.shape.heads;
  clear(grads.weights, num_weights, on.stream);  // those of masked edges stay 0
  bin_by_source(hop, OwnEntries::kMasked, bins, {grads.h, terms.shape.width()}, on.stream);
  are_wide(terms.shape.channels, {terms.h, grad_out, grads.h})
      ? launch<float4>(hop, terms, grad_out, grads, bins, on.stream)
      : launch<float>(hop, terms, grad_out, grads, bins, on.stream);
}

}  // namespace salient
