// models/kernels/attention_edges.cuh - the loops over attention edges that the kernels of attention share.
//
// Kernels take each array as a parameter of its own, however many there are: nvcc honours __restrict__ on parameters,
// not on members of a struct, and needs it to keep values in registers and to load through the read-only cache.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "core/cuda/cuda.h"
#include "models/kernels/attention_edges.h"
#include "models/kernels/launch.cuh"

namespace salient {

constexpr int kWarp = 32;

/// The attention edges of one row and head, and which lane of their warp or group of lanes this thread is.
struct EdgeGroup {
  std::int64_t row;
  std::int64_t head;
  std::int64_t first;  ///< edges [first, last]; `last` is the self loop
  std::int64_t last;
  int lane;
};

__device__ inline EdgeGroup edge_group_of(const HopEdges& hop, std::int64_t heads, std::int64_t pair, int lane) {
  const std::int64_t row = pair / heads;
  return {row, pair % heads, __ldg(hop.indptr + row) + row, __ldg(hop.indptr + row + 1) + row, lane};
}

/// The source of an edge of the group; -1 for a masked edge.
__device__ inline std::int64_t source_of(const HopEdges& hop, const EdgeGroup& at, std::int64_t edge) {
  if (edge == at.last) return at.row;
  const std::int64_t source = __ldg(hop.indices + (edge - at.row));
  return source == at.row ? -1 : source;
}

/// f(group) for every (row, head), 2^log_lanes lanes each. The groups of a warp may run different trip counts.
template <class F>
__device__ void for_each_edge_group(const HopEdges& hop, std::int64_t heads, int log_lanes, const F& f) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> log_lanes;
  const int lane = static_cast<int>(thread) & ((1 << log_lanes) - 1);
  for (std::int64_t p = thread >> log_lanes; p < hop.num_dst * heads; p += stride)
    f(edge_group_of(hop, heads, p, lane));
}

/// f(destination, edge) for every edge of source j that is not masked, in the host's order.
template <class F>
__device__ void for_each_edge_of_source(const HopEdges& hop, const SourceEdges& by_source, std::int64_t j, const F& f) {
  for (LocalId t = __ldg(by_source.indptr + j); t < __ldg(by_source.indptr + j + 1); ++t) {
    const std::int64_t i = __ldg(by_source.destination + t);
    if (i != j) f(i, __ldg(by_source.edge + t) + i);
  }
  if (j < hop.num_dst) f(j, __ldg(hop.indptr + j + 1) + j);
}

__device__ inline float warp_sum(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, step);
  return value;
}

/// Rows of heads in words, and the lanes that share the words of one head.
struct HeadWords {
  std::int64_t heads;
  std::int64_t words;  ///< of a head
  RowGroup group;

  template <class Word>
  static HeadWords make(Heads shape) {
    const std::int64_t words = shape.channels * std::int64_t{sizeof(float)} / std::int64_t{sizeof(Word)};
    return {shape.heads, words, RowGroup::make(words)};
  }
  /// Blocks with a group of lanes for each head of `rows` rows.
  unsigned blocks_for_rows(std::int64_t rows) const { return blocks_for(rows * heads << group.log_lanes); }
};

/// The lanes of this thread's group, as a mask of its warp.
__device__ inline unsigned mask_of(RowGroup group) {
  const unsigned base = threadIdx.x % kWarp & ~(group.lanes() - 1u);
  return group.lanes() == kWarp ? 0xFFFFFFFF : ((1u << group.lanes()) - 1) << base;
}

/// out[source, head, word] = term(...) folded over the edges of each (source, head): a group of lanes each, lanes over
/// words. term(sum, source * heads + head, destination, edge * heads + head, word) returns the next sum.
template <class Word, class Term>
__device__ void sum_over_edges_of_sources(const HopEdges& hop, const SourceEdges& by_source, const HeadWords& shape,
                                          Word* out, const Term& term) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock >> shape.group.log_lanes;
  const int lane = static_cast<int>(thread) & (shape.group.lanes() - 1);
  for (std::int64_t p = thread >> shape.group.log_lanes; p < hop.num_src * shape.heads; p += stride)
    for (std::int64_t w = lane; w < shape.words; w += shape.group.lanes()) {
      Word sum{};
      for_each_edge_of_source(hop, by_source, p / shape.heads, [&](std::int64_t i, std::int64_t edge) {
        sum = term(sum, p, i, edge * shape.heads + p % shape.heads, w);
      });
      out[p * shape.words + w] = sum;
    }
}

// ---- host code -------------------------------------------------------------------------------------------

/// Blocks with a warp for each (row, head).
inline unsigned warps_for(const HopEdges& hop, std::int64_t heads) { return blocks_for(hop.num_dst * heads * kWarp); }

inline void clear(float* values, std::int64_t count, cudaStream_t stream) {
  cuda_check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), stream));
}

/// Whether all arrays of rows of `channels` values consist of aligned words of four.
inline bool are_wide(std::int64_t channels, std::initializer_list<const float*> arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [&](const float* a) { return is_packable<float, 4>(a, channels); });
}

}  // namespace salient
