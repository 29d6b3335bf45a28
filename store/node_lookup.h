// store/node_lookup.h - which node is meant: by the id that the source of a data set gave it, or by its row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"
#include "store/node_ids.h"

namespace salient {

/// How a node is named. The programs, the server and Python take ids unless rows are asked for: a number that could be
/// either is never guessed.
enum class NodesBy : std::uint8_t {
  kId,   ///< what the source calls it; where a data set has no ids of its own, its row
  kRow,  ///< its place in the arrays of the store, from 0
};

constexpr auto names_of(NodesBy) {
  return std::to_array<EnumName<NodesBy>>({{NodesBy::kId, "id"}, {NodesBy::kRow, "row"}});
}

/// The way back of NodeIds. Threads: any.
/// Cost: of text, and of numbers that do not ascend, 4 bytes a node and a sort at the start; a search compares log2(V)
///       ids.
class NodeLookup {
 public:
  NodeLookup(NodeIds ids, std::size_t num_nodes);
  explicit NodeLookup(const Dataset& dataset) : NodeLookup(NodeIds::of(dataset), dataset.num_nodes()) {}

  const NodeIds& ids() const { return ids_; }

  /// @param said  a number as text is that number, as prepare reads ids: "7", "007" and "7.0" are 7
  std::optional<NodeId> find(std::string_view said, NodesBy by) const;
  std::optional<NodeId> find(std::uint64_t said, NodesBy by) const;

  /// The rule that what find() does not find breaks, to be read behind it.
  std::string rule_of(std::string_view said, NodesBy by) const;
  std::string rule_of(std::uint64_t said, NodesBy by) const;

 private:
  bool takes_rows(NodesBy by) const { return by == NodesBy::kRow || ids_.empty(); }
  std::optional<NodeId> row(std::uint64_t number) const;
  template <class Id, class IdOf>
  std::optional<NodeId> search(const Id& wanted, IdOf id_of) const;
  std::string rule_of_ids() const;

  NodeIds ids_;
  std::size_t num_nodes_;
  std::vector<NodeId> by_id_{};  // nodes in the order of their ids; empty: as they are
};

}  // namespace salient
