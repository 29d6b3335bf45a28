// models/kernels/gatv2_bins.cu - see gatv2_bins.h.
//
// The softmax's gradient needs no pass of its own: a logit's is weight * (<grad_out, z_src> - <grad_out, out>), where
// the second product belongs to the row. So a source's row is read once and its gradient written once; the few rows of
// destinations are read for every edge, most of them from the L2 cache.
//
// Work split  prepare_kernel: blocks that fill the bins, others with a group of lanes per (row, head) for the second
//             product. gather_kernel: a warp per source and up to 64 words of its heads, lane t has edge t; the same
//             for an entry that found its bin full. rows_kernel: a thread per four words of a row, or one.
// Access      gather_kernel keeps one bit per edge and value, whether the leaky unit's input is above 0; rows_kernel
//             sums a destination's edges from these bits and the gradients of the logits.
// Limit       two rows of destinations an edge from the L2 cache, beside num_src rows read and written: 0.55 GB at
//             15,000 rows with 150,000 edges. What crosses between the cache's halves bounds: docs/BENCHMARKS.md.
// Sync        shuffles within a warp; atomics for att's gradient, one per warp, and for sources with more than
//             kEntriesPerBin entries, whose rows are 0 before.
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/gatv2_bins.h"
#include "models/kernels/source_bins.cuh"
#include "models/kernels/words.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kWarpsPerBlock = kThreadsPerBlock / kWarp;

/// Of gather_kernel, by the words of a lane: 80 or 64 registers a thread.
constexpr int blocks_per_multiprocessor(int words) { return words == 1 ? 4 : 3; }

/// Rows in words of four values, and how warps share them: a warp has `heads_together` heads of `words` words.
struct Shape {
  std::uint32_t heads, words, heads_together;
  float slope;

  __host__ __device__ std::uint32_t row_words() const { return heads * words; }
  __host__ __device__ std::uint32_t groups() const { return (heads + heads_together - 1) / heads_together; }
};

/// What the kernels read and write.
struct Arrays {
  const float4 *z_dst, *grad_out, *att;
  const float *weights, *row_dots;
  float* grad_logits;
  std::uint8_t* signs;
};

/// Of a lane's words: the source's, its gradient, and, over all sources of a warp, att's.
template <int kWords>
struct LaneSums {
  float4 z[kWords], grad[kWords], activations[kWords]{};
};

/// The words of a warp's heads that a lane has; lanes behind the last one have the last one again.
template <int kWords>
struct LaneWords {
  std::uint32_t word[kWords];  ///< of the row
  std::uint32_t head[kWords];
  bool is_active[kWords];

