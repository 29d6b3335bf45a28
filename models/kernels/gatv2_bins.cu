// models/kernels/gatv2_bins.cu - see gatv2_bins.h.
//
// The softmax's gradient needs no pass of its own: a logit's is weight * (<grad_out, z_src> - <grad_out, out>), where
// the second product belongs to the row. So a source's row is read once and its gradient written once; the few rows of
// destinations are read for every edge, most of them from the L2 cache.
//
// Work split  row_dots_kernel: a group of lanes per (row, head). gather_kernel: a warp per source and up to 64 words of
//             its heads, lane t has edge t. spilled_kernel: the same for an entry that found its bin full. rows_kernel:
//             a thread per word of a row.
// Access      gather_kernel keeps one bit per edge and value, whether the leaky unit's input is above 0; rows_kernel
//             sums a destination's edges from these bits and the gradients of the logits.
// Limit       two rows of destinations an edge from the L2 cache, beside num_src rows read and written: 0.55 GB at
//             15,000 rows with 150,000 edges, 104 us of an H200's cache.
// Sync        shuffles within a warp; atomics for att's gradient, one per warp, and for spilled entries.
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/gatv2_bins.h"
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
  const auto num_src = static_cast<std::uint32_t>(hop.num_src);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const WarpOfGroup at(shape);
  if (at.item >= at.stride) return;  // one of the last warps, which are fewer than the groups
  const LaneWords<kWords> mine(shape, at.group, lane);
  LaneSums<kWords> sums;
  LocalId value = values_of_bin(bins, at.item, num_src, lane);
  for (std::uint32_t source = at.item; source < num_src; source += at.stride) {
    const LocalId next_value = values_of_bin(bins, source + at.stride, num_src, lane);
    const EdgesOfSource edges = edges_of(hop, value, source, lane);
    const std::size_t row = std::size_t{source} * shape.row_words();
#pragma unroll
    for (int u = 0; u < kWords; ++u) sums.z[u] = __ldcs(z_src + row + mine.word[u]);
    sum_edges<kWords, kIsOneHead>(shape, arrays, mine, edges, sums);
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      if (mine.is_active[u]) __stcs(grad_src + row + mine.word[u], sums.grad[u]);
    value = next_value;
  }
  add_part(shape, mine, at.warp, sums, grad_att);
}

/// More than six parameters: as above.
template <int kWords, bool kIsOneHead>
__global__ void __launch_bounds__(kThreadsPerBlock, blocks_per_multiprocessor(kWords))
    spilled_kernel(HopEdges hop, Bins bins, Shape shape, Arrays arrays, const float4* __restrict__ z_src,
                   float4* __restrict__ grad_src, float4* __restrict__ grad_att) {
  const auto count = static_cast<std::uint32_t>(*bins.num_spilled);
  const WarpOfGroup at(shape);
  if (at.item >= min(at.stride, count)) return;
  const LaneWords<kWords> mine(shape, at.group, threadIdx.x % kWarp);
  LaneSums<kWords> sums;
  for (std::uint32_t s = at.item; s < count; s += at.stride) {
    const auto [source, dst, position] = bins.spilled[s];
    const std::size_t row = static_cast<std::size_t>(source) * shape.row_words();
    const EdgesOfSource edges{1, dst, static_cast<std::uint32_t>(position) + static_cast<std::uint32_t>(dst)};
#pragma unroll
    for (int u = 0; u < kWords; ++u) sums.z[u] = __ldg(z_src + row + mine.word[u]);
    sum_edges<kWords, kIsOneHead>(shape, arrays, mine, edges, sums);
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      if (mine.is_active[u]) add_atomically(grad_src + row + mine.word[u], sums.grad[u]);
  }
  add_part(shape, mine, at.warp, sums, grad_att);
}

/// dots[row, head] = <a[row, head, :], b[row, head, :]>.
__global__ void __launch_bounds__(kThreadsPerBlock)
    row_dots_kernel(std::int64_t count, std::int64_t words, RowGroup group, const float4* __restrict__ a,
                    const float4* __restrict__ b, float* __restrict__ dots) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> group.log_lanes;
  const int lane = static_cast<int>(thread) & (group.lanes() - 1);
  const unsigned group_mask = mask_of(group);
  for (std::int64_t p = thread >> group.log_lanes; p < count; p += stride) {
    float dot = 0;
    for (std::int64_t w = lane; w < words; w += group.lanes())
      dot += product_sum(__ldg(a + p * words + w), __ldg(b + p * words + w));
    for (int step = group.lanes() / 2; step > 0; step /= 2) dot += __shfl_xor_sync(group_mask, dot, step);
    if (lane == 0) dots[p] = dot;
  }
}

