// models/kernels/hop_edges.h - the edges of one hop as plain arrays, and where a gradient over them is computed.
#pragma once

#include <cstdint>

#include "core/types.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// A hop's edges, grouped by destination. Borrows both arrays.
struct HopEdges {
  const LocalId* indptr;   ///< [num_dst + 1]
  const LocalId* indices;  ///< [indptr[num_dst]], each in [0, num_src)
  std::int64_t num_dst;
  std::int64_t num_src;
};

/// The edges of a hop grouped by source, on the device; borrows its arrays. Where they are null, gradients are added
/// up by atomics, in any order.
struct SourceEdges {
  const LocalId* indptr = nullptr;       ///< [num_src + 1]
  const LocalId* destination = nullptr;  ///< [edges] ascending within a source
  const LocalId* edge = nullptr;         ///< [edges] position in HopEdges::indices
};

/// Device memory for entries that are binned by source, see source_bins.h. Null: rows are added by atomics alone.
struct SourceBins {
  LocalId* memory = nullptr;  ///< [source_bins_size()] need not be initialised; aligned to 32 bytes
};

/// Where a gradient is computed on the device: the stream, and the edges by source if its order of summation is fixed.
/// In any order, the gradients of neighbour sums without weights take the bins if there are any.
struct BackwardStream {
  BackwardStream(CUstream_st* on) : stream(on) {}  // NOLINT(google-explicit-constructor): a stream is enough
  BackwardStream(CUstream_st* on, const SourceEdges& edges) : stream(on), by_source(edges) {}
  BackwardStream(CUstream_st* on, const SourceBins& memory) : stream(on), bins(memory) {}
  operator CUstream_st*() const { return stream; }  // NOLINT(google-explicit-constructor): for what needs no more
  bool is_ordered() const { return by_source.indptr != nullptr; }
  bool has_bins() const { return bins.memory != nullptr; }

  CUstream_st* stream;
  SourceEdges by_source{};
  SourceBins bins{};
};

}  // namespace salient
