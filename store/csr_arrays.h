// store/csr_arrays.h - a graph in memory that owns its arrays.
#pragma once

#include <cstdint>

#include "core/csr_graph.h"
#include "core/host/huge_vector.h"
#include "core/types.h"

namespace salient {

struct CsrArrays {
  CsrArrays() = default;
  /// @param memory  where the arrays will be; null = this process' own.
  explicit CsrArrays(HostMemory* memory)
      : indptr(UnsetHugePageAllocator<EdgeOffset>(memory)),
        indices(UnsetHugePageAllocator<NodeId>(memory)),
        weights(UnsetHugePageAllocator<float>(memory)),
        times(UnsetHugePageAllocator<std::int64_t>(memory)),
        edges(UnsetHugePageAllocator<std::uint32_t>(memory)) {}

  UnsetHugeVector<EdgeOffset> indptr{};  ///< [V + 1]
  UnsetHugeVector<NodeId> indices{};     ///< [E], each row ascending; with times as EntryData says
  UnsetHugeVector<float> weights{};      ///< [E], or empty: as EntryData, likewise the next
  UnsetHugeVector<std::int64_t> times{};
  UnsetHugeVector<std::uint32_t> edges{};  ///< [E] the number of each one's edge in its source, where asked for
  std::uint64_t self_loops = 0;            ///< entries v in row v; they are part of the graph
  std::uint64_t duplicates = 0;            ///< entries that were met again and left out

  CsrGraph view() const { return {indptr, indices, nullptr, {weights, times}}; }
  bool operator==(const CsrArrays&) const = default;
};

}  // namespace salient
