// prepare/importers/edges_importer.cpp - see edges_importer.h.
#include "prepare/importers/edges_importer.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/free_memory.h"
#include "core/value_text.h"
#include "prepare/formats/table_line.h"
#include "prepare/importers/edge_features.h"
#include "prepare/importers/edge_split.h"
#include "prepare/importers/edge_splits.h"
#include "prepare/importers/link_files.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/node_index.h"
#include "prepare/importers/node_table.h"
#include "prepare/importers/node_times.h"
#include "prepare/importers/numbered_nodes.h"
#include "prepare/importers/scaled_array.h"
#include "prepare/importers/sparse_npz.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Of an array. @param origin  is set where the columns are scaled
RawFeatures read_feature_rows(const EdgesOptions& options, FeatureOrigin& origin) {
  const ColumnWishes& wishes = options.wishes;
  if (wishes.scaling == FeatureScaling::kStandard || wishes.coding) {
    CodedFeatures read = read_scaled_array(options.features, options.feature_type, options.memory, wishes.coding);
    origin = origin_of(read.coding);
    return std::move(read.features);
  }
  if (options.features.extension() != ".npz")
    return read_features(options.features, options.feature_type, options.memory);
  const ZipArchive archive(options.features);
  const SparseMatrix matrix = read_sparse_matrix(archive, "", options.memory);
  return sparse_features(matrix, options.feature_type, options.features.string(), options.memory);
}

void read_label_array(const EdgesOptions& options, RawGraph& graph) {
  if (options.targets.empty())
    read_labels(options.labels, graph, options.memory);
  else
    read_targets(options.labels, options.targets, graph, options.memory);
}

/// How one of the tables of nodes is read.
NodeTableOptions with_columns(NodeTableOptions table, const fs::path& path, const EdgesOptions& options) {
  if (path == options.labels && !options.label_id_column.empty()) table.id_column = options.label_id_column;
  if (path == time_table_of(options)) table.time_column = options.node_time_column;
  return table;
}

void read_times(const EdgesOptions& options, const NodeTableOptions& table, const NodeIndex& index, RawGraph& graph) {
  if (!options.node_times.empty()) {
    if (!index.are_rows())
      fail(ErrorKind::kBadData,
           options.node_times.string() + ": times by row, and the ids of the nodes are no row numbers");
    graph.node_times = read_time_array(options.node_times, graph.num_nodes);
  }
  if (options.node_time_column.empty()) return;
  const fs::path path = time_table_of(options);
  graph.node_times = read_time_column(path, with_columns(table, path, options), path != options.features,
                                      graph.num_nodes, [&](std::string_view id) { return index.find(id); });
}

/// Numbers that files have as ids.
struct FoundIds {
  const std::vector<std::uint64_t>&features, &labels;
  const EdgeList& edges;
  const std::array<EdgeList, 2>& aside;
  bool features_are_keyed;
};

NodeIndex index_of(const EdgesOptions& options, const FoundIds& ids) {
  const auto& [features, labels, edges, aside, are_keyed] = ids;
  if (edges.num_rows) {
    const NodeIndex rows = NodeIndex::of_rows(*edges.num_rows, edges.first_id);
    const std::string rule = ", which is no row of the matrix " + options.edges.string();
    require_ids(rows, features, options.features, rule);
    require_ids(rows, labels, options.labels, rule);
    if (!are_keyed) return rows;
  }
  const std::array<std::span<const std::uint64_t>, 7> all = {
      are_keyed ? features : labels, edges.sources,    edges.destinations,   aside[0].sources,
      aside[0].destinations,         aside[1].sources, aside[1].destinations};
  return NodeIndex::of_numbers(std::span(all).first(are_keyed ? 1 : all.size()), options.memory);
}

