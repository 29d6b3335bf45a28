// prepare/importers/edges_importer.cpp - see edges_importer.h.
#include "prepare/importers/edges_importer.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/arena_of.h"
#include "core/error.h"
#include "core/free_memory.h"
#include "core/value_text.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/labelled_split.h"
#include "prepare/importers/node_arrays.h"
#include "store/dataset_checks.h"

namespace salient {
namespace {

constexpr std::uint64_t kMaxNodes = 0xFFFFFFFE;

std::optional<std::uint64_t> number_of_rows(const RawGraph& graph, const EdgesOptions& options) {
  std::optional<std::uint64_t> rows;
  if (graph.features.dim > 0)
    rows = graph.features.rows.size() / (static_cast<std::size_t>(graph.features.dim) * size_of(graph.features.type));
  if (options.labels.empty()) return rows;
  const std::size_t num_labelled = graph.label_table().num_nodes();
  if (rows && *rows != num_labelled)
    fail(ErrorKind::kBadData, options.labels.string() + ": labels of " + std::to_string(num_labelled) + " nodes, " +
                                  options.features.string() + " has " + std::to_string(*rows) + " rows");
  return num_labelled;
}

/// All ids of the list, ascending, each once.
std::vector<std::uint64_t> distinct_ids(const EdgeList& edges) {
  std::vector<std::uint64_t> ids = edges.sources;
  ids.insert(ids.end(), edges.destinations.begin(), edges.destinations.end());
  oneapi::tbb::parallel_sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<NodeId> renumbered(const std::vector<std::uint64_t>& ids, const std::vector<std::uint64_t>& ascending) {
  std::vector<NodeId> numbers(ids.size());
  oneapi::tbb::parallel_for(std::size_t{0}, ids.size(), [&](std::size_t m) {
    numbers[m] = static_cast<NodeId>(std::ranges::lower_bound(ascending, ids[m]) - ascending.begin());
  });
  return numbers;
}

void number_nodes(RawGraph& graph, EdgeList edges, std::optional<std::uint64_t> num_rows, const EdgesOptions& options) {
  std::vector<std::uint64_t> ascending;
  bool is_dense = true;
  if (num_rows) {
    graph.num_nodes = *num_rows;
  } else {
    ascending = distinct_ids(edges);
    graph.num_nodes = ascending.size();
    is_dense = ascending.empty() || ascending.back() == ascending.size() - 1;
  }
  if (graph.num_nodes == 0) fail(ErrorKind::kBadData, options.edges.string() + ": no edge, and so no node");
  if (graph.num_nodes > kMaxNodes)
    fail(ErrorKind::kBadData, options.edges.string() + ": " + std::to_string(graph.num_nodes) + " nodes, at most " +
                                  std::to_string(kMaxNodes) + " can be numbered");
  if (is_dense) {
    graph.sources.assign(edges.sources.begin(), edges.sources.end());
    free_memory_of(edges.sources);
    graph.destinations.assign(edges.destinations.begin(), edges.destinations.end());
    return;
  }
  graph.sources = renumbered(edges.sources, ascending);
  graph.destinations = renumbered(edges.destinations, ascending);
  graph.original_ids = std::move(ascending);
}

void read_splits(RawGraph& graph, const EdgesOptions& options) {
  const std::array names = {options.train.string(), options.valid.string(), options.test.string()};
  const std::array parts = {&graph.train, &graph.valid, &graph.test};
  for (std::size_t s = 0; s < names.size(); ++s)
    if (!names[s].empty()) *parts[s] = read_split(names[s], graph.num_nodes);
  const std::vector<std::int32_t> unlabelled(options.labels.empty() ? graph.num_nodes : 0, -1);
  const std::array views = {SplitView{names[0].c_str(), graph.train}, SplitView{names[1].c_str(), graph.valid},
                            SplitView{names[2].c_str(), graph.test}};
  DatasetChecks({}).check_splits(views,
                                 options.labels.empty() ? LabelTable{.classes = unlabelled} : graph.label_table());
}

}  // namespace

std::vector<FieldProblem> problems(const EdgesOptions& options) {
  std::vector<FieldProblem> found;
  const bool has_files = !options.train.empty() || !options.valid.empty() || !options.test.empty();
  check_field(found, !options.edges.empty(), "edges", "is needed, the file with the edges");
  if (!options.split.empty()) {
    check_split(found, options.split);
    check_field(found, !has_files, "split", "instead of files for train, valid and test, not beside them");
    check_field(found, !options.labels.empty(), "split", "needs labels, it is drawn from the labelled nodes");
  }
  const bool are_columns =
      options.columns.empty() || (options.columns.size() == 2 && options.columns[0] != options.columns[1] &&
                                  std::ranges::min(options.columns) >= 0);
  check_field(found, are_columns, "columns", "two different columns, counted from 0");
  return found;
}

RawGraph import_edges(const EdgesOptions& options) {
  require(problems(options).empty(), "options name a graph");
  RawGraph graph;
  graph.name = options.name;
  graph.source_kind = "edges";
  graph.source_path = options.edges.string();
  if (!options.columns.empty()) graph.source_options = "columns " + to_text(options.columns);
  graph.symmetrise = options.symmetric != Symmetric::kNo;
  graph.rng_seed = options.rng_seed;
  graph.features.type = options.feature_type;
  if (!options.features.empty()) graph.features = read_features(options.features, options.feature_type);
  if (!options.labels.empty()) read_labels(options.labels, graph);
  const std::optional<std::uint64_t> num_rows = number_of_rows(graph, options);
  EdgeList edges = read_edge_file(
      options.edges, {.columns = options.columns, .num_nodes = num_rows, .num_threads = options.num_threads});
  oneapi::tbb::task_arena arena = arena_of(options.num_threads);
  arena.execute([&] { number_nodes(graph, std::move(edges), num_rows, options); });
  if (options.split.empty())
    read_splits(graph, options);
  else
    draw_labelled_split(graph, options.split, options.rng_seed);
  return graph;
}

}  // namespace salient
