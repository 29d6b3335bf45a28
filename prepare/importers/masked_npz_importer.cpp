// prepare/importers/masked_npz_importer.cpp - see masked_npz_importer.h.
#include "prepare/importers/masked_npz_importer.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "core/error.h"
#include "prepare/importers/labelled_split.h"
#include "prepare/importers/mask_layout.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/sparse_npz.h"

namespace salient {

namespace {

using Names = std::initializer_list<const char*>;

const Names kFeatureNames = {"node_features", "x", "features", "feat", "node_feat"};
const Names kLabelNames = {"node_labels", "y", "labels", "label", "node_label"};
constexpr const char *kSparseFeatures = "attr_", *kSparseEdges = "adj_";
const Names kEdgeNames = {"edges", "edge_index", "edge_list"};

/// One part of the split.
struct Part {
  const char* what;
  Names masks, ids;
  std::vector<NodeId> RawGraph::*nodes;
};
const std::array kParts = {
    Part{"train", {"train_masks", "train_mask"}, {"train_idx"}, &RawGraph::train},
    Part{"valid", {"val_masks", "val_mask", "valid_masks", "valid_mask"}, {"val_idx", "valid_idx"}, &RawGraph::valid},
    Part{"test", {"test_masks", "test_mask"}, {"test_idx"}, &RawGraph::test},
};

/// The first of the names that is there.
std::optional<std::string> name_among(const ZipArchive& archive, Names names) {
  const auto found = std::ranges::find_if(
      names, [&](const char* name) { return archive.find(std::string(name) + ".npy") != nullptr; });
  return found == names.end() ? std::nullopt : std::optional<std::string>(*found);
}

/// @throws Error{kBadData} with the names that were looked for, and those that are there
[[noreturn]] void fail_without(const ZipArchive& archive, const char* what, Names names, Topic topic = Topic::kNone) {
  std::string text = archive.file().path().string() + ": has no " + what + " (";
  for (const char* name : names) text.append(name == *names.begin() ? "" : ", ").append(name);
  fail(ErrorKind::kBadData, text + "); it has: " + names_in(archive), topic);
}

NpzArray array_among(const ZipArchive& archive, const char* what, Names names, Topic topic = Topic::kNone) {
  const std::optional<std::string> name = name_among(archive, names);
  if (!name) fail_without(archive, what, names, topic);
  return {archive, *name};
}

/// Puts nodes into the parts of a split; no node into two.
class SplitBuilder {
 public:
  explicit SplitBuilder(RawGraph& graph) : graph_(graph), taken_(graph.num_nodes, 0) {}

  void add(const NpzArray& array, const Part& part, std::uint64_t node) {
    const auto refuse = [&](const std::string& rule) {
      fail(ErrorKind::kBadData, array.name() + ": node " + std::to_string(node) + rule);
    };
    if (node >= graph_.num_nodes) refuse(", the graph has " + std::to_string(graph_.num_nodes));
    if (taken_[node] != 0) refuse(" is in the split twice");
    if (part.nodes == &RawGraph::train && graph_.label_table().num_known(static_cast<NodeId>(node)) == 0)
      refuse(" is to be trained on without a label");
    taken_[node] = 1;
    (graph_.*part.nodes).push_back(static_cast<NodeId>(node));
  }