void check_count(const RawGraph& graph, const fs::path& edges) {
  if (graph.num_nodes == 0) fail(ErrorKind::kBadData, edges.string() + ": no edge, and so no node");
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData,
         edges.string() + ": " + std::to_string(graph.num_nodes) + " nodes, at most 4294967294 can be numbered");
}

/// One import: what the files say, and the graph that it becomes.
class EdgesImport {
 public:
  explicit EdgesImport(const EdgesOptions& options) : options_(options) {
    table_ = node_table_options(options);
    given_.files = {options.links.valid.string(), options.links.test.string()};
    edge_file_ = edge_file_options(options);
    if (!options.nodes.empty()) take_nodes();
    table_.is_shared = options_.labels == options_.features;
    labels_have_ids_ = is_text_table(options_.labels) && has_ids(options_.labels, table_of(options_.labels));
  }

  RawGraph run() {
    start_graph();
    edge_file_.ids = kind_of_ids();
    table_.ids_are_numbers = edge_file_.ids == IdKind::kNumbers;
    read_arrays();
    if (edge_file_.ids == IdKind::kText)
      read_by_name();
    else
      read_by_number();
    add_edge_features(options_.edge_features, options_.wishes.scaling, options_.feature_type, graph_);
    if (graph_.sources.empty()) log_warning(options_.edges.string() + ": has no edge");
    apply(options_.label_choice, graph_);
    read_times(options_, table_, index_, graph_);
    set_splits(options_, table_, index_, graph_, given_);
    graph_.original_ids = index_.take_numbers();
    graph_.node_names = index_.take_names();
    return std::move(graph_);
  }

 private:
  /// One table of features and labels, as far as it has them.
  void take_nodes() {
    const TableParts parts = parts_of(options_.nodes, table_of(options_.nodes));
    if (!parts.has_label && !parts.has_features)
      fail(ErrorKind::kBadData,
           options_.nodes.string() + ": has no column beside the id" +
               (options_.node_time_column.empty() ? "" : " and the time, neither a feature nor a label"),
           Topic::kLabelColumn);
    if (parts.has_features) options_.features = options_.nodes;
    if (parts.has_label) options_.labels = options_.nodes;
    const bool needs_label = makes_split(options_) || !options_.unlabelled.empty();
    if (needs_label && !parts.has_label)
      fail(ErrorKind::kBadData, options_.nodes.string() + ": which column is the label is not clear",
           Topic::kLabelColumn);
  }

  NodeTableOptions table_of(const fs::path& path) const { return with_columns(table_, path, options_); }

  /// As the table of features has them, else the edges.
  IdKind kind_of_ids() const {
    if (!features_are_keyed() || !is_text_table(options_.edges)) return ids_of_edge_file(options_.edges, edge_file_);
    if (edge_file_.ids != IdKind::kAuto) return edge_file_.ids;
    return has_ids_of_text(options_.features, table_of(options_.features)) ? IdKind::kText : IdKind::kNumbers;
  }

  void start_graph() {
    graph_.name = options_.name;
    graph_.source_kind = "edges";
    graph_.source_path = options_.edges.string();
    graph_.source_options = source_options_of(options_);
    graph_.repeats = options_.repeats;
    graph_.symmetrise = options_.symmetric != Symmetric::kNo;
    graph_.rng_seed = options_.rng_seed;
    graph_.memory = options_.memory;
    graph_.features.type = options_.feature_type;
  }

  EdgeFileOptions link_options() const { return link_file_options(edge_file_, options_.links.have_times); }

  bool features_are_keyed() const { return is_text_table(options_.features); }

