// models/kernels/transpose.h - a hop's edges grouped by source, for gradients that are summed in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/kernels/hop_edges.h"

namespace salient {

/// The edges of a hop grouped by source, with the position each had before.
struct TransposedHop {
  std::vector<LocalId> indptr;       ///< [num_src + 1]
  std::vector<LocalId> destination;  ///< [edges] ascending within a source
  std::vector<LocalId> edge;         ///< [edges] position in HopEdges::indices
};

/// Counting sort, stable. Cost: two passes over the edges, one of them random; one thread.
TransposedHop transpose(const HopEdges& hop);

/// Device memory that transpose() fills: the arrays of SourceEdges, and what the sort needs meanwhile.
struct TransposeBuffers {
  LocalId* indptr;       ///< [num_src + 1]
  LocalId* destination;  ///< [edges]
  LocalId* edge;         ///< [edges]
  LocalId* keys;         ///< [edges] scratch
  void* scratch;         ///< [scratch_bytes]
  std::size_t scratch_bytes;

  SourceEdges edges() const { return {indptr, destination, edge}; }
};

/// The same on the device: enqueues on `stream` and returns. Oracle: the host's version, bit for bit.
///
/// @param num_edges  hop.indptr[num_dst], which is on the device
/// @param to         its scratch_bytes are transpose_scratch_bytes(num_edges)
/// Cost: a radix sort of 8-byte pairs, a search per edge and per source.
void transpose(const HopEdges& hop, std::int64_t num_edges, const TransposeBuffers& to, CUstream_st* stream);
std::size_t transpose_scratch_bytes(std::int64_t num_edges);

}  // namespace salient
