// models/kernels/gatv2_bins.cu - see gatv2_bins.h.
//
// The softmax's gradient needs no pass of its own: a logit's is weight * (<grad_out, z_src> - <grad_out, out>), where
// the second product belongs to the row. So a source's row is read once and its gradient written once. Of z_dst an edge
// needs no more than the signs of its sums with z_src, which the forward pass keeps. The gradient of att, a sum over
// edges of term * (z_src + z_dst), is the sum over sources of z_src times their terms' sum, plus the same over
// destinations; both kernels have these sums anyway.
//
// Work split  prepare_kernel: a group of lanes per (row, head) for the second product. sources_kernel: a warp per
//             source and up to 64 words of its heads, lane t has edge t; the same for an edge of the list, but for the
//             source's row. Then gatv2_rows.cu.
// Access      sources_kernel reads grad_out's row and the signs of every edge, and writes its logit's gradient.
// Limit       a row of a destination an edge from the L2 cache, beside num_src rows read and written. What crosses
//             between the cache's halves bounds: docs/BENCHMARKS.md.
// Sync        shuffles within a warp; atomics for att's gradient, one per block or warp. Each kernel begins while the
//             one before it ends.
#include "models/kernels/gatv2_bins.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kBlocksPerMultiprocessor = 4;  // of sources_kernel: 64 registers a thread, a few spilled

/// Of a lane's words: the source's, its gradient, and the sum of its edges' terms.
template <int kWords>
struct LaneSums {
  float4 z[kWords], grad[kWords], terms[kWords];
};

/// The words of a warp's heads that a lane has; lanes behind the last one have the last one again.
template <int kWords>
struct LaneWords {
  std::uint32_t word[kWords];  ///< of the row
  std::uint32_t head[kWords];
  bool is_active[kWords];

  __device__ LaneWords(const Gatv2Shape& shape, std::uint32_t group, std::uint32_t lane) {
    const std::uint32_t first = group * shape.heads_together * shape.words;
    const std::uint32_t end = min(first + shape.heads_together * shape.words, shape.row_words());
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      word[u] = min(first + lane + u * kWarp, end - 1);
      head[u] = word[u] / shape.words;
      is_active[u] = first + lane + u * kWarp < end;
    }
  }
};

/// Sums over the lanes that have words of the same head: all of them if a warp has one head.
template <int kWords, bool kIsOneHead>
__device__ void sum_heads(const Gatv2Shape& shape, float (&dot)[kWords]) {
  if constexpr (kIsOneHead) {
    float sum = 0;
#pragma unroll
    for (int u = 0; u < kWords; ++u) sum += dot[u];
    sum = warp_sum(sum);
#pragma unroll
    for (int u = 0; u < kWords; ++u) dot[u] = sum;
  } else {
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      for (std::uint32_t step = shape.words / 2; step > 0; step /= 2)
        dot[u] += __shfl_xor_sync(kAllLanes, dot[u], static_cast<int>(step));
  }
}

/// A value per head of an edge, and per lane: those of a warp's one head are read by the lane that has the edge.
template <int kHeads>
struct EdgeFactors {
  float weight[kHeads], row_dot[kHeads];

  __device__ void read(const Gatv2Shape& shape, const Gatv2Arrays& a, std::uint32_t row, std::uint32_t edge,
                       const std::uint32_t* heads) {
#pragma unroll
    for (int u = 0; u < kHeads; ++u) {
      weight[u] = __ldg(a.weights + std::size_t{edge} * shape.heads + heads[u]);
      row_dot[u] = fresh(a.row_dots + std::size_t{row} * shape.heads + heads[u]);
    }
  }
};