  /// Features and labels whose rows are nodes.
  void read_arrays() {
    if (!options_.features.empty() && !features_are_keyed())
      graph_.features = read_feature_rows(options_, graph_.feature_origin);
    if (graph_.features.dim > 0) num_rows_ = graph_.features.num_rows();
    if (options_.labels.empty() || labels_have_ids_) return;
    if (is_text_table(options_.labels)) {
      const TableLabels labels = read_label_table(options_.labels, table_of(options_.labels), {});
      graph_.num_nodes = labels.num_rows();
      set_labels(labels, {}, options_.labels.string(), options_.unlabelled, graph_);
    } else {
      read_label_array(options_, graph_);
    }
    const std::size_t num_labelled = graph_.label_table().num_nodes();
    if (num_rows_ && *num_rows_ != num_labelled)
      fail(ErrorKind::kBadData, options_.labels.string() + ": labels of " + std::to_string(num_labelled) + " nodes, " +
                                    options_.features.string() + " has " + std::to_string(*num_rows_) + " rows");
    num_rows_ = num_labelled;
  }

  void require_rows(const fs::path& path, std::size_t found) const {
    if (num_rows_ && *num_rows_ != found)
      fail(ErrorKind::kBadData,
           path.string() + ": has " + std::to_string(found) + " nodes, " +
               (options_.features.empty() || features_are_keyed() ? options_.labels : options_.features).string() +
               " has " + std::to_string(*num_rows_) + " rows");
  }

  RawFeatures keyed_features(const TakeId& take_id) {
    const bool labels_too = labels_have_ids_ && table_.is_shared;
    CodedFeatures read = read_feature_table(options_.features, table_of(options_.features),
                                            {options_.wishes, options_.feature_type, labels_too}, take_id);
    graph_.feature_origin = origin_of(read.coding);
    return std::move(read.features);
  }

  /// Ids of any characters.
  void read_by_name() {
    NameMap names(options_.memory);
    bool is_closed = false;  // edges bring no further nodes
    const auto add_new = [&](std::string_view id) -> const char* {
      if (id.empty()) return "an empty id";
      const std::size_t before = names.size();
      names.add(id);
      return names.size() == before ? "this node has a line already" : nullptr;
    };
    if (features_are_keyed()) {
      graph_.features = keyed_features(add_new);
      require_rows(options_.features, names.size());
      is_closed = true;
      table_.is_node = edge_file_.is_node = [&names](std::string_view id) { return names.find(id).has_value(); };
    }
    std::vector<NodeId> node_of_row;
    TableLabels labels;
    if (labels_have_ids_) {
      labels = read_label_table(options_.labels, table_of(options_.labels), [&](std::string_view id) -> const char* {
        const std::optional<NodeId> known = is_closed ? names.find(id) : std::nullopt;
        if (is_closed && !known) return "no node of the features has this id";
        if (const char* rule = is_closed ? nullptr : add_new(id)) return rule;
        node_of_row.push_back(known.value_or(static_cast<NodeId>(names.size() - 1)));
        return nullptr;
      });
      if (!is_closed) require_rows(options_.labels, names.size());
      is_closed |= num_rows_.has_value();
    }
    if (num_rows_ && !is_closed)
      fail(ErrorKind::kBadData,
           options_.edges.string() + ": ids are text, and no table says which row each of them is");
    const auto node_of = [&](std::string_view id, std::size_t) {
      return is_closed ? names.find(id) : std::optional(names.add(id));
    };
    NodePairs edges = read_edges_of_names(options_.edges, edge_file_, node_of);
    for (std::size_t s = 0; s < given_.ends.size(); ++s) {
      if (given_.files[s].empty()) continue;
      NodePairs links = read_edges_of_names(given_.files[s], link_options(), node_of);
      given_.times[s] = std::move(links.values.times);
      set_ends(links.sources, links.destinations, given_.ends[s]);
    }
    edge_file_.is_node = nullptr;
    index_ = NodeIndex::of_names(std::move(names));
    table_.is_node = [this](std::string_view id) { return index_.find(id).has_value(); };
    graph_.num_nodes = index_.num_nodes();
    check_count(graph_, options_.edges);
    graph_.sources = std::move(edges.sources);
    graph_.destinations = std::move(edges.destinations);
    graph_.edge_values = std::move(edges.values);
    if (labels_have_ids_) take_labels(labels, node_of_row);
  }

