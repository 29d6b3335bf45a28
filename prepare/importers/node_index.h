// prepare/importers/node_index.h - which node an id of the user's files is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"
#include "prepare/importers/name_map.h"

namespace salient {

/// Three kinds of ids: row numbers, other numbers, names. Node numbers of the second are the ranks of the ids.
class NodeIndex {
 public:
  /// Ids are the row numbers 0 to num_nodes - 1.
  static NodeIndex of_rows(std::uint64_t num_nodes);
  /// @param ascending  each id once
  static NodeIndex of_numbers(std::vector<std::uint64_t> ascending);
  static NodeIndex of_names(NameMap names);

  /// nullopt for an id that no node has, and for what is no id.
  std::optional<NodeId> find(std::string_view id) const;
  std::optional<NodeId> find(std::uint64_t id) const;  ///< not of names

  std::uint64_t num_nodes() const { return num_nodes_; }
  bool has_names() const { return names_.size() > 0; }

  std::vector<std::uint64_t> take_numbers() { return std::move(ascending_); }  ///< empty if ids are row numbers
  NameTable take_names() { return names_.take(); }

 private:
  std::uint64_t num_nodes_ = 0;
  std::vector<std::uint64_t> ascending_{};  ///< empty: of_rows(), or of_names()
  NameMap names_{};
};

}  // namespace salient
