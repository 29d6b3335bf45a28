// apps/new_node_ids.cpp - see new_node_ids.h.
#include "apps/new_node_ids.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/id_text.h"
#include "prepare/importers/feature_table.h"

namespace salient {
namespace {

/// Columns are found by their names, so there is a header, unless those are places.
HeaderRule header_of(const TableCoding& coding) {
  return std::ranges::all_of(coding.columns, [](const ColumnCoding& c) { return c.name.starts_with("column "); })
             ? HeaderRule::kAuto
             : HeaderRule::kYes;
}

}  // namespace

const char* NewNodeIds::add(std::string_view id) {
  if (lookup_.find(id, NodesBy::kId)) return "the data set has this node: it is no new one";
  const std::size_t before = added_.size();
  added_.add(form_of(id));
  return added_.size() == before ? "this node has a line already" : nullptr;
}

std::optional<NodeId> NewNodeIds::find(std::string_view id) const {
  if (const std::optional<NodeId> place = added_.find(form_of(id))) return static_cast<NodeId>(num_known_ + *place);
  return lookup_.find(id, NodesBy::kId);
}

NodeIds NewNodeIds::ids_of_added() const {
  std::vector<std::uint64_t> numbers(added_.size());
  std::vector<std::string> names;
  bool all_numbers = are_numbers_;
  for (std::size_t i = 0; i < added_.size(); ++i) {
    names.emplace_back(added_.names()[i]);
    all_numbers = all_numbers && parse_id(names.back(), numbers[i]);
  }
  return all_numbers ? NodeIds::of_numbers(std::move(numbers)) : NodeIds::of_names(names);
}

/// Where ids are numbers "007" and "7" are one node.
std::string NewNodeIds::form_of(std::string_view id) const {
  std::uint64_t number = 0;
  return are_numbers_ && parse_id(id, number) ? std::to_string(number) : std::string(id);
}

std::vector<float> coded_rows(const std::string& file, const std::string& id_column, const RawRows& rows,
                              NewNodeIds& ids) {
  const NodeTableOptions table{.id_column = id_column, .header = header_of(rows.coding)};
  const FeatureTableOptions how{.wishes = {.coding = rows.coding}, .type = FeatureType::kF32};
  const RawFeatures read =
      read_feature_table(file, table, how, [&](std::string_view id) { return ids.add(id); }).features;
  std::vector<float> coded(read.rows.size() / sizeof(float)), features(coded.size());
  if (!coded.empty()) std::memcpy(coded.data(), read.rows.data(), read.rows.size());
  place_rows(rows, coded, features);
  return features;
}

}  // namespace salient
