// models/kernels/source_bins.h - a hop's entries binned by source on the device, so that a gradient is gathered by
// source, and written once, instead of added to by atomics.
//
// By a run of the kernel workbench: workbench/results/segment_mean_backward-astra. Attention, which needs the numbers
// of edges too, has bins of its own: attention_bins.h.
#pragma once

#include <cstdint>

#include "models/kernels/hop_edges.h"

namespace salient {

inline constexpr int kEntriesPerBin = 7;

/// The destinations of a source's entries.
struct alignas(32) Bin {
  LocalId count;  ///< of all entries of the source; may be above kEntriesPerBin
  LocalId row[kEntriesPerBin];
};

/// An entry that found its bin full.
struct SpilledEntry {
  LocalId source, row;
};

/// SourceBins::memory as its parts.
struct Bins {
  Bin* of;               ///< [num_src + 1]
  LocalId* num_spilled;  ///< the count of the bin behind the last source's
  SpilledEntry* spilled;

  static Bins make(const SourceBins& in, std::int64_t num_src) {
    Bin* const of = reinterpret_cast<Bin*>(in.memory);
    return {of, &of[num_src].count, reinterpret_cast<SpilledEntry*>(in.memory + 8 * (num_src + 1))};
  }
};

/// The values of SourceBins::memory that a hop needs.
constexpr std::int64_t source_bins_size(std::int64_t num_src, std::int64_t num_edges) {
  return 8 * (num_src + 1) + 2 * num_edges;
}

/// Whether gathering by source is the faster way on the whole, for rows of `width` values; measured for 1.25 and 1.5
/// entries a source. Otherwise most entries find their bin full, or the gradient stays in the L2 cache, where atomics
/// are cheap.
constexpr bool are_bins_faster(std::int64_t num_src, std::int64_t num_edges, std::int64_t width) {
  return num_edges <= 4 * num_src && num_src * width >= std::int64_t{1} << 22;
}

/// Fills the bins. Enqueues on `stream` and returns.
/// Determinism: entries of a source are in any order.   Cost: 32 bytes a source, an integer atomic an entry.
void bin_by_source(const HopEdges& hop, const Bins& bins, CUstream_st* stream);

/// Blocks of kThreadsPerBlock threads, `per_multiprocessor` on each of the device's.
unsigned blocks_on_device(int per_multiprocessor);

}  // namespace salient