  void read_by_number() {
    std::vector<std::uint64_t> feature_ids, label_ids;
    const auto into = [](std::vector<std::uint64_t>& ids) {
      return [&ids](std::string_view id) -> const char* {
        return parse_id(id, ids.emplace_back()) ? nullptr : "the id is no number, as the others are";
      };
    };
    table_.is_node = [](std::string_view id) {
      std::uint64_t number = 0;
      return parse_id(id, number);
    };
    if (features_are_keyed()) {
      graph_.features = keyed_features(into(feature_ids));
      edge_file_.is_node = one_of(feature_ids);
    }
    TableLabels labels;
    if (labels_have_ids_) labels = read_label_table(options_.labels, table_of(options_.labels), into(label_ids));
    edge_file_.num_nodes = num_rows_;
    EdgeList edges = read_edge_file(options_.edges, edge_file_);
    std::array<EdgeList, 2> aside;
    for (std::size_t s = 0; s < aside.size(); ++s)
      if (!given_.files[s].empty()) aside[s] = read_edge_file(given_.files[s], link_options());
    edge_file_.is_node = nullptr;
    graph_.symmetrise |= edges.is_symmetric;
    graph_.edge_values = std::move(edges.values);
    arena_of(options_.num_threads).execute([&] {
      index_ = num_rows_ ? NodeIndex::of_rows(*num_rows_)
                         : index_of(options_, {feature_ids, label_ids, edges, aside, features_are_keyed()});
      graph_.num_nodes = index_.num_nodes();
      check_count(graph_, options_.edges);
      graph_.sources = nodes_of(index_, edges.sources, options_.edges, options_.memory);
      free_memory_of(edges.sources);
      graph_.destinations = nodes_of(index_, edges.destinations, options_.edges, options_.memory);
      free_memory_of(edges.destinations);
      for (std::size_t s = 0; s < aside.size(); ++s) {
        given_.times[s] = std::move(aside[s].values.times);
        set_ends(nodes_of(index_, aside[s].sources, given_.files[s], options_.memory),
                 nodes_of(index_, aside[s].destinations, given_.files[s], options_.memory), given_.ends[s]);
      }
    });
    if (num_rows_ && !edges.num_rows) say_if_ids_count_from_one(graph_, options_.edges.string());
    if (features_are_keyed()) {
      const std::vector<NodeId> nodes = distinct_nodes_of(index_, feature_ids, options_.features, options_.memory);
      if (nodes.size() != graph_.num_nodes)
        fail(ErrorKind::kBadData, options_.features.string() + ": has features of " + std::to_string(nodes.size()) +
                                      " nodes, the graph has " + std::to_string(graph_.num_nodes));
      reorder_rows(graph_.features, nodes, options_.memory);
    }
    if (labels_have_ids_) take_labels(labels, distinct_nodes_of(index_, label_ids, options_.labels, options_.memory));
  }

  void take_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row) {
    if (index_.has_names()) {
      std::vector<std::uint8_t> has_label(graph_.num_nodes, 0);
      for (const NodeId node : node_of_row)
        if (std::exchange(has_label[node], 1) != 0)
          fail(ErrorKind::kBadData, options_.labels.string() + ": a node has two lines");
    }
    set_labels(labels, node_of_row, options_.labels.string(), options_.unlabelled, graph_);
  }

  EdgesOptions options_;
  NodeTableOptions table_{};
  EdgeFileOptions edge_file_{};
  bool labels_have_ids_ = false;
  std::optional<std::uint64_t> num_rows_{};  ///< of arrays, whose rows are nodes
  NodeIndex index_{};
  RawGraph graph_{};
  GivenLinks given_{};
};

}  // namespace

RawGraph import_edges(const EdgesOptions& options) {
  require(problems(options).empty(), "options name a graph");
  return EdgesImport(options).run();
}

}  // namespace salient