/// The gradient of a source's row over some of its edges, and the sum of their terms.
template <int kWords, bool kIsOneHead>
__device__ void sum_edges(const Gatv2Shape& shape, const Gatv2Arrays& a, const LaneWords<kWords>& mine,
                          const EdgesOfSource& edges, LaneSums<kWords>& sums) {
  constexpr int kHeads = kIsOneHead ? 1 : kWords;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  EdgeFactors<1> of_lane{};
  float grad_of_lane = 0;
  if (kIsOneHead && lane < edges.count) of_lane.read(shape, a, edges.row, edges.edge, mine.head);
#pragma unroll 1
  for (int t = 0; t < edges.count; ++t) {
    const std::uint32_t row = __shfl_sync(kAllLanes, edges.row, t), edge = __shfl_sync(kAllLanes, edges.edge, t);
    float4 grad[kWords];
    std::uint32_t signs[kWords];
    EdgeFactors<kHeads> factors;
    float dot[kWords];
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      grad[u] = __ldg(a.grad_out + std::size_t{row} * shape.row_words() + mine.word[u]);
      signs[u] = __ldg(a.signs + std::size_t{edge} * shape.row_words() + mine.word[u]);
    }
    if constexpr (kIsOneHead) {
      factors.weight[0] = __shfl_sync(kAllLanes, of_lane.weight[0], t);
      factors.row_dot[0] = __shfl_sync(kAllLanes, of_lane.row_dot[0], t);
    } else {
      factors.read(shape, a, row, edge, mine.head);
    }
#pragma unroll
    for (int u = 0; u < kWords; ++u) dot[u] = mine.is_active[u] ? product_sum(grad[u], sums.z[u]) : 0.0f;
    sum_heads<kWords, kIsOneHead>(shape, dot);
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      const float weight = factors.weight[u % kHeads], grad_logit = weight * (dot[u] - factors.row_dot[u % kHeads]);
      sums.terms[u] = sum_of(sums.terms[u], chosen(signs[u], grad_logit, shape.slope * grad_logit));
      sums.grad[u] = multiply_add(weight, grad[u], sums.grad[u]);
      if (kIsOneHead && u == 0 && lane == t) grad_of_lane = grad_logit;
      if (!kIsOneHead && mine.is_active[u] && mine.word[u] % shape.words == 0)
        a.grad_logits[std::size_t{edge} * shape.heads + mine.head[u]] = grad_logit;
    }
  }
  if (kIsOneHead && lane < edges.count)
    a.grad_logits[std::size_t{edges.edge} * shape.heads + mine.head[0]] = grad_of_lane;
#pragma unroll
  for (int u = 0; u < kWords; ++u)
    sums.grad[u] = sum_of(sums.grad[u], product(__ldg(a.att + mine.word[u]), sums.terms[u]));
}

/// Warps with a group of heads each; as many for every group, so that a warp keeps its own.
struct WarpOfGroup {
  std::uint32_t warp, group, item, stride;

  __device__ explicit WarpOfGroup(const Gatv2Shape& shape)
      : warp(blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp),
        group(warp % shape.groups()),
        item(warp / shape.groups()),
        stride(gridDim.x * kWarpsPerBlock / shape.groups()) {}
};

/// The grid has at least as many warps as there are groups. Listed edges' share of grad_src is left to the next kernel.
template <int kWords, bool kIsOneHead>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerMultiprocessor)
    sources_kernel(HopEdges hop, AttentionBins bins, Gatv2Shape shape, Gatv2Arrays a) {
  __shared__ float4 of_warps[kWarpsPerBlock][kWords * kWarp];  // att's gradient; in registers there is no room for it
  const WarpOfGroup at(shape);
  const std::uint32_t lane = threadIdx.x % kWarp;
  const LaneWords<kWords> mine(shape, at.group, lane);
  float4* const of_att = of_warps[threadIdx.x / kWarp] + lane;
#pragma unroll
  for (int u = 0; u < kWords; ++u) of_att[u * kWarp] = float4{};
  wait_for_kernel_before();
  let_next_kernel_begin();
  if (at.item < at.stride)  // else one of the last warps, which are fewer than the groups
    for_each_source(hop, bins, 1, at.item, at.stride,
                    [&](std::uint32_t source, const EdgesOfSource& edges, std::uint32_t, bool is_listed) {
                      const std::size_t row = std::size_t{source} * shape.row_words();
                      LaneSums<kWords> sums{};
                      if (edges.count > 0) {
#pragma unroll
                        for (int u = 0; u < kWords; ++u) sums.z[u] = __ldcs(a.z_src + row + mine.word[u]);
                        sum_edges<kWords, kIsOneHead>(shape, a, mine, edges, sums);
#pragma unroll
                        for (int u = 0; u < kWords; ++u)
                          of_att[u * kWarp] = sum_of(of_att[u * kWarp], product(sums.z[u], sums.terms[u]));
                      }
#pragma unroll
                      for (int u = 0; u < kWords; ++u)
                        if (!is_listed && mine.is_active[u]) __stcs(a.grad_src + row + mine.word[u], sums.grad[u]);
                    });
  if (shape.groups() == 1) return add_block_part(of_warps, shape.row_words(), a.grad_att);
#pragma unroll
  for (int u = 0; u < kWords; ++u)
    if (mine.is_active[u])
      add_atomically(a.grad_att + at.warp % kGatv2AttParts * shape.row_words() + mine.word[u], of_att[u * kWarp]);
}

