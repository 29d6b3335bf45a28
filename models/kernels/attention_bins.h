// models/kernels/attention_bins.h - a hop's edges binned by source on the device, for the gradients of attention.
//
// The kernels of the logits, which read every edge's source, place the edges by the way; the gradients of rows are then
// gathered by source and written once, instead of added to by atomics.
#pragma once

#include "models/kernels/attention_edges.h"
#include "models/kernels/source_bins.h"

namespace salient {

inline constexpr int kEdgesPerBin = 8;

/// Of each source the first edges that came, and a list of the others; masked edges and self loops are in neither. Null
/// where no gradient takes bins.
struct AttentionBins {
  std::uint32_t* num_listed = nullptr;
  std::uint32_t* counts = nullptr;  ///< [num_src] of a source's edges; may be above kEdgesPerBin
  LocalId* edges = nullptr;         ///< [num_src, kEdgesPerBin, 2] row and edge
  LocalId* listed = nullptr;        ///< [entries, 3] source, row, edge

  /// @param memory  [attention_bins_size()] aligned to 64 bytes; need not be initialised
  static AttentionBins make(LocalId* memory, std::int64_t num_src) {
    auto* const first = reinterpret_cast<std::uint32_t*>(memory);
    LocalId* const edges = memory + size_of_counts(num_src);
    return {first, first + 1, edges, edges + std::int64_t{2 * kEdgesPerBin} * num_src};
  }
  static constexpr std::int64_t size_of_counts(std::int64_t num_src) { return (num_src + 16) / 16 * 16; }
  bool are_taken() const { return counts != nullptr; }
};

constexpr std::int64_t attention_bins_size(std::int64_t num_src, std::int64_t num_entries) {
  return AttentionBins::size_of_counts(num_src) + 2 * kEdgesPerBin * num_src + 3 * num_entries;
}

/// Where logits are computed on the device, and what they keep for a gradient by bins, if it is not null.
struct LogitsStream {
  LogitsStream(CUstream_st* on) : stream(on) {}  // NOLINT(google-explicit-constructor): a stream is enough
  LogitsStream(CUstream_st* on, const AttentionBins& kept, std::uint8_t* kept_signs = nullptr)
      : stream(on), bins(kept), signs(kept_signs) {}

  CUstream_st* stream;
  AttentionBins bins{};
  std::uint8_t* signs = nullptr;  ///< GATv2's, see gatv2_bins.h
};

}  // namespace salient
