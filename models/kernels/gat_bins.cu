// models/kernels/gat_bins.cu - see gat_bins.h.
//
// After a run of the kernel workbench on an H200 (Astra's method): workbench/results/attention_backward-astra.
//
// Work split  rows_kernel: a warp per (source, head), lane t has edge t; the same for an edge of the list, for its
//             weight's gradient alone. scores_kernel: half a warp per (row, head), and blocks that add the listed
//             edges to rows that their sources have written.
// Access      a source's row of h is read once, kWordsPerLane words a lane, and grad_out's rows of two edges together;
//             the next source's bin is on its way meanwhile. Nothing is cleared before.
// Limit       edges + num_src rows read, num_src rows written.
// Sync        shuffles within a warp; atomics for the gradients of the sources' scores and for listed edges.
//             scores_kernel begins while rows_kernel ends.
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/gat_bins.h"
#include "models/kernels/gat_scores.cuh"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kWordsPerLane = 2, kEdgesTogether = 2, kBlocksPerMultiprocessor = 4;

struct RowArrays {
  const float* weights;
  const float4 *h, *grad_out;
  float4* grad_h;
  float *grad_weights, *grad_scores;
  std::uint32_t heads, words;  ///< words of a head
};

/// The words of one (source, head).
struct HeadOfSource {
  const float4* h;         ///< of the source
  const float4* grad_out;  ///< of row 0
  float4* grad_h;          ///< of the source; null: not written
  std::uint32_t row_words, words;
};

/// Writes grad_h from word `first` on, and returns the part of these words in the gradient of this lane's weight.
__device__ float gather_words(const HeadOfSource& at, const EdgesOfSource& edges, float weight_of_lane,
                              std::uint32_t first, int lane) {
  float4 h[kWordsPerLane]{}, sum[kWordsPerLane]{};
  std::uint32_t word[kWordsPerLane];  // those behind the last one read it again
#pragma unroll
  for (int u = 0; u < kWordsPerLane; ++u) {
    word[u] = min(first + lane + u * kWarp, at.words - 1);
    if (edges.count > 0) h[u] = __ldcs(at.h + word[u]);
  }
  float dot_of_lane = 0;
#pragma unroll 1
  for (int t = 0; t < edges.count; t += kEdgesTogether) {
    float4 grad[kEdgesTogether][kWordsPerLane];
#pragma unroll
    for (int k = 0; k < kEdgesTogether; ++k) {
      const std::uint32_t row = __shfl_sync(kAllLanes, edges.row, min(t + k, edges.count - 1));
#pragma unroll
      for (int u = 0; u < kWordsPerLane; ++u)
        grad[k][u] = __ldg(at.grad_out + std::size_t{row} * at.row_words + word[u]);
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
    if (at.grad_h != nullptr && first + lane + u * kWarp < at.words) __stcs(at.grad_h + word[u], sum[u]);
  return dot_of_lane;
}

__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerMultiprocessor)
    rows_kernel(HopEdges hop, AttentionBins bins, RowArrays a) {
  let_next_kernel_begin();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for_each_source(hop, bins, a.heads, blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp, gridDim.x * kWarpsPerBlock,
                  [&](std::uint32_t source, const EdgesOfSource& edges, std::uint32_t head, bool is_listed) {
                    const std::size_t edge = std::size_t{edges.edge} * a.heads + head,
                                      row = std::size_t{source} * a.heads + head;
                    const float weight = lane < edges.count ? __ldg(a.weights + edge) : 0.0f;
                    const HeadOfSource at{a.h + row * a.words, a.grad_out + head * a.words,
                                          is_listed ? nullptr : a.grad_h + row * a.words, a.heads * a.words, a.words};
                    float dot = 0;
                    for (std::uint32_t first = 0; first < a.words; first += kWordsPerLane * kWarp)
                      dot += gather_words(at, edges, weight, first, lane);
                    if (lane < edges.count) a.grad_weights[edge] = dot;
                    if (lane == 0 && !is_listed) a.grad_scores[row] = 0;
                  });
}

/// Adds listed edges to their sources' rows; a warp per (edge, head).
__device__ void add_listed(const AttentionBins& bins, const RowArrays& a, std::uint32_t warp, std::uint32_t num_warps) {
  const std::uint32_t count = *bins.num_listed * a.heads, lane = threadIdx.x % kWarp;
  for (std::uint32_t p = warp; p < count; p += num_warps) {
    const ListedEdge at = listed_edge(bins, p / a.heads);
    const std::size_t head = p % a.heads;
    const float weight = __ldg(a.weights + std::size_t{at.edge} * a.heads + head);
    const float4* const grad = a.grad_out + (std::size_t{at.row} * a.heads + head) * a.words;
    float4* const to = a.grad_h + (std::size_t{at.source} * a.heads + head) * a.words;
    for (std::uint32_t w = lane; w < a.words; w += kWarp) add_atomically(to + w, scaled(__ldg(grad + w), weight));
  }
}

/// The first `score_blocks` blocks have rows, the others what is listed.
__global__ void __launch_bounds__(kThreadsPerBlock)
    scores_kernel(HopEdges hop, AttentionBins bins, GatScores scores, GatGradients grads, RowArrays rows,
                  unsigned score_blocks) {
  if (blockIdx.x < score_blocks)
    return add_score_gradients({hop, scores, rows.weights, rows.grad_weights}, grads, score_blocks);
  wait_for_kernel_before();
  add_listed(bins, rows, (blockIdx.x - score_blocks) * kWarpsPerBlock + threadIdx.x / kWarp,
             (gridDim.x - score_blocks) * kWarpsPerBlock);
}

}  // namespace

// ---- host code: size the grids, launch, check ------------------------------------------------------------

void gat_attention_backward_binned(const HopEdges& hop, const GatAttention& attention,
                                   const GatAttentionGradients& grads, cudaStream_t stream) {
  const AttentionTerms& terms = attention.terms;
  const RowArrays rows{terms.weights,
                       as_words<float4>(terms.h),
                       as_words<float4>(attention.grad_out),
                       as_words<float4>(grads.sum.h),
                       grads.sum.weights,
                       grads.scores.src,
                       static_cast<std::uint32_t>(terms.shape.heads),
                       static_cast<std::uint32_t>(terms.shape.channels / 4)};
  rows_kernel<<<blocks_on_device(kBlocksPerMultiprocessor), kThreadsPerBlock, 0, stream>>>(hop, attention.bins, rows);
  cuda_check(cudaGetLastError());
  const unsigned score_blocks = blocks_for_scores(hop, terms.shape.heads);
  launch_behind(scores_kernel, score_blocks + blocks_for_listed(hop), stream, hop, attention.bins, attention.scores,
                grads.scores, rows, score_blocks);
}

}  // namespace salient