/// row_dots[row, head] = <grad_out[row, head, :], out[row, head, :]>; and 0 for att's parts and masked edges.
__global__ void __launch_bounds__(kThreadsPerBlock)
    prepare_kernel(HopEdges hop, HeadWords shape, const float4* __restrict__ grad_out, const float4* __restrict__ out,
                   Gatv2Workspace to, float4* __restrict__ grad_att) {
  let_next_kernel_begin();
  const std::int64_t heads = shape.heads, words = shape.words,
                     thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  for (std::int64_t i = thread; i < kGatv2AttParts * heads * words; i += std::int64_t{gridDim.x} * kThreadsPerBlock)
    grad_att[i] = float4{};
  const unsigned group_mask = mask_of(shape.group);
  for_each_edge_group(hop, heads, shape.group.log_lanes, [&](const EdgeGroup& at) {
    const std::int64_t p = at.row * heads + at.head;
    float dot = 0;
    for (std::int64_t w = at.lane; w < words; w += shape.group.lanes())
      dot += product_sum(__ldg(grad_out + p * words + w), __ldcs(out + p * words + w));
    for (int step = shape.group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
    if (at.lane == 0) to.row_dots[p] = dot;
    for (std::int64_t e = at.first + at.lane; e < at.last; e += shape.group.lanes())
      if (source_of(hop, at, e) < 0) to.grad_logits[e * heads + at.head] = 0;
  });
}

// ---- host code: share out the words, size the grids, launch, check ---------------------------------------

/// Several heads go to one warp where their words are a power of two, so that shuffles sum them.
Gatv2Shape shape_of(const Gatv2Inputs& in) {
  const auto heads = static_cast<std::uint32_t>(in.shape.heads),
             words = static_cast<std::uint32_t>(in.shape.channels / 4);
  const bool is_power_of_two = (words & (words - 1)) == 0;
  return {heads, words, is_power_of_two && words < 64 ? std::min(heads, 64 / words) : 1, in.slope};
}

template <int kWords, bool kIsOneHead>
void sum_sources(const HopEdges& hop, const AttentionBins& bins, const Gatv2Shape& shape, const Gatv2Arrays& arrays,
                 cudaStream_t stream) {
  const unsigned blocks = std::max(blocks_on_device(kBlocksPerMultiprocessor), shape.groups());
  launch_behind(sources_kernel<kWords, kIsOneHead>, blocks, stream, hop, bins, shape, arrays);
}

}  // namespace

void gatv2_attention_backward_binned(const HopEdges& hop, const Gatv2Inputs& in, const Gatv2Attention& attention,
                                     const Gatv2Gradients& grads, const Gatv2Workspace& work, cudaStream_t stream) {
  const HeadWords words = HeadWords::make<float4>(in.shape);
  const Gatv2Arrays arrays{.z_src = as_words<float4>(in.z_src),
                           .z_dst = as_words<float4>(in.z_dst),
                           .grad_out = as_words<float4>(attention.grad_out),
                           .att = as_words<float4>(in.att),
                           .weights = attention.weights,
                           .row_dots = work.row_dots,
                           .signs = attention.signs,
                           .grad_logits = work.grad_logits,
                           .grad_src = as_words<float4>(grads.z_src),
                           .grad_dst = as_words<float4>(grads.z_dst),
                           .grad_att = as_words<float4>(grads.att)};
  prepare_kernel<<<words.blocks_for_rows(hop.num_dst), kThreadsPerBlock, 0, stream>>>(
      hop, words, arrays.grad_out, as_words<float4>(attention.out), work, arrays.grad_att);
  cuda_check(cudaGetLastError());
  const Gatv2Shape shape = shape_of(in);
  const bool is_one_head = shape.heads_together == 1, has_two_words = shape.heads_together * shape.words > kWarp;
  auto* const sum = is_one_head ? (has_two_words ? &sum_sources<2, true> : &sum_sources<1, true>)
                                : (has_two_words ? &sum_sources<2, false> : &sum_sources<1, false>);
  sum(hop, attention.bins, shape, arrays, stream);
  gatv2_sum_rows(hop, attention.bins, shape, arrays, stream);
}

}  // namespace salient
