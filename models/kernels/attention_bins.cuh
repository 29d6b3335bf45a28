// models/kernels/attention_bins.cuh - the attention edges of a source from its bin, one edge per lane of a warp.
#pragma once

#include "models/kernels/attention_edges.cuh"
#include "models/kernels/source_bins.h"

namespace salient {

constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// The bin of a source and the positions of its entries, a value per lane; 0 from lane 16 on, and behind the sources.
__device__ inline LocalId values_of_bin(const Bins& bins, std::uint32_t source, std::uint32_t num_src, int lane) {
  if (source >= num_src || lane >= 16) return 0;
  const LocalId* const values = lane < 8 ? reinterpret_cast<const LocalId*>(bins.of) : bins.position;
  return __ldcs(values + std::size_t{source} * 8 + lane % 8);
}

/// The edges of a source: lane t has number t.
struct EdgesOfSource {
  int count;
  LocalId row;         ///< 0 in lanes from `count` on
  std::uint32_t edge;  ///< likewise
  bool are_all;        ///< false: the source has others, too; gradients of its row are added up by atomics

  /// Number t for all lanes; the last one where there are fewer.
  __device__ LocalId row_at(int t) const { return __shfl_sync(kAllLanes, row, min(t, count - 1)); }
  __device__ std::uint32_t edge_at(int t) const { return __shfl_sync(kAllLanes, edge, min(t, count - 1)); }
};

/// The entries of a bin, then the source's self loop if it is a destination.
__device__ inline EdgesOfSource edges_of(const HopEdges& hop, LocalId value, std::uint32_t source, int lane) {
  const LocalId all_entries = __shfl_sync(kAllLanes, value, 0);
  const int entries = min(all_entries, kEntriesPerBin);
  const bool has_loop = source < hop.num_dst;
  LocalId row = __shfl_sync(kAllLanes, value, lane + 1), position = __shfl_sync(kAllLanes, value, lane + 8);
  if (lane >= entries) row = position = 0;
  if (has_loop && lane == entries) {
    row = static_cast<LocalId>(source);
    position = __ldg(hop.indptr + source + 1);
  }
  return {entries + has_loop, row, static_cast<std::uint32_t>(position) + static_cast<std::uint32_t>(row),
          all_entries <= kEntriesPerBin};
}

/// f(source, edges, part) for every stride-th item from `first` on, the same for all lanes of a warp: `parts` items for
/// each entry that found its bin full, then `parts` for each source. The next bin is on its way while f works.
template <class F>
__device__ void for_each_source(const HopEdges& hop, const Bins& bins, std::uint32_t parts, std::uint32_t first,
                                std::uint32_t stride, const F& f) {
  const auto num_src = static_cast<std::uint32_t>(hop.num_src),
             num_spilled = static_cast<std::uint32_t>(*bins.num_spilled);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const auto bin_at = [&](std::uint32_t p) {  // below the first source, numbers wrap round to some behind the last
    return values_of_bin(bins, p / parts - num_spilled, num_src, lane);
  };
  LocalId value = bin_at(first);
#pragma unroll 1
  for (std::uint32_t p = first; p < (num_spilled + num_src) * parts; p += stride) {
    const LocalId next_value = bin_at(p + stride);
    std::uint32_t source = p / parts - num_spilled;
    EdgesOfSource edges;
    if (p / parts < num_spilled) {
      const SpilledEntry entry = bins.spilled[p / parts];
      source = static_cast<std::uint32_t>(entry.source);
      edges = {1, entry.row, static_cast<std::uint32_t>(entry.position) + static_cast<std::uint32_t>(entry.row), false};
    } else {
      edges = edges_of(hop, value, source, lane);
    }
    f(source, edges, p % parts);
    value = next_value;
  }
}

}  // namespace salient
