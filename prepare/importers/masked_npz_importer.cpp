// prepare/importers/masked_npz_importer.cpp - see masked_npz_importer.h.
#include "prepare/importers/masked_npz_importer.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/labelled_split.h"
#include "prepare/importers/mask_layout.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/sparse_npz.h"

namespace salient {

namespace {

using Names = std::initializer_list<const char*>;

const Names kFeatureNames = {"node_features", "x", "features", "feat", "node_feat", "feature", "feats"};
const Names kLabelNames = {"node_labels", "y", "labels", "label", "node_label"};
constexpr const char *kSparseFeatures = "attr_", *kSparseEdges = "adj_";
const Names kEdgeNames = {"edges", "edge_index", "edge_list"};
constexpr const char *kNodeCount = "num_nodes", *kNodeTypes = "node_types";

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

/// The arrays of a file, and which of them were taken.
class NamedArrays {
 public:
  explicit NamedArrays(const std::filesystem::path& file) : archive_(file) {}

  const ZipArchive& archive() const { return archive_; }
  std::string file() const { return archive_.file().path().string(); }
  const std::set<std::string>& taken() const { return taken_; }

  /// The first of the names that is there.
  std::optional<std::string> name_among(Names names) const {
    const auto found = std::ranges::find_if(
        names, [&](const char* name) { return archive_.find(std::string(name) + ".npy") != nullptr; });
    return found == names.end() ? std::nullopt : std::optional<std::string>(*found);
  }

  NpzArray take(const std::string& name) {
    taken_.insert(name + ".npy");
    return {archive_, name};
  }

  /// The first of the names that is there. @throws Error{kBadData} with the names that were looked for
  NpzArray take_among(const char* what, Names names) {
    const std::optional<std::string> name = name_among(names);
    if (!name) fail_without(what, names);
    return take(*name);
  }

  SparseMatrix take_matrix(const char* prefix, const MemoryLimit& memory, SparseValues wanted) {
    for (const char* name : {"data", "shape", "indices", "indptr", "row", "col", "format"})
      taken_.insert(std::string(prefix).append(name).append(".npy"));
    return read_sparse_matrix(archive_, prefix, memory, wanted);
  }

  /// @throws Error{kBadData} with the names that were looked for, and those that are there
  [[noreturn]] void fail_without(const char* what, Names names, Topic topic = Topic::kNone) const {
    std::string text = file() + ": has no " + what + " (";
    for (const char* name : names) text.append(name == *names.begin() ? "" : ", ").append(name);
    fail(ErrorKind::kBadData, text + "); it has: " + names_in(archive_), topic);
  }

 private:
  ZipArchive archive_;
  std::set<std::string> taken_;
};

/// Puts nodes into the parts of a split; no node into two.
class SplitBuilder {
 public:
  explicit SplitBuilder(RawGraph& graph) : graph_(graph), taken_(graph.num_nodes, 0) {}

