// store/near_rows.h - rows of a table that are behind its end a second time, in memory that is nearer to the reader.
#pragma once

#include <bit>
#include <cstdint>

#include "core/philox.h"
#include "core/types.h"

namespace salient {

/// Of 32 nodes: which are members of a set, and how many members have lower ids than all of them.
struct NodeSetWord {
  std::uint32_t members = 0;
  std::uint32_t before = 0;
};

inline constexpr std::uint32_t kNotInSet = 0xFFFFFFFF;

/// The number of members with lower ids, or kNotInSet. @param words  of all nodes, [(V + 31) / 32]
SALIENT_HOST_DEVICE inline std::uint32_t index_in_set(const NodeSetWord* words, NodeId node) {
  const NodeSetWord word = words[node / 32];
  const std::uint32_t bit = std::uint32_t{1} << (node % 32), lower = word.members & (bit - 1);
  if ((word.members & bit) == 0) return kNotInSet;
#ifdef __CUDA_ARCH__
  return word.before + static_cast<std::uint32_t>(__popc(static_cast<int>(lower)));
#else
  return word.before + static_cast<std::uint32_t>(std::popcount(lower));
#endif
}

/// A set of nodes whose rows have such a copy. Passed by value, to kernels too.
struct NearRows {
  const NodeSetWord* words = nullptr;  ///< of the set, where the rows are read; null: no row has a copy
  NodeId first = 0;                    ///< number of the first copy; they are in the order of the nodes' ids

  /// The row to read for a node.
  SALIENT_HOST_DEVICE NodeId row_of(NodeId node) const {
    if (words == nullptr) return node;
    const std::uint32_t index = index_in_set(words, node);
    return index == kNotInSet ? node : first + index;
  }
};

}  // namespace salient
