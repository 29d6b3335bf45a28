// models/kernels/attention_bins.cuh - how threads place attention edges in bins, and warps take them out by source.
//
// Access  an atomic and 8 bytes an edge; of a source with at most four edges 36 bytes are read.
#pragma once

#include <cooperative_groups.h>

#include "models/kernels/attention_bins.h"
#include "models/kernels/attention_edges.cuh"
#include "models/kernels/programmatic.cuh"

namespace salient {

constexpr unsigned kAllLanes = 0xFFFFFFFF;
constexpr int kWarpsPerBlock = kThreadsPerBlock / kWarp;

/// Places an edge that is neither masked nor a self loop. Lanes of one warp may come here alone or together.
__device__ inline void place_edge(const AttentionBins& bins, std::int64_t source, std::int64_t row, std::int64_t edge) {
  const std::uint32_t slot = atomicAdd(bins.counts + source, 1U);
  if (slot < kEdgesPerBin) {
    *reinterpret_cast<int2*>(bins.edges + (source * kEdgesPerBin + slot) * 2) =
        make_int2(static_cast<int>(row), static_cast<int>(edge));
    return;
  }
  const auto group = cooperative_groups::coalesced_threads();
  std::uint32_t first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(bins.num_listed, static_cast<unsigned>(group.size()));
  LocalId* const to = bins.listed + std::int64_t{3} * (group.shfl(first, 0) + group.thread_rank());
  to[0] = static_cast<LocalId>(source), to[1] = static_cast<LocalId>(row), to[2] = static_cast<LocalId>(edge);
}

/// Lane t has edge t of a source.
struct EdgesOfSource {
  int count;
  std::uint32_t row, edge;  ///< 0 in lanes from `count` on
};

struct ListedEdge {
  std::uint32_t source, row, edge;
};

__device__ inline ListedEdge listed_edge(const AttentionBins& bins, std::uint32_t number) {
  const LocalId* const at = bins.listed + std::size_t{number} * 3;
  return {static_cast<std::uint32_t>(__ldg(at)), static_cast<std::uint32_t>(__ldg(at + 1)),
          static_cast<std::uint32_t>(__ldg(at + 2))};
}

/// Of a source's bin: lanes 0 to 7 the first four edges, lane 8 the count.
__device__ inline LocalId head_of_bin(const AttentionBins& bins, std::uint32_t source, std::uint32_t num_src,
                                      int lane) {
  if (source >= num_src || lane > 8) return 0;
  return __ldcs(lane < 8 ? bins.edges + std::size_t{source} * (2 * kEdgesPerBin) + lane
                         : reinterpret_cast<const LocalId*>(bins.counts) + source);
}

/// The edges of a bin, then the source's self loop if it is a destination.
__device__ inline EdgesOfSource edges_of(const HopEdges& hop, const AttentionBins& bins, LocalId head,
                                         std::uint32_t source, int lane) {
  const int entries = min(__shfl_sync(kAllLanes, head, 8), kEdgesPerBin);
  LocalId row = __shfl_sync(kAllLanes, head, 2 * lane & 7), edge = __shfl_sync(kAllLanes, head, (2 * lane + 1) & 7);
  if (entries > 4) {
    const LocalId more =
        lane < 8 ? __ldcs(bins.edges + std::size_t{source} * (2 * kEdgesPerBin) + 8 + lane) : LocalId{0};
    const LocalId more_row = __shfl_sync(kAllLanes, more, 2 * lane & 7),
                  more_edge = __shfl_sync(kAllLanes, more, (2 * lane + 1) & 7);
    if (lane >= 4) row = more_row, edge = more_edge;
  }
  const bool has_loop = source < static_cast<std::uint32_t>(hop.num_dst);
  if (lane >= entries) row = edge = 0;
  if (has_loop && lane == entries) {
    row = static_cast<LocalId>(source);
    edge = __ldg(hop.indptr + source + 1) + row;
  }
  return {entries + has_loop, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(edge)};
}

/// f(source, edges, part, is_listed) for every stride-th item from `first` on, the same for all lanes of a warp:
/// `parts` items for each edge of the list, then `parts` for each source. The next bin is on its way while f works.
template <class F>
__device__ void for_each_source(const HopEdges& hop, const AttentionBins& bins, std::uint32_t parts,
                                std::uint32_t first, std::uint32_t stride, const F& f) {
  const auto num_src = static_cast<std::uint32_t>(hop.num_src), num_listed = __ldg(bins.num_listed),
             num_items = (num_listed + num_src) * parts;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const auto item_of = [&](std::uint32_t p) { return parts == 1 ? p : p / parts; };
  const auto head_at = [&](std::uint32_t p) {  // below the first source, numbers wrap round to some behind the last
    return p < num_items ? head_of_bin(bins, item_of(p) - num_listed, num_src, lane) : 0;
  };
  LocalId head = head_at(first);
#pragma unroll 1
  for (std::uint32_t p = first; p < num_items; p += stride) {
    const LocalId next_head = head_at(p + stride);
    const std::uint32_t item = item_of(p), part = parts == 1 ? 0 : p % parts;
    const bool is_listed = item < num_listed;
    std::uint32_t source = item - num_listed;
    EdgesOfSource edges;
    if (is_listed) {
      const ListedEdge listed = listed_edge(bins, item);
      const bool is_first = lane == 0;
      source = listed.source;
      edges = {1, is_first ? listed.row : 0, is_first ? listed.edge : 0};
    } else {
      edges = edges_of(hop, bins, head, source, lane);
    }
    f(source, edges, part, is_listed);
    head = next_head;
  }
}

// ---- host code -------------------------------------------------------------------------------------------

/// Blocks that add the listed edges to rows. Of hops with hubs the list has several edges for a hundred sources.
inline unsigned blocks_for_listed(const HopEdges& hop) {
  return std::min(blocks_on_device(4), static_cast<unsigned>(hop.num_src / 512 + 1));
}

/// Before the edges are placed: no bin has one.
inline void clear_bins(const AttentionBins& bins, std::int64_t num_src, cudaStream_t stream) {
  cuda_check(
      cudaMemsetAsync(bins.num_listed, 0, static_cast<std::size_t>(num_src + 1) * sizeof(std::uint32_t), stream));
}

}  // namespace salient
