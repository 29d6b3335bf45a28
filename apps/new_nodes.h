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
///
/// Of a typed graph each has a type. The rows of a node are then its slots, one for each relation into its type
/// (core/slot_table.h), and its features are as wide as those of its type, of a type without features none. Those of
/// the target type are predicted, the others are there as neighbours.
struct NewNodes {
  std::vector<float> features{};           ///< [num_nodes, feature_dim], node after node
  std::vector<std::int64_t> indptr = {0};  ///< [rows + 1], node after node; of a plain graph a node is a row
  std::vector<NodeId> indices{};           ///< of each row: in-neighbours, distinct, known ones or new ones
  std::vector<std::uint8_t> types{};       ///< [num_nodes] of a typed graph alone
  std::vector<NodeId> predicted{};         ///< likewise: the nodes of the target type, by their places from 0

  std::size_t num_nodes() const { return types.empty() ? indptr.size() - 1 : types.size(); }
  std::size_t num_predicted() const { return types.empty() ? num_nodes() : predicted.size(); }
  /// The place of the i-th that is predicted.
  std::size_t predicted_place(std::size_t i) const { return types.empty() ? i : predicted[i]; }
  std::span<const NodeId> row(std::size_t r) const {
    return std::span(indices).subspan(static_cast<std::size_t>(indptr[r]),
                                      static_cast<std::size_t>(indptr[r + 1] - indptr[r]));
  }
};

}  // namespace salient
