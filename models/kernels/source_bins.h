// models/kernels/source_bins.h - a hop's entries binned by source on the device, so that a gradient is gathered by
// source, and written once, instead of added to by atomics.
//
// By runs of the kernel workbench: workbench/results/segment_mean_backward-astra, attention_backward-astra.
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
  LocalId source, row, position;
};

/// Whether an entry of row i that is i itself counts. Attention masks it.
enum class OwnEntries : std::uint8_t { kKept, kMasked };

/// What is kept of an entry: its row, or its position in HopEdges::indices too.
enum class Kept : std::uint8_t { kRows, kRowsAndPositions };

/// SourceBins::memory as its parts.
struct Bins {
  Bin* of;               ///< [num_src + 1]
  LocalId* position;     ///< [num_src * 8] of the entries in the bins; null if positions are not kept
  LocalId* num_spilled;  ///< the count of the bin behind the last source's
  SpilledEntry* spilled;

  static Bins make(const SourceBins& in, Kept kept, std::int64_t num_src) {
    Bin* const of = reinterpret_cast<Bin*>(in.memory);
    LocalId* const rest = in.memory + 8 * (num_src + 1);
    const bool has_positions = kept == Kept::kRowsAndPositions;
    return {of, has_positions ? rest : nullptr, &of[num_src].count,
            reinterpret_cast<SpilledEntry*>(rest + (has_positions ? 8 * num_src : 0))};
  }
};

/// The values of SourceBins::memory that a hop needs.
constexpr std::int64_t source_bins_size(Kept kept, std::int64_t num_src, std::int64_t num_edges) {
  return 8 * (num_src + 1) + (kept == Kept::kRowsAndPositions ? 8 * num_src : 0) + 3 * num_edges;
}

/// Whether gathering by source is the faster way on the whole, for rows of `width` values; measured for 1.25 and 1.5
/// entries a source. Otherwise most entries find their bin full, or the gradient stays in the L2 cache, where atomics
/// are cheap.
constexpr bool are_bins_faster(std::int64_t num_src, std::int64_t num_edges, std::int64_t width) {
  return num_edges <= 4 * num_src && num_src * width >= std::int64_t{1} << 22;
}

/// A gradient's rows, or none.
struct RowsOfSources {
  float* values = nullptr;  ///< [num_src, width]
  std::int64_t width = 0;
};

/// Fills the bins. Clears the given rows of those sources whose bin is too small: their parts are added up, where the
/// others are written once. Enqueues on `stream` and returns.
/// Determinism: entries of a source are in any order.   Cost: 32 bytes a source, an integer atomic an entry.
void bin_by_source(const HopEdges& hop, OwnEntries own, const Bins& bins, const RowsOfSources& rows,
                   CUstream_st* stream);

/// Its first step: no bin has an entry.
void clear_bins(const Bins& bins, std::int64_t num_src, CUstream_st* stream);

/// Blocks of kThreadsPerBlock threads, `per_multiprocessor` on each of the device's.
unsigned blocks_on_device(int per_multiprocessor);

}  // namespace salient
