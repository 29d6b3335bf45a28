// apps/new_nodes.h - nodes that a data set lacks: their features, and the nodes that they aggregate from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

namespace salient {

/// Beside a data set of V nodes, new node i has the id V + i. Rows of known nodes stay as they are: a new node sees
/// known ones, no known node sees a new one.
struct NewNodes {
  std::vector<float> features{};           ///< [num_nodes, feature_dim]
  std::vector<std::int64_t> indptr = {0};  ///< [num_nodes + 1]
  std::vector<NodeId> indices{};           ///< row i: in-neighbours of new node i, distinct, known ones or new ones

  std::size_t num_nodes() const { return indptr.size() - 1; }
  std::span<const NodeId> row(std::size_t i) const {
    return std::span(indices).subspan(static_cast<std::size_t>(indptr[i]),
                                      static_cast<std::size_t>(indptr[i + 1] - indptr[i]));
  }
};

}  // namespace salient