/// grad_dst[row] = att * the sum over the row's edges of the logit's gradient times the slope.
__global__ void __launch_bounds__(kThreadsPerBlock)
    rows_kernel(HopEdges hop, Shape shape, const float* __restrict__ grad_logits,
                const std::uint8_t* __restrict__ signs, const float4* __restrict__ att, float4* __restrict__ grad_dst) {
  const std::uint32_t row_words = shape.row_words();
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < hop.num_dst * row_words;
       t += stride) {
    const std::int64_t row = t / row_words;
    const auto word = static_cast<std::uint32_t>(t % row_words);
    const auto first = static_cast<std::uint32_t>(__ldg(hop.indptr + row) + row),
               last = static_cast<std::uint32_t>(__ldg(hop.indptr + row + 1) + row);
    const std::uint8_t* sign = signs + std::size_t{first} * row_words + word;
    const float* logit = grad_logits + std::size_t{first} * shape.heads + word / shape.words;
    float4 above{};  // the sum of what gradients are larger where raw is above 0
    float below = 0;
#pragma unroll 4
    for (std::uint32_t e = first; e <= last; ++e, sign += row_words, logit += shape.heads) {
      const std::uint32_t bits = __ldg(sign);
      const float grad = __ldg(logit), low = shape.slope * grad, rest = grad - low;  // 0 for masked edges
      below += low;
      if (bits & 1) above.x += rest;
      if (bits & 2) above.y += rest;
      if (bits & 4) above.z += rest;
      if (bits & 8) above.w += rest;
    }
    const float4 sum = make_float4(above.x + below, above.y + below, above.z + below, above.w + below);
    __stcs(grad_dst + t, product(__ldg(att + word), sum));
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
  for (auto* const kernel : {&gather_kernel<kWords, kIsOneHead>, &spilled_kernel<kWords, kIsOneHead>}) {
    kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(hop, bins, shape, arrays, as_words<float4>(z_src),
                                                    as_words<float4>(grads.z_src), as_words<float4>(grads.att));
    cuda_check(cudaGetLastError());
  }
}

}  // namespace

void gatv2_attention_backward_binned(const HopEdges& hop, const Gatv2Inputs& in, const Gatv2Attention& attention,
                                     const Gatv2Gradients& grads, const Gatv2Workspace& work, cudaStream_t stream) {
  const Bins bins = Bins::make(work.bins, Kept::kRowsAndPositions, hop.num_src);
  const Shape shape = shape_of(in);
  const std::int64_t num_dots = hop.num_dst * shape.heads;
  const RowGroup group = RowGroup::make(shape.words);
  const auto* grad_out = as_words<float4>(attention.grad_out);
  bin_by_source(hop, OwnEntries::kMasked, bins, stream);
  clear(grads.att, kGatv2AttParts * in.shape.width(), stream);
  clear(work.grad_logits, num_attention_edges(work.bins.num_edges, hop.num_dst) * shape.heads, stream);
  row_dots_kernel<<<blocks_for(num_dots << group.log_lanes), kThreadsPerBlock, 0, stream>>>(
      num_dots, shape.words, group, grad_out, as_words<float4>(attention.out), work.row_dots);
  cuda_check(cudaGetLastError());
  const Arrays arrays{as_words<float4>(in.z_dst), grad_out,  as_words<float4>(in.att), attention.weights, work.row_dots,
                      work.grad_logits,           work.signs};
  const bool is_one_head = shape.heads_together == 1, has_two_words = shape.heads_together * shape.words > kWarp;
  auto* const run = is_one_head ? (has_two_words ? &gather<2, true> : &gather<1, true>)
                                : (has_two_words ? &gather<2, false> : &gather<1, false>);
  run(hop, bins, shape, arrays, in.z_src, grads, stream);
  rows_kernel<<<blocks_for(hop.num_dst * shape.row_words()), kThreadsPerBlock, 0, stream>>>(
      hop, shape, work.grad_logits, work.signs, arrays.att, as_words<float4>(grads.z_dst));
  cuda_check(cudaGetLastError());
}

}  // namespace salient