  __device__ LaneWords(const Shape& shape, std::uint32_t group, std::uint32_t lane) {
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
__device__ void sum_heads(const Shape& shape, float (&dot)[kWords]) {
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
        dot[u] += __shfl_xor_sync(kAllLanes, dot[u], step);
  }
}

/// Adds a logit's gradient times the slopes, and times the activations; returns the signs of raw.
__device__ std::uint32_t add_edge(float grad, float slope, float4 raw, float4& slopes, float4& activations) {
  std::uint32_t signs = 0;
  const float low = slope * grad;
  const auto add = [&](float value, float& slope_sum, float& activation_sum, std::uint32_t bit) {
    const float term = value > 0 ? grad : low;
    slope_sum += term;
    activation_sum = fmaf(term, value, activation_sum);
    signs |= value > 0 ? bit : 0;
  };
  add(raw.x, slopes.x, activations.x, 1), add(raw.y, slopes.y, activations.y, 2);
  add(raw.z, slopes.z, activations.z, 4), add(raw.w, slopes.w, activations.w, 8);
  return signs;
}

/// The gradient of a source's row over some of its edges; att's is added to.
template <int kWords, bool kIsOneHead>
__device__ void sum_edges(const Shape& shape, const Arrays& a, const LaneWords<kWords>& mine,
                          const EdgesOfSource& edges, LaneSums<kWords>& sums) {
  constexpr int kHeads = kIsOneHead ? 1 : kWords;
  float4 slopes[kWords]{};
#pragma unroll
  for (int u = 0; u < kWords; ++u) sums.grad[u] = float4{};
#pragma unroll 1
  for (int t = 0; t < edges.count; ++t) {
    const auto row = static_cast<std::uint32_t>(edges.row_at(t));
    const std::uint32_t edge = edges.edge_at(t);
    float4 grad[kWords], own[kWords];
    float weight[kHeads], row_dot[kHeads], dot[kWords];
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      const std::size_t at = std::size_t{row} * shape.row_words() + mine.word[u];
      grad[u] = __ldg(a.grad_out + at), own[u] = __ldg(a.z_dst + at);
    }
#pragma unroll
    for (int u = 0; u < kHeads; ++u) {
      weight[u] = __ldg(a.weights + std::size_t{edge} * shape.heads + mine.head[u]);
      row_dot[u] = __ldg(a.row_dots + std::size_t{row} * shape.heads + mine.head[u]);
    }
#pragma unroll
    for (int u = 0; u < kWords; ++u) dot[u] = mine.is_active[u] ? product_sum(grad[u], sums.z[u]) : 0.0f;
    sum_heads<kWords, kIsOneHead>(shape, dot);
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      const float factor = weight[u % kHeads], grad_logit = factor * (dot[u] - row_dot[u % kHeads]);
      const std::uint32_t signs =
          add_edge(grad_logit, shape.slope, sum_of(sums.z[u], own[u]), slopes[u], sums.activations[u]);
      sums.grad[u] = multiply_add(factor, grad[u], sums.grad[u]);
      if (!mine.is_active[u]) continue;
      a.signs[std::size_t{edge} * shape.row_words() + mine.word[u]] = static_cast<std::uint8_t>(signs);
      if (mine.word[u] % shape.words == 0) a.grad_logits[std::size_t{edge} * shape.heads + mine.head[u]] = grad_logit;
    }
  }
#pragma unroll
  for (int u = 0; u < kWords; ++u) sums.grad[u] = sum_of(sums.grad[u], product(__ldg(a.att + mine.word[u]), slopes[u]));
}

/// A warp's part of att's gradient.
template <int kWords>
__device__ void add_part(const Shape& shape, const LaneWords<kWords>& mine, std::uint32_t warp,
                         const LaneSums<kWords>& sums, float4* grad_att) {
  float4* const part = grad_att + warp % kGatv2AttParts * shape.row_words();
#pragma unroll
  for (int u = 0; u < kWords; ++u)
    if (mine.is_active[u]) add_atomically(part + mine.word[u], sums.activations[u]);
}

/// Warps with a group of heads each; as many for every group, so that a warp keeps its own.
struct WarpOfGroup {
  std::uint32_t warp, group, item, stride;

  __device__ explicit WarpOfGroup(const Shape& shape)
      : warp(blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp),
        group(warp % shape.groups()),
        item(warp / shape.groups()),
        stride(gridDim.x * kWarpsPerBlock / shape.groups()) {}
};

/// The grid has at least as many warps as there are groups.
/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <int kWords, bool kIsOneHead>
__global__ void __launch_bounds__(kThreadsPerBlock, blocks_per_multiprocessor(kWords))
    gather_kernel(HopEdges hop, Bins bins, Shape shape, Arrays arrays, const float4* __restrict__ z_src,
                  float4* __restrict__ grad_src, float4* __restrict__ grad_att) {
  const WarpOfGroup at(shape);
  if (at.item >= at.stride) return;  // one of the last warps, which are fewer than the groups
  const LaneWords<kWords> mine(shape, at.group, threadIdx.x % kWarp);
  LaneSums<kWords> sums;
  for_each_source(hop, bins, 1, at.item, at.stride,
                  [&](std::uint32_t source, const EdgesOfSource& edges, std::uint32_t) {
                    const std::size_t row = std::size_t{source} * shape.row_words();
#pragma unroll
                    for (int u = 0; u < kWords; ++u) sums.z[u] = __ldcs(z_src + row + mine.word[u]);
                    sum_edges<kWords, kIsOneHead>(shape, arrays, mine, edges, sums);
#pragma unroll
                    for (int u = 0; u < kWords; ++u) {
                      if (!mine.is_active[u]) continue;
                      float4* const to = grad_src + row + mine.word[u];
                      edges.are_all ? __stcs(to, sums.grad[u]) : add_atomically(to, sums.grad[u]);
                    }
                  });
  add_part(shape, mine, at.warp, sums, grad_att);
}

