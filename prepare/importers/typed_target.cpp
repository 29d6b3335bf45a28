// prepare/importers/typed_target.cpp - see typed_target.h.
#include "prepare/importers/typed_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "prepare/importers/edges_options.h"
#include "prepare/importers/labelled_split.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/typed_nodes.h"
#include "store/dataset_checks.h"

namespace salient {
namespace {

constexpr const char* kNoNode = "no node of the type has this id";

class Target {
 public:
  Target(const TypedOptions& options, const NodeType& type, const NodeIndex& nodes, RawGraph& graph)
      : options_(options), type_(type), nodes_(nodes), graph_(graph) {
    table_ = table_options(options);
    table_.is_shared = std::ranges::any_of(options.nodes, [&](const NodeSource& source) {
      return source.type == type.name && source.file == options.labels;
    });
    table_.ids_are_numbers = !nodes.has_names();
    table_.is_node = [&nodes](std::string_view id) { return nodes.find(id).has_value(); };
  }

  void read_labels() {
    if (!is_text_table(options_.labels)) {
      if (options_.targets.empty())
        salient::read_labels(options_.labels, graph_, options_.memory);
      else
        read_targets(options_.labels, options_.targets, graph_, options_.memory);
      return require_rows(graph_.label_table().num_nodes());
    }
    const bool has_id = has_ids(options_.labels, table_);
    std::vector<bool> has_label(has_id ? graph_.num_nodes : 0, false);
    std::vector<NodeId> node_of_row;
    const TableLabels labels = read_label_table(options_.labels, table_, [&](std::string_view id) -> const char* {
      const std::optional<NodeId> node = nodes_.find(id);
      if (!node) return kNoNode;
      if (has_label[*node]) return "this node has a line already";
      has_label[*node] = true;
      node_of_row.push_back(*node);
      return nullptr;
    });
    if (!has_id) require_rows(labels.num_rows());
    set_labels(labels, node_of_row, options_.labels.string(), options_.unlabelled, graph_);
  }

  void read_splits() {
    const std::array paths = {options_.train, options_.valid, options_.test};
    const std::array parts = {&graph_.train, &graph_.valid, &graph_.test};
    for (std::size_t s = 0; s < paths.size(); ++s) {
      if (is_text_table(paths[s]))
        read_id_list(paths[s], table_, [&](std::string_view id) -> const char* {
          const std::optional<NodeId> node = nodes_.find(id);
          if (node) parts[s]->push_back(*node);
          return node ? nullptr : kNoNode;
        });
      else if (!paths[s].empty())
        *parts[s] = read_split(paths[s], graph_.num_nodes, options_.mask);
    }
    const std::array names = {paths[0].string(), paths[1].string(), paths[2].string()};
    const std::array views = {SplitView{names[0].c_str(), graph_.train}, SplitView{names[1].c_str(), graph_.valid},
                              SplitView{names[2].c_str(), graph_.test}};
    DatasetChecks({}).check_splits(views, graph_.label_table());
  }

 private:
  void require_rows(std::size_t found) const {
    if (found != type_.count)
      fail(ErrorKind::kBadData, options_.labels.string() + ": labels of " + std::to_string(found) + " nodes, type '" +
                                    type_.name + "' has " + std::to_string(type_.count));
  }

  const TypedOptions& options_;
  const NodeType& type_;
  const NodeIndex& nodes_;
  RawGraph& graph_;
  NodeTableOptions table_{};
};

}  // namespace

void read_target(const TypedOptions& options, const NodeType& type, const NodeIndex& nodes, RawGraph& graph) {
  if (options.labels.empty()) return;  // nor is there a split
  Target target(options, type, nodes, graph);
  target.read_labels();
  apply(options.label_choice, graph);
  if (options.split.empty())
    target.read_splits();
  else
    draw_labelled_split(graph, options.split, options.rng_seed);
}

}  // namespace salient
