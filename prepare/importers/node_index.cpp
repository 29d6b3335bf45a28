// prepare/importers/node_index.cpp - see node_index.h.
#include "prepare/importers/node_index.h"

#include <algorithm>

#include "prepare/formats/table_line.h"

namespace salient {

NodeIndex NodeIndex::of_rows(std::uint64_t num_nodes) {
  NodeIndex index;
  index.num_nodes_ = num_nodes;
  return index;
}

/// Numbers without a gap from 0 on are row numbers.
NodeIndex NodeIndex::of_numbers(std::vector<std::uint64_t> ascending) {
  NodeIndex index = of_rows(ascending.size());
  if (!ascending.empty() && ascending.back() != ascending.size() - 1) index.ascending_ = std::move(ascending);
  return index;
}

NodeIndex NodeIndex::of_names(NameMap names) {
  NodeIndex index = of_rows(names.size());
  index.names_ = std::move(names);
  return index;
}

std::optional<NodeId> NodeIndex::find(std::uint64_t id) const {
  if (ascending_.empty()) return id < num_nodes_ ? std::optional(static_cast<NodeId>(id)) : std::nullopt;
  const auto found = std::ranges::lower_bound(ascending_, id);
  if (found == ascending_.end() || *found != id) return std::nullopt;
  return static_cast<NodeId>(found - ascending_.begin());
}

std::optional<NodeId> NodeIndex::find(std::string_view id) const {
  if (has_names()) return names_.find(id);
  std::uint64_t number = 0;
  return parse_id(id, number) ? find(number) : std::nullopt;
}

}  // namespace salient
