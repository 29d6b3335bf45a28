// prepare/importers/graphbolt_importer.cpp - see graphbolt_importer.h.
#include "prepare/importers/graphbolt_importer.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/graphbolt_layout.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/typed_importer.h"
#include "store/dataset_checks.h"

namespace salient {
namespace {

GraphBoltLayout layout_of(const GraphBoltOptions& options) {
  return read_graphbolt_layout(options.dir, options.task, options.feature);
}

std::string name_of(const GraphBoltLayout& layout, const GraphBoltOptions& options) {
  const std::string name = options.name.empty() ? layout.name : options.name;
  return name.empty() ? std::filesystem::canonical(options.dir).filename().string() : name;
}

/// The type that the sets are of. @throws Error{kBadData} where they are of several
std::string target_of(const GraphBoltLayout& layout) {
  std::string target = layout.nodes.front().type;
  bool is_said = false;
  for (const std::vector<GraphBoltSet>& sets : layout.sets)
    for (const GraphBoltSet& set : sets) {
      if (std::exchange(is_said, true) && set.type != target)
        fail(ErrorKind::kBadData, layout.file.string() + ": sets of " + in_quotes(target) + " and of " +
                                      in_quotes(set.type) + ", a data set has labels of one type");
      target = set.type;
    }
  return target;
}

/// Labels of the seeds of one set. num_nodes is set.
void read_set(const GraphBoltSet& set, const MemoryLimit& memory, RawGraph& graph, std::vector<NodeId>& part) {
  part = read_split(set.seeds, graph.num_nodes);
  if (set.labels.empty()) return;
  RawGraph of_seeds;
  read_labels(set.labels, of_seeds, memory);
  if (of_seeds.task != Task::kMultiClass)
    fail(ErrorKind::kBadData, set.labels.string() + ": several labels a node, of which one is read");
  if (of_seeds.labels.size() != part.size())
    fail(ErrorKind::kBadData, set.labels.string() + ": has " + std::to_string(of_seeds.labels.size()) + " labels, " +
                                  set.seeds.string() + " " + std::to_string(part.size()) + " nodes");
  for (std::size_t i = 0; i < part.size(); ++i) graph.labels[part[i]] = of_seeds.labels[i];
  graph.num_classes = std::max(graph.num_classes, of_seeds.num_classes);
}

void read_sets(const GraphBoltLayout& layout, const MemoryLimit& memory, RawGraph& graph) {
  memory.check(graph.num_nodes * sizeof(std::int32_t), "labels");
  graph.labels.assign(graph.num_nodes, -1);
  graph.num_classes = layout.num_classes;
  const std::array parts = {&graph.train, &graph.valid, &graph.test};
  std::array<std::string, 3> names;
  for (std::size_t s = 0; s < parts.size(); ++s) {
    if (layout.sets[s].empty()) continue;
    names[s] = layout.sets[s].front().seeds.string();
    read_set(layout.sets[s].front(), memory, graph, *parts[s]);
  }
  const std::array views = {SplitView{names[0].c_str(), graph.train}, SplitView{names[1].c_str(), graph.valid},
                            SplitView{names[2].c_str(), graph.test}};
  DatasetChecks({}).check_splits(views, graph.label_table());
}

void require_rows(const RawFeatures& features, const NodeSource& nodes) {
  if (features.dim > 0 && features.num_rows() != *nodes.count)
    fail(ErrorKind::kBadData, nodes.file.string() + ": has " + std::to_string(features.num_rows()) +
                                  " rows, there are " + std::to_string(*nodes.count) + " nodes");
}

void set_source(const GraphBoltLayout& layout, const GraphBoltOptions& options, RawGraph& graph) {
  graph.name = name_of(layout, options);
  graph.source_kind = "graphbolt";
  graph.source_path = options.dir.string();
  graph.source_options = options.source_options;
  graph.memory = options.memory;
}

}  // namespace

bool is_typed_graphbolt(const GraphBoltOptions& options) { return layout_of(options).is_typed(); }

RawGraph import_graphbolt(const GraphBoltOptions& options) {
  const GraphBoltLayout layout = layout_of(options);
  require(!layout.is_typed(), "a graph of one type");
  const NodeSource& nodes = layout.nodes.front();
  RawGraph graph{.num_nodes = *nodes.count, .symmetrise = options.symmetric != Symmetric::kNo};
  set_source(layout, options, graph);
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData,
         layout.file.string() + ": a graph has 1 to 2^32 - 2 nodes, not " + std::to_string(graph.num_nodes));
  graph.features.type = options.feature_type;
  if (!nodes.file.empty()) graph.features = read_features(nodes.file, options.feature_type, options.memory);
  require_rows(graph.features, nodes);
  read_sets(layout, options.memory, graph);
  EdgeList edges =
      read_edge_file(layout.edges.front().file, {.ids = IdKind::kNumbers,
                                                 .num_nodes = graph.num_nodes,
                                                 .num_threads = options.memory.num_parsers(options.num_threads),
                                                 .memory = options.memory});
  for (auto [from, to] :
       {std::pair(&edges.sources, &graph.sources), std::pair(&edges.destinations, &graph.destinations)}) {
    options.memory.check(from->size() * sizeof(NodeId), layout.edges.front().file.string());
    to->assign(from->begin(), from->end());
    free_memory_of(*from);
  }
  return graph;
}

TypedGraph import_typed_graphbolt(const GraphBoltOptions& options) {
  const GraphBoltLayout layout = layout_of(options);
  TypedOptions typed{.nodes = layout.nodes,
                     .edges = layout.edges,
                     .reverses = options.symmetric == Symmetric::kNo ? Reverses::kNone : Reverses::kAdd,
                     .target = target_of(layout),
                     .name = name_of(layout, options),
                     .feature_type = options.feature_type,
                     .num_threads = options.num_threads,
                     .memory = options.memory};
  for (NodeSource& nodes : typed.nodes)
    if (!nodes.file.empty()) nodes.count.reset();  // it is that of the rows
  if (const std::vector<FieldProblem> found = problems(typed); !found.empty())
    fail(ErrorKind::kBadData, layout.file.string() + ": " + found.front().rule);
  TypedGraph graph = import_typed(typed);
  for (std::size_t t = 0; t < layout.nodes.size(); ++t) require_rows(graph.features[t], layout.nodes[t]);
  set_source(layout, options, graph.target);
  read_sets(layout, options.memory, graph.target);
  return graph;
}

}  // namespace salient
