// core/csr_graph.h - the graph as a sampler sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.h"

namespace salient {

/// Borrowed compressed-sparse-row graph: row v lists the nodes that v aggregates from. The spans must outlive every
/// reader. Whoever opens the file checks the rules below once; samplers rely on them.
struct CsrGraph {
  std::span<const EdgeOffset> indptr;  ///< [V + 1], starts at 0, non-decreasing, ends at E; rows shorter than 2^32
  std::span<const NodeId> indices;     ///< [E], each in [0, V)

  std::size_t num_nodes() const { return indptr.empty() ? 0 : indptr.size() - 1; }
  std::int64_t num_bytes() const { return static_cast<std::int64_t>(indptr.size_bytes() + indices.size_bytes()); }
};

}  // namespace salient
