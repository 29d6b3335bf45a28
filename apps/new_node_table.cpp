// apps/new_node_table.cpp - see new_node_table.h.
#include "apps/new_node_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/id_text.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/name_map.h"
#include "store/node_lookup.h"
#include "store/raw_rows.h"

namespace salient {
namespace {

RawRows raw_rows_of_table(const Dataset& dataset) {
  std::optional<RawRows> rows = raw_rows_of(dataset, dataset.name);
  if (!rows)
    fail(ErrorKind::kBadData, dataset.name + ": its features were not made of a table with names of columns, so that " +
                                  "rows of a table cannot become features");
  return *std::move(rows);
}

/// Columns are found by their names, so there is a header, unless those are places.
HeaderRule header_of(const TableCoding& coding) {
  return std::ranges::all_of(coding.columns, [](const ColumnCoding& c) { return c.name.starts_with("column "); })
             ? HeaderRule::kAuto
             : HeaderRule::kYes;
}

/// New ids and known ones as one numbering: known nodes by their rows, new ones behind them.
class AllNodes {
 public:
  explicit AllNodes(const Dataset& dataset)
      : lookup_(dataset),
        num_known_(dataset.num_nodes()),
        are_numbers_(lookup_.ids().empty() || !lookup_.ids().numbers().empty()) {}

  /// @return  null, or why it is no new node
  const char* add(std::string_view id) {
    if (lookup_.find(id, NodesBy::kId)) return "the data set has this node: it is no new one";
    const std::size_t before = added_.size();
    added_.add(form_of(id));
    return added_.size() == before ? "this node has a line already" : nullptr;
  }

  std::optional<NodeId> find(std::string_view id) const {
    if (const std::optional<NodeId> place = added_.find(form_of(id))) return static_cast<NodeId>(num_known_ + *place);
    return lookup_.find(id, NodesBy::kId);
  }

  NodeIds ids_of_added() const {
    std::vector<std::uint64_t> numbers(added_.size());
    std::vector<std::string> names;
    bool all_numbers = are_numbers_;
    for (std::size_t i = 0; i < added_.size(); ++i) {
      names.emplace_back(added_.names()[i]);
      all_numbers = all_numbers && parse_id(names.back(), numbers[i]);
    }
    return all_numbers ? NodeIds::of_numbers(std::move(numbers)) : NodeIds::of_names(names);
  }

 private:
  /// Where ids are numbers "007" and "7" are one node.
  std::string form_of(std::string_view id) const {
    std::uint64_t number = 0;
    return are_numbers_ && parse_id(id, number) ? std::to_string(number) : std::string(id);
  }

  NodeLookup lookup_;
  std::size_t num_known_;
  bool are_numbers_;
  NameMap added_{};
};

std::vector<float> features_of(const NewNodeFiles& files, const RawRows& rows, AllNodes& all) {
  const NodeTableOptions table{.id_column = files.id_column, .header = header_of(rows.coding)};
  const FeatureTableOptions how{.wishes = {.coding = rows.coding}, .type = FeatureType::kF32};
  const RawFeatures read =
      read_feature_table(files.nodes, table, how, [&](std::string_view id) { return all.add(id); }).features;
  std::vector<float> coded(read.rows.size() / sizeof(float)), features(coded.size());
  if (!coded.empty()) std::memcpy(coded.data(), read.rows.data(), read.rows.size());
  place_rows(rows, coded, features);
  return features;
}

/// Who sees whom: new nodes' rows, ascending and distinct.
void set_rows(const NodePairs& edges, const Dataset& dataset, const std::string& file, NewNodes& nodes,
              std::size_t num_new) {
  const std::size_t num_known = dataset.num_nodes();
  std::vector<std::vector<NodeId>> rows(num_new);
  std::size_t num_unseen = 0;
  for (std::size_t e = 0; e < edges.sources.size(); ++e) {
    const NodeId source = edges.sources[e], destination = edges.destinations[e];
    const bool is_seen_by_source = dataset.is_symmetric && source >= num_known;
    if (destination >= num_known) rows[destination - num_known].push_back(source);
    if (is_seen_by_source) rows[source - num_known].push_back(destination);
    if (destination < num_known && !is_seen_by_source) ++num_unseen;
  }
  if (num_unseen > 0)
    log_warning(file + ": " + std::to_string(num_unseen) + " edges are left out: they lead to nodes of the data set, " +
                "which do not see new ones");
  std::size_t num_alone = 0;
  for (std::vector<NodeId>& row : rows) {
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
    if (row.empty()) ++num_alone;
    nodes.indices.insert(nodes.indices.end(), row.begin(), row.end());
    nodes.indptr.push_back(std::ssize(nodes.indices));
  }
  if (num_alone > 0)
    log_info(std::to_string(num_alone) + " of " + std::to_string(num_new) + " new nodes have no neighbour");
}

}  // namespace

NewNodeTable read_new_nodes(const Dataset& dataset, const NewNodeFiles& files) {
  AllNodes all(dataset);
  NewNodeTable table{.nodes = {.features = features_of(files, raw_rows_of_table(dataset), all)}};
  table.ids = all.ids_of_added();
  const std::size_t num_new = table.nodes.features.size() / static_cast<std::size_t>(dataset.feature_dim);
  if (num_new == 0) fail(ErrorKind::kBadData, files.nodes + ": has no row below its header");
  NodePairs edges;
  const auto find = [&](std::string_view id) { return all.find(id); };
  if (!files.edges.empty())
    edges = read_edges_of_names(
        files.edges, {.ids = IdKind::kText, .is_node = [&](std::string_view id) { return find(id).has_value(); }},
        [&](std::string_view id, std::size_t /*end*/) { return find(id); });
  set_rows(edges, dataset, files.edges, table.nodes, num_new);
  return table;
}

Dataset unlabelled_nodes(const DatasetFacts& facts, std::size_t num_nodes) {
  struct Labels {
    std::vector<std::int32_t> classes{};
    std::vector<std::int8_t> flags{};
    std::vector<float> values{};
  };
  const auto labels = std::make_shared<Labels>();
  Dataset nodes;
  nodes.facts() = facts;
  const std::size_t count = num_nodes * static_cast<std::size_t>(nodes.label_type().width);
  switch (facts.task) {
    case Task::kMultiClass: labels->classes.assign(count, -1); break;
    case Task::kMultiLabel: labels->flags.assign(count, -1); break;
    case Task::kRegression: labels->values.assign(count, std::numeric_limits<float>::quiet_NaN()); break;
  }
  nodes.labels = labels->classes;
  nodes.multi_labels = labels->flags;
  nodes.targets = labels->values;
  nodes.storage = labels;
  return nodes;
}

}  // namespace salient
