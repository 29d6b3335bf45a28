// models/kernels/source_bins.cuh - how threads place the entries of a hop in bins, see source_bins.h.
//
// Work split  kLanesPerPlacedRow lanes per destination, an entry each; stride over destinations.
// Access      a bin is one 32-byte sector, where a count and a row are written; most of the bins are in the L2 cache.
// Limit       the latency of an atomic, kPlacedTogether at a time.
// Sync        integer atomics on the bins' counts, and one for the lanes of a warp that spill together.
#pragma once

#include <cooperative_groups.h>

#include "models/kernels/launch.cuh"
#include "models/kernels/source_bins.h"

namespace salient {

constexpr int kLanesPerPlacedRow = 8, kPlacedTogether = 4;

/// Lanes of one warp may come here alone or together.
__device__ inline void spill(const SpilledEntry& entry, const Bins& bins) {
  const auto group = cooperative_groups::coalesced_threads();
  const auto rank = static_cast<int>(group.thread_rank());
  LocalId first = 0;
  if (rank == 0) first = atomicAdd(bins.num_spilled, static_cast<int>(group.size()));
  bins.spilled[group.shfl(first, 0) + rank] = entry;
}

__device__ inline void put(LocalId source, LocalId row, LocalId position, LocalId slot, const Bins& bins) {
  if (slot >= kEntriesPerBin) return spill({source, row, position}, bins);
  bins.of[source].row[slot] = row;
  if (bins.position != nullptr) bins.position[std::int64_t{source} * 8 + slot] = position;
}

__device__ inline void clear_row(const RowsOfSources& rows, LocalId source) {
  for (std::int64_t column = 0; column < rows.width; ++column) rows.values[source * rows.width + column] = 0;
}

/// The part of bin_by_source() that thread number `thread` of `threads` has, after the bins were cleared.
__device__ inline void place_entries(const HopEdges& hop, OwnEntries own, const Bins& bins, const RowsOfSources& rows,
                                     std::int64_t thread, std::int64_t threads) {
  for (std::int64_t i = thread / kLanesPerPlacedRow; i < hop.num_dst; i += threads / kLanesPerPlacedRow) {
    const LocalId last = __ldg(hop.indptr + i + 1);
    for (LocalId e = __ldg(hop.indptr + i) + static_cast<LocalId>(thread % kLanesPerPlacedRow); e < last;
         e += kPlacedTogether * kLanesPerPlacedRow) {
      LocalId source[kPlacedTogether], slot[kPlacedTogether];
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k) {
        source[k] = e + k * kLanesPerPlacedRow < last ? __ldg(hop.indices + e + k * kLanesPerPlacedRow) : -1;
        if (own == OwnEntries::kMasked && source[k] == i) source[k] = -1;
      }
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        if (source[k] >= 0) slot[k] = atomicAdd(&bins.of[source[k]].count, 1);
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        if (source[k] >= 0) put(source[k], static_cast<LocalId>(i), e + k * kLanesPerPlacedRow, slot[k], bins);
#pragma unroll
      for (int k = 0; k < kPlacedTogether; ++k)
        if (source[k] >= 0 && slot[k] == kEntriesPerBin && rows.values != nullptr) clear_row(rows, source[k]);
    }
  }
}

/// Blocks that place a hop's entries.
inline unsigned blocks_to_place(const HopEdges& hop) { return blocks_for(hop.num_dst * kLanesPerPlacedRow); }

}  // namespace salient
