// loaders/node_set.h - some nodes of a graph, numbered by their ids' order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "store/near_rows.h"

namespace salient {

/// Answers from one cache line whether a node is in it and how many members have lower ids. It takes 2 bits per node of
/// the graph, so that all cores can keep much of it in their caches.
class NodeSet {
 public:
  static constexpr std::uint32_t kAbsent = kNotInSet;

  /// @param members  ascending, distinct, each below `num_nodes`.
  NodeSet(std::size_t num_nodes, std::span<const NodeId> members);

  /// The number of members with lower ids, or kAbsent. @param node  below num_nodes
  std::uint32_t index_of(NodeId node) const { return index_in_set(words_.data(), node); }

  /// Hints that `node` will be asked for soon.
  void prefetch(NodeId node) const { __builtin_prefetch(&words_[node / kBits]); }

  std::size_t size() const { return size_; }

  /// For NearRows: the same answers elsewhere.
  std::span<const NodeSetWord> words() const { return words_; }

 private:
  static constexpr std::uint32_t kBits = 32;
  std::vector<NodeSetWord> words_;
  std::size_t size_ = 0;
};

/// What a NodeSet of a graph takes.
constexpr std::int64_t node_set_bytes(std::size_t num_nodes) { return static_cast<std::int64_t>(num_nodes / 4); }

}  // namespace salient