/// dots[row, head] = <a[row, head, :], b[row, head, :]>, the part of thread number `thread` of `threads`.
struct RowDots {
  std::int64_t count, words;  ///< of all rows' heads, and of a head
  RowGroup group;
  const float4 *a, *b;
  float* dots;

  __device__ void compute(std::int64_t thread, std::int64_t threads) const {
    const int lane = static_cast<int>(thread) & (group.lanes() - 1);
    const unsigned group_mask = mask_of(group);
    for (std::int64_t p = thread >> group.log_lanes; p < count; p += threads >> group.log_lanes) {
      float dot = 0;
      for (std::int64_t w = lane; w < words; w += group.lanes())
        dot += product_sum(__ldg(a + p * words + w), __ldg(b + p * words + w));
      for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
      if (lane == 0) dots[p] = dot;
    }
  }
};

/// The first `place_blocks` blocks wait for atomics, the others for memory.
__global__ void __launch_bounds__(kThreadsPerBlock)
    prepare_kernel(HopEdges hop, Bins bins, RowsOfSources rows, RowDots row_dots, unsigned place_blocks) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x,
                     placing = std::int64_t{place_blocks} * kThreadsPerBlock,
                     all = std::int64_t{gridDim.x} * kThreadsPerBlock;
  if (blockIdx.x < place_blocks)
    place_entries(hop, OwnEntries::kMasked, bins, rows, thread, placing);
  else
    row_dots.compute(thread - placing, all - placing);
}

constexpr int kRowEdgesTogether = 6;  // 5, 10 or 15 neighbours and the row itself

/// The signs of kWords words as one load.
template <int kWords>
struct SignsOf;
template <>
struct SignsOf<1> {
  using Type = std::uint8_t;
};
template <>
struct SignsOf<4> {
  using Type = std::uint32_t;
};

