// prepare/importers/node_index.h - which node an id of the user's files is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_map.h"
#include "store/near_rows.h"

namespace salient {

/// Three kinds of ids: row numbers, other numbers, names. Node numbers of the second are the ranks of the ids.
class NodeIndex {
 public:
  /// Ids are row numbers from `first` on.
  static NodeIndex of_rows(std::uint64_t num_nodes, std::uint64_t first = 0);
  /// Every id of the lists, in any order and number.
  /// @throws Error{kHostMemory}
  /// Cost: two passes and a bit per number up to the largest id; where ids are sparse, sorting a copy of them, and a
  ///       binary search for each find().
  static NodeIndex of_numbers(std::span<const std::span<const std::uint64_t>> lists, const MemoryLimit& memory);
  /// The same, by sorting. @param ids  of all lists
  static NodeIndex of_numbers_reference(std::vector<std::uint64_t> ids);
  static NodeIndex of_names(NameMap names);

  /// nullopt for an id that no node has, and for what is no id.
  std::optional<NodeId> find(std::string_view id) const;
  std::optional<NodeId> find(std::uint64_t id) const;  ///< not of names

  std::uint64_t num_nodes() const { return num_nodes_; }
  bool has_names() const { return names_.size() > 0; }
  /// Whether the id of node v is v.
  bool are_rows() const { return !has_names() && words_.empty() && ascending_.empty() && first_ == 0; }

  std::vector<std::uint64_t> take_numbers();  ///< of all nodes; empty if they are row numbers from 0 on
  NameTable take_names() { return names_.take(); }

 private:
  static NodeIndex of_dense_numbers(std::span<const std::span<const std::uint64_t>> lists, std::uint64_t largest);

  std::uint64_t num_nodes_ = 0, first_ = 0;
  std::vector<std::uint64_t> ascending_{};  ///< sparse numbers
  std::vector<NodeSetWord> words_{};        ///< other numbers with gaps
  NameMap names_{};
};

}  // namespace salient