 private:
  RawGraph& graph_;
  std::vector<std::uint8_t> taken_;
};

void read_mask(NpzArray& array, const MaskedNpzOptions& options, const Part& part, std::uint64_t num_nodes,
               SplitBuilder& split) {
  array.expect(NpzKind::kInteger);
  const MaskLayout layout = mask_layout_of(array.header(), num_nodes, options.mask, array.name());
  for_each_block<std::int64_t>(array, "masks", [&](std::span<const std::int64_t> items, std::uint64_t position) {
    for (const std::int64_t item : items) {
      if (item != 0 && layout.mask_of(position) == static_cast<std::uint64_t>(options.mask))
        split.add(array, part, layout.node_of(position));
      ++position;
    }
  });
}

void read_ids(NpzArray& array, const Part& part, SplitBuilder& split) {
  array.expect(NpzKind::kInteger);
  for_each_block<std::int64_t>(array, "split", [&](std::span<const std::int64_t> ids, std::uint64_t) {
    for (const std::int64_t id : ids) split.add(array, part, static_cast<std::uint64_t>(id));  // -1: out of range
  });
}

void read_split(const ZipArchive& archive, const MaskedNpzOptions& options, RawGraph& graph) {
  SplitBuilder split(graph);
  for (const Part& part : kParts) {
    if (const auto masks = name_among(archive, part.masks)) {
      NpzArray array(archive, *masks);
      read_mask(array, options, part, graph.num_nodes, split);
    } else if (const auto ids = name_among(archive, part.ids)) {
      NpzArray array(archive, *ids);
      read_ids(array, part, split);
    } else {
      fail_without(archive, (std::string(part.what) + " masks").c_str(), part.masks, Topic::kMissingSplit);
    }
  }
}

std::uint64_t length_of(const NpzArray& array) { return array.header().shape.empty() ? 0 : array.header().shape[0]; }

/// From what has a row for every node.
std::uint64_t count_nodes(const ZipArchive& archive) {
  if (!name_among(archive, kFeatureNames) && name_among(archive, {"num_nodes"})) {
    const std::uint64_t count = read_count(archive, "num_nodes");
    if (!is_node_count(count))
      fail(ErrorKind::kBadData, archive.file().path().string() + ": num_nodes: a graph has 1 to 2^32 - 2 nodes, not " +
                                    std::to_string(count));
    return count;
  }
  const bool has_features = name_among(archive, kFeatureNames).has_value();
  const NpzArray array =
      array_among(archive, has_features ? "features" : "labels", has_features ? kFeatureNames : kLabelNames);
  const std::uint64_t count = length_of(array);
  if (!is_node_count(count))
    fail(ErrorKind::kBadData,
         array.name() + ": a graph has 1 to 2^32 - 2 nodes, the shape is " + array.header().shape_text());
  return count;
}

void require_nodes(const ZipArchive& archive, const char* prefix, std::uint64_t found, const RawGraph& graph) {
  if (found != graph.num_nodes)
    fail(ErrorKind::kBadData, archive.file().path().string() + ": '" + prefix + "shape.npy': has " +
                                  std::to_string(found) + " nodes, the graph has " + std::to_string(graph.num_nodes));
}

void read_adjacency(const SparseMatrix& matrix, const ZipArchive& archive, RawGraph& graph) {
  require_nodes(archive, kSparseEdges, matrix.num_rows, graph);
  require_nodes(archive, kSparseEdges, matrix.num_columns, graph);
  graph.memory.check(2 * sizeof(NodeId) * matrix.columns.size(), archive.file().path().string());
  graph.sources.reserve(matrix.columns.size());
  for (std::size_t r = 0; r < matrix.num_rows; ++r)
    graph.sources.insert(graph.sources.end(), static_cast<std::size_t>(matrix.begin[r + 1] - matrix.begin[r]),
                         static_cast<NodeId>(r));
  graph.destinations.assign(matrix.columns.begin(), matrix.columns.end());
}

void read_edges_of(const ZipArchive& archive, RawGraph& graph) {
  for (const auto& [sources, destinations] : {std::pair("src", "dst"), std::pair("row", "col")}) {
    if (!name_among(archive, {sources}) || !name_among(archive, {destinations})) continue;
    NpzArray from(archive, sources), to(archive, destinations);
    return read_edges(from, to, graph);
  }
  if (!name_among(archive, kEdgeNames) && has_sparse_matrix(archive, kSparseEdges))
    return read_adjacency(read_sparse_matrix(archive, kSparseEdges, graph.memory), archive, graph);
  NpzArray edges = array_among(archive, "edges", kEdgeNames);
  const bool are_pairs = name_among(archive, kEdgeNames) == "edges";
  read_edges(edges, edge_layout_of(edges, are_pairs ? EdgeLayout::kPairs : EdgeLayout::kRows), graph);
}

}  // namespace

std::vector<FieldProblem> problems(const MaskedNpzOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.file.empty(), "file", "is needed, an .npz file");
  check_split(found, options.split);
  check_field(found, options.split.empty() || options.mask == 0, "split", "instead of a mask of the file");
  return found;
}

RawGraph import_masked_npz(const MaskedNpzOptions& options) {
  require(problems(options).empty(), "options name a graph");
  const ZipArchive archive(options.file);
  RawGraph graph{.name = options.name,
                 .source_kind = "npz",
                 .source_path = options.file.string(),
                 .source_options = options.source_options,
                 .num_nodes = count_nodes(archive),
                 .symmetrise = options.symmetric != Symmetric::kNo,
                 .rng_seed = options.rng_seed,
                 .memory = options.memory};
  graph.features.type = options.feature_type;
  if (const auto name = name_among(archive, kFeatureNames)) {
    NpzArray features(archive, *name);
    read_features(features, graph);
  } else if (has_sparse_matrix(archive, kSparseFeatures)) {
    const SparseMatrix matrix = read_sparse_matrix(archive, kSparseFeatures, options.memory);
    graph.features = sparse_features(matrix, options.feature_type, options.file.string(), options.memory);
    require_nodes(archive, kSparseFeatures, matrix.num_rows, graph);
  }
  NpzArray labels = array_among(archive, "labels", kLabelNames);
  read_labels(labels, graph);
  apply(options.label_choice, graph);
  read_edges_of(archive, graph);
  if (options.split.empty())
    read_split(archive, options, graph);
  else
    draw_labelled_split(graph, options.split, options.rng_seed);
  return graph;
}

}  // namespace salient
