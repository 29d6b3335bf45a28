// apps/new_node_table.cpp - see new_node_table.h.
#include "apps/new_node_table.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/new_node_ids.h"
#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/edge_file.h"
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
  NewNodeIds all(NodeLookup(dataset), dataset.num_nodes());
  NewNodeTable table{.nodes = {.features = coded_rows(files.nodes, files.id_column, raw_rows_of_table(dataset), all)}};
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