  void add(const std::string& array, const Part& part, std::uint64_t node) {
    const auto refuse = [&](const std::string& rule) {
      fail(ErrorKind::kBadData, array + ": node " + std::to_string(node) + rule);
    };
    if (node >= graph_.num_nodes) refuse(", " + no_node(node, graph_.num_nodes));
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

void read_mask(NpzArray array, const MaskedNpzOptions& options, const Part& part, std::uint64_t num_nodes,
               SplitBuilder& split) {
  array.expect(NpzKind::kInteger);
  const MaskLayout layout = mask_layout_of(array.header(), num_nodes, options.mask, array.name());
  for_each_block<std::int64_t>(array, "masks", [&](std::span<const std::int64_t> items, std::uint64_t position) {
    for (const std::int64_t item : items) {
      bool is_in = false;
      if (const char* rule = mask_of(item, is_in))
        fail_at_item(array.name(), position, integer_text(array.header(), item), rule);
      if (is_in && layout.mask_of(position) == static_cast<std::uint64_t>(options.mask))
        split.add(array.name(), part, layout.node_of(position));
      ++position;
    }
  });
}

void read_ids(NpzArray array, const Part& part, SplitBuilder& split) {
  array.expect(NpzKind::kInteger);
  const std::vector<std::uint64_t>& shape = array.header().shape;
  if (shape.empty() || shape.size() > 2 || array.header().num_items() != shape[0])
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", ids are (n,) or (n, 1)");
  for_each_block<std::uint64_t>(array, "split", [&](std::span<const std::uint64_t> ids, std::uint64_t) {
    for (const std::uint64_t id : ids) split.add(array.name(), part, id);
  });
}

/// As DGL's Reddit has it: 1, 2 and 3 for train, valid and test; 0 for none.
void read_node_types(NpzArray array, std::uint64_t num_nodes, SplitBuilder& split) {
  array.expect(NpzKind::kInteger);
  const MaskLayout layout = mask_layout_of(array.header(), num_nodes, 0, array.name());
  log_info(array.name() + ": 1, 2 and 3 are the nodes to train on, to validate and to test");
  for_each_block<std::uint64_t>(array, "split", [&](std::span<const std::uint64_t> types, std::uint64_t position) {
    for (const std::uint64_t type : types) {
      if (type > kParts.size())
        fail_at_item(array.name(), position, std::to_string(type),
                     "the parts of a split are 1, 2 and 3, and 0 is none");
      if (type > 0) split.add(array.name(), kParts[type - 1], layout.node_of(position));
      ++position;
    }
  });
}

void read_split(NamedArrays& arrays, const MaskedNpzOptions& options, RawGraph& graph) {
  SplitBuilder split(graph);
  const bool has_parts = std::ranges::any_of(
      kParts, [&](const Part& part) { return arrays.name_among(part.masks) || arrays.name_among(part.ids); });
  if (!has_parts && arrays.name_among({kNodeTypes}))
    return read_node_types(arrays.take(kNodeTypes), graph.num_nodes, split);
  for (const Part& part : kParts) {
    if (const auto masks = arrays.name_among(part.masks))
      read_mask(arrays.take(*masks), options, part, graph.num_nodes, split);
    else if (const auto ids = arrays.name_among(part.ids))
      read_ids(arrays.take(*ids), part, split);
    else
      arrays.fail_without((std::string(part.what) + " masks").c_str(), part.masks, Topic::kMissingSplit);
  }
}

/// From what has a row for every node; num_nodes must not contradict it.
std::uint64_t count_nodes(NamedArrays& arrays) {
  std::optional<std::uint64_t> said;
  if (arrays.name_among({kNodeCount})) {
    NpzArray array = arrays.take(kNodeCount);
    said = read_count(array);
    if (!is_node_count(*said))
      fail(ErrorKind::kBadData, array.name() + ": a graph has 1 to 2^32 - 2 nodes, not " + std::to_string(*said));
  }
  const bool has_features = arrays.name_among(kFeatureNames).has_value();
  if (said && !has_features) return *said;
  const NpzArray array =
      arrays.take_among(has_features ? "features" : "labels", has_features ? kFeatureNames : kLabelNames);
  const auto& shape = array.header().shape;
  const std::uint64_t count = shape.empty() ? 0 : shape[0];
  if (!is_node_count(count))
    fail(ErrorKind::kBadData,
         array.name() + ": a graph has 1 to 2^32 - 2 nodes, the shape is " + array.header().shape_text());
  if (said && *said != count)
    fail(ErrorKind::kBadData,
         array.name() + ": has " + std::to_string(count) + " rows, num_nodes is " + std::to_string(*said));
  return count;
}

void require_nodes(const NamedArrays& arrays, const char* prefix, std::uint64_t found, const RawGraph& graph) {
  if (found != graph.num_nodes)
    fail(ErrorKind::kBadData, arrays.file() + ": '" + prefix + "shape.npy': has " + std::to_string(found) +
                                  " nodes, the graph has " + std::to_string(graph.num_nodes));
}

void read_adjacency(NamedArrays& arrays, RawGraph& graph) {
  const SparseMatrix matrix = arrays.take_matrix(kSparseEdges, graph.memory, SparseValues::kNotWanted);
  if (matrix.has_weights)
    log_info(arrays.file() + ": 'adj_data.npy': entries have different values, which are not used");
  require_nodes(arrays, kSparseEdges, matrix.num_rows, graph);
  require_nodes(arrays, kSparseEdges, matrix.num_columns, graph);
  graph.memory.check(2 * sizeof(NodeId) * matrix.columns.size(), arrays.file());
  graph.sources.reserve(matrix.columns.size());
  for (std::size_t r = 0; r < matrix.num_rows; ++r)
    graph.sources.insert(graph.sources.end(), static_cast<std::size_t>(matrix.begin[r + 1] - matrix.begin[r]),
                         static_cast<NodeId>(r));
  graph.destinations.assign(matrix.columns.begin(), matrix.columns.end());
}

void read_edges_of(NamedArrays& arrays, RawGraph& graph) {
  for (const auto& [sources, destinations] : {std::pair("src", "dst"), std::pair("row", "col")}) {
    if (!arrays.name_among({sources}) || !arrays.name_among({destinations})) continue;
    NpzArray from = arrays.take(sources), to = arrays.take(destinations);
    return read_edges(from, to, graph);
  }
  if (!arrays.name_among(kEdgeNames) && has_sparse_matrix(arrays.archive(), kSparseEdges))
    return read_adjacency(arrays, graph);
  NpzArray edges = arrays.take_among("edges", kEdgeNames);
  const bool are_pairs = arrays.name_among(kEdgeNames) == "edges";
  read_edges(edges, edge_layout_of(edges, are_pairs ? EdgeLayout::kPairs : EdgeLayout::kRows), graph);
}

void read_features_of(NamedArrays& arrays, const MaskedNpzOptions& options, RawGraph& graph) {
  graph.features.type = options.feature_type;
  if (const auto name = arrays.name_among(kFeatureNames)) {
    NpzArray features = arrays.take(*name);
    read_features(features, graph);
  } else if (has_sparse_matrix(arrays.archive(), kSparseFeatures)) {
    const SparseMatrix matrix = arrays.take_matrix(kSparseFeatures, options.memory, SparseValues::kRead);
    graph.features = sparse_features(matrix, options.feature_type, options.file.string(), options.memory);
    require_nodes(arrays, kSparseFeatures, matrix.num_rows, graph);
  }
}

/// Whether an array has a row of numbers for each node, as features have.
bool looks_like_features(const NamedArrays& arrays, const std::string& member, const RawGraph& graph) {
  if (!member.ends_with(".npy")) return false;
  try {
    const NpzArray array(arrays.archive(), member.substr(0, member.size() - 4));
    const std::vector<std::uint64_t>& shape = array.header().shape;
    return shape.size() == 2 && shape[0] == graph.num_nodes && shape[1] > 1 && array.header().kind != 'b';
  } catch (const Error&) {
    return false;  // objects or text, which nobody wants to read
  }
}

/// Names what was read, and all that was not: it may have been meant.
void say_what_is_used(const NamedArrays& arrays, RawGraph& graph) {
  std::string names, read;
  for (const ZipMember& member : arrays.archive().members()) {
    if (arrays.taken().contains(member.name)) {
      read.append(read.empty() ? "" : ", ").append(in_quotes(member.name));
      continue;
    }
    const bool is_of_edges = member.name.starts_with("edge_");
    const bool is_guess = graph.features.dim == 0 && !is_of_edges && looks_like_features(arrays, member.name, graph);
    if (is_guess && graph.likely_features.empty()) graph.likely_features = in_quotes(member.name);
    names.append(names.empty() ? "" : ", ").append(in_quotes(member.name));
    if (is_guess) names += " (if it holds the features, call it 'x.npy')";
    if (is_of_edges) names += " (edges have neither weights nor features)";
  }
  log_info(arrays.file() + ": read: " + read);
  if (!names.empty()) log_warning(arrays.file() + ": not used: " + names);
}

}  // namespace

std::vector<FieldProblem> problems(const MaskedNpzOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.file.empty(), "file", "is needed, an .npz file");
  check_split(found, options.split);
  check_field(found, options.split.empty() || options.mask == 0, "split", "instead of a mask of the file");
  check_field(found, options.targets.empty() || options.label_choice == LabelChoice{}, "target",
              "instead of options that say what a label is");
  return found;
}

RawGraph import_masked_npz(const MaskedNpzOptions& options) {
  require(problems(options).empty(), "options name a graph");
  NamedArrays arrays(options.file);
  RawGraph graph{.name = options.name,
                 .source_kind = "npz",
                 .source_path = options.file.string(),
                 .source_options = options.source_options,
                 .num_nodes = count_nodes(arrays),
                 .symmetrise = options.symmetric != Symmetric::kNo,
                 .rng_seed = options.rng_seed,
                 .memory = options.memory};
  read_features_of(arrays, options, graph);
  NpzArray labels = arrays.take_among("labels", kLabelNames);
  if (options.targets.empty())
    read_labels(labels, graph);
  else
    read_targets(labels, options.targets, graph);
  apply(options.label_choice, graph);
  read_edges_of(arrays, graph);
  say_if_ids_count_from_one(graph, arrays.file());
  if (options.split.empty())
    read_split(arrays, options, graph);
  else
    draw_labelled_split(graph, options.split, options.rng_seed);
  say_what_is_used(arrays, graph);
  return graph;
}

}  // namespace salient