/// grad_dst[row] = att * the sum over the row's edges of the logit's gradient times the slope. A thread has kWords
/// words of one head.
template <int kWords>
__global__ void __launch_bounds__(kThreadsPerBlock)
    rows_kernel(HopEdges hop, Shape shape, const float* __restrict__ grad_logits,
                const typename SignsOf<kWords>::Type* __restrict__ signs, const float4* __restrict__ att,
                float4* __restrict__ grad_dst) {
  const std::uint32_t threads_per_row = shape.row_words() / kWords;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < hop.num_dst * threads_per_row;
       t += stride) {
    const std::int64_t row = t / threads_per_row;
    const auto at = static_cast<std::uint32_t>(t % threads_per_row);
    const auto first = static_cast<std::uint32_t>(__ldg(hop.indptr + row) + row),
               last = static_cast<std::uint32_t>(__ldg(hop.indptr + row + 1) + row);
    const auto* sign = signs + std::size_t{first} * threads_per_row + at;
    const float* logit = grad_logits + std::size_t{first} * shape.heads + at * kWords / shape.words;
    float4 above[kWords]{};  // the sum of what gradients are larger where raw is above 0
    float below = 0;
    for (std::uint32_t e = first; e <= last; e += kRowEdgesTogether) {
      std::uint32_t bits[kRowEdgesTogether];
      float grad[kRowEdgesTogether];
#pragma unroll
      for (int k = 0; k < kRowEdgesTogether; ++k) {  // behind the last one, its signs again and 0
        bits[k] = __ldg(sign + std::size_t{min(e + k, last) - first} * threads_per_row);
        grad[k] = e + k <= last ? __ldg(logit + std::size_t{e + k - first} * shape.heads) : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < kRowEdgesTogether; ++k) {
        const float low = shape.slope * grad[k], rest = grad[k] - low;  // 0 for masked edges
        below += low;
#pragma unroll
        for (int u = 0; u < kWords; ++u) {
          if (bits[k] & 1U << 8 * u) above[u].x += rest;
          if (bits[k] & 2U << 8 * u) above[u].y += rest;
          if (bits[k] & 4U << 8 * u) above[u].z += rest;
          if (bits[k] & 8U << 8 * u) above[u].w += rest;
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      const float4 sum = make_float4(above[u].x + below, above[u].y + below, above[u].z + below, above[u].w + below);
      __stcs(grad_dst + t * kWords + u, product(__ldg(att + at * kWords + u), sum));
    }
  }
}

// ---- host code: share out the words, size the grids, launch, check ---------------------------------------

/// Several heads go to one warp where their words are a power of two, so that shuffles sum them.
Shape shape_of(const Gatv2Inputs& in) {
  const auto heads = static_cast<std::uint32_t>(in.shape.heads),
             words = static_cast<std::uint32_t>(in.shape.channels / 4);
  const bool is_power_of_two = (words & (words - 1)) == 0;
  return {heads, words, is_power_of_two && words < 64 ? std::min(heads, 64 / words) : 1, in.slope};
}

/// More than six parameters: what its kernels take.
template <int kWords, bool kIsOneHead>
void gather(const HopEdges& hop, const Bins& bins, const Shape& shape, const Arrays& arrays, const float* z_src,
            const Gatv2Gradients& grads, cudaStream_t stream) {
  const unsigned blocks = std::max(blocks_on_device(blocks_per_multiprocessor(kWords)), shape.groups());
  gather_kernel<kWords, kIsOneHead><<<blocks, kThreadsPerBlock, 0, stream>>>(
      hop, bins, shape, arrays, as_words<float4>(z_src), as_words<float4>(grads.z_src), as_words<float4>(grads.att));
  cuda_check(cudaGetLastError());
}

/// Of `arrays` it reads what gather() wrote.
template <int kWords>
void sum_rows(const HopEdges& hop, const Shape& shape, const Arrays& arrays, float* grad_dst, cudaStream_t stream) {
  using Signs = typename SignsOf<kWords>::Type;
  rows_kernel<kWords><<<blocks_for(hop.num_dst * shape.row_words() / kWords), kThreadsPerBlock, 0, stream>>>(
      hop, shape, arrays.grad_logits, reinterpret_cast<const Signs*>(arrays.signs), arrays.att,
      as_words<float4>(grad_dst));
  cuda_check(cudaGetLastError());
}

}  // namespace

void gatv2_attention_backward_binned(const HopEdges& hop, const Gatv2Inputs& in, const Gatv2Attention& attention,
                                     const Gatv2Gradients& grads, const Gatv2Workspace& work, cudaStream_t stream) {
  const Bins bins = Bins::make(work.bins, Kept::kRowsAndPositions, hop.num_src);
  const Shape shape = shape_of(in);
  const std::int64_t num_dots = hop.num_dst * shape.heads;
  const RowGroup group = RowGroup::make(shape.words);
  const auto* grad_out = as_words<float4>(attention.grad_out);
  clear_bins(bins, hop.num_src, stream);
  clear(grads.att, kGatv2AttParts * in.shape.width(), stream);
  clear(work.grad_logits, num_attention_edges(work.bins.num_edges, hop.num_dst) * shape.heads, stream);
  prepare_kernel<<<blocks_to_place(hop) + blocks_for(num_dots << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      hop, bins, {grads.z_src, in.shape.width()},
      {num_dots, shape.words, group, grad_out, as_words<float4>(attention.out), work.row_dots}, blocks_to_place(hop));
  cuda_check(cudaGetLastError());
  const Arrays arrays{as_words<float4>(in.z_dst), grad_out,  as_words<float4>(in.att), attention.weights, work.row_dots,
                      work.grad_logits,           work.signs};
  const bool is_one_head = shape.heads_together == 1, has_two_words = shape.heads_together * shape.words > kWarp;
  auto* const run = is_one_head ? (has_two_words ? &gather<2, true> : &gather<1, true>)
                                : (has_two_words ? &gather<2, false> : &gather<1, false>);
  run(hop, bins, shape, arrays, in.z_src, grads, stream);
  shape.words % 4 == 0 ? sum_rows<4>(hop, shape, arrays, grads.z_dst, stream)
                       : sum_rows<1>(hop, shape, arrays, grads.z_dst, stream);
}

}  // namespace salient
