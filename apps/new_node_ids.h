// apps/new_node_ids.h - ids of new nodes beside those of a data set, or of one of its types, as one numbering.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/importers/name_map.h"
#include "store/node_lookup.h"
#include "store/raw_rows.h"

namespace salient {

/// Known nodes by their rows, new ones behind them.
class NewNodeIds {
 public:
  NewNodeIds(NodeLookup lookup, std::size_t num_known)
      : lookup_(std::move(lookup)),
        num_known_(num_known),
        are_numbers_(lookup_.ids().empty() || !lookup_.ids().numbers().empty()) {}

  /// @return  null, or why it is no new node
  const char* add(std::string_view id);
  std::optional<NodeId> find(std::string_view id) const;

  std::size_t num_known() const { return num_known_; }
  std::size_t num_added() const { return added_.size(); }
  /// Numbers if all are, and the known ones are, too.
  NodeIds ids_of_added() const;

 private:
  std::string form_of(std::string_view id) const;

  NodeLookup lookup_;
  std::size_t num_known_;
  bool are_numbers_;
  NameMap added_{};
};

/// Reads the rows of a table as a data set's own were coded, and adds their ids. @return  [rows, width]
/// @throws as read_feature_table(), and for what add() refuses
std::vector<float> coded_rows(const std::string& file, const std::string& id_column, const RawRows& rows,
                              NewNodeIds& ids);

}  // namespace salient
