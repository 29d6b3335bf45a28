// prepare/importers/ogb_importer.cpp - tables, then the split and the class names, which both layouts keep as CSV
#include "prepare/importers/ogb_importer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/ogb_layout.h"
#include "prepare/importers/ogb_tables.h"

namespace salient {

namespace {

namespace fs = std::filesystem;

/// Reads one part of the split; `part_of` remembers, over all parts, where each node was met.
std::vector<NodeId> read_split_part(const OgbLayout& layout, std::uint8_t part, const RawGraph& graph,
                                    std::vector<std::uint8_t>& part_of) {
  constexpr std::array<const char*, 4> kFiles = {"", "train.csv.gz", "valid.csv.gz", "test.csv.gz"};
  LineReader reader(layout.split / kFiles[part]);
  std::vector<NodeId> nodes;
  for (std::string_view line; reader.next(line);) {
    const auto refuse = [&](const std::string& rule) { fail_at_line(reader.path(), reader.line_number(), line, rule); };
    NodeId node = 0;
    if (!parse_number(line, node)) refuse("is not a node id");
    if (node >= graph.num_nodes) refuse("the graph has nodes 0 to " + std::to_string(graph.num_nodes - 1));
    if (part_of[node] != 0) refuse(std::string("the node is already in ") + kFiles[part_of[node]]);
    if (part == 1 && graph.label_table().num_known(node) == 0) refuse("a training node without a label");
    part_of[node] = part;
    nodes.push_back(node);
  }
  return nodes;
}

/// "INDEX,NAME", the name quoted when it has commas; a header; each index once, and at most `num_classes`.
std::vector<std::string> read_class_names(const fs::path& path, std::size_t num_classes) {
  LineReader reader(path);
  std::string_view line;
  reader.next(line);  // the header
  std::vector<std::string> names;
  while (reader.next(line)) {
    const std::size_t comma = line.find(',');
    std::size_t index = 0;
    if (comma == std::string_view::npos || !parse_number(line.substr(0, comma), index))
      fail_at_line(path, reader.line_number(), line, "an index and a name are expected");
    if (index == num_classes) fail_at_line(path, reader.line_number(), line, "there are more names than classes");
    if (index != names.size()) fail_at_line(path, reader.line_number(), line, "the indices are not 0, 1, 2 and so on");
    std::string_view name = line.substr(comma + 1);
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.emplace_back(name);
  }
  return names;
}

/// Names are optional: without them, or with a list of another form, they are left out.
void add_class_names(const OgbLayout& layout, RawGraph& graph) {
  const fs::path mapping = layout.root / "mapping";
  if (graph.task == Task::kRegression || !fs::is_directory(mapping)) return;
  for (const auto& entry : fs::directory_iterator(mapping)) {
    if (!entry.path().filename().string().starts_with("labelidx2")) continue;
    try {
      const auto num_classes = static_cast<std::size_t>(graph.num_classes);
      std::vector<std::string> names = read_class_names(entry.path(), num_classes);
      if (names.size() == num_classes)
        graph.class_names = std::move(names);
      else
        log_warning(entry.path().string() + ": names " + std::to_string(names.size()) + " classes, the graph has " +
                    std::to_string(graph.num_classes) + "; class names are left out");
    } catch (const Error& error) {
      log_warning(std::string(error.what()) + "; class names are left out");
    }
  }
}

int count_classes(const OgbLayout& layout, const RawGraph& graph) {
  const bool are_classes = graph.task == Task::kMultiClass;
  const int found = !are_classes           ? graph.num_classes
                    : graph.labels.empty() ? 0
                                           : *std::ranges::max_element(graph.labels) + 1;
  if (!layout.known) return found;
  if (graph.num_nodes != layout.known->num_nodes)
    log_warning(layout.root.string() + ": has " + std::to_string(graph.num_nodes) + " nodes, the published " +
                layout.name + " has " + std::to_string(layout.known->num_nodes));
  return are_classes ? std::max(found, layout.known->num_classes) : found;
}

}  // namespace

void read_ogb_split(const OgbLayout& layout, RawGraph& graph) {
  std::vector<std::uint8_t> part_of(graph.num_nodes, 0);
  graph.train = read_split_part(layout, 1, graph, part_of);
  graph.valid = read_split_part(layout, 2, graph, part_of);
  graph.test = read_split_part(layout, 3, graph, part_of);
}

void read_ogb_classes(const OgbLayout& layout, const LabelChoice& choice, RawGraph& graph) {
  graph.num_classes = count_classes(layout, graph);
  add_class_names(layout, graph);
  apply(choice, graph);
}

OgbLayout layout_of(const OgbOptions& options) {
  OgbLayout layout = find_ogb_layout(options.raw, options.name);
  if (options.keeps_edge_features && (layout.is_binary || layout.is_typed))
    fail(ErrorKind::kUsage,
         layout.root.string() + ": features of edges are kept of sets in the CSV layout alone, with one type of nodes");
  return layout;
}

RawGraph start_ogb(const OgbOptions& options, const OgbLayout& layout) {
  RawGraph graph{.name = layout.name,
                 .source_kind = layout.is_synthetic ? "synthetic" : "ogb",
                 .source_path = options.raw.string(),
                 .source_options = options.source_options,
                 .symmetrise = options.symmetric != Symmetric::kNo,
                 .memory = options.memory};
  graph.features.type = options.feature_type;
  return graph;
}

std::vector<FieldProblem> problems(const OgbOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, options.targets.empty() || options.label_choice == LabelChoice{}, "target",
              "instead of options that say what a label is");
  return found;
}

RawGraph import_ogb(const OgbOptions& options) {
  const OgbLayout layout = layout_of(options);
  RawGraph graph = start_ogb(options, layout);
  if (layout.is_binary)
    read_ogb_binary(layout, options, graph);
  else
    read_ogb_csv(layout, options, graph);
  read_ogb_classes(layout, options.label_choice, graph);
  read_ogb_split(layout, graph);
  return graph;
}

std::uint64_t ogb_memory_bytes(const OgbOptions& options) {
  const OgbLayout layout = layout_of(options);
  const OgbSize size = layout.is_binary ? size_of_ogb_binary(layout, options) : size_of_ogb_csv(layout, options);
  const std::uint64_t growth = layout.is_binary ? 1 : 2;  // arrays of text grow, and are copied when they do
  const std::uint64_t num_features = size.num_nodes * size.feature_dim * growth;
  const std::uint64_t turned = size.features_are_columns ? num_features * sizeof(float) : 0;
  const std::uint64_t entries = size.num_edges * (options.symmetric == Symmetric::kNo ? 1 : 2);
  const std::uint64_t edges = 2 * sizeof(NodeId) * size.num_edges * growth;
  const std::uint64_t rows = entries * sizeof(NodeId) + size.num_nodes * (sizeof(EdgeOffset) + sizeof(NodeId));
  const std::uint64_t edge_rows =
      (size.num_edges * growth + entries) * size.edge_feature_dim * size_of(options.feature_type);
  // Blocks of lines with their numbers, which are read in f64.
  const std::uint64_t blocks = layout.is_binary ? 0 : std::min(num_features * sizeof(double), std::uint64_t{8} << 20);
  return num_features * size_of(options.feature_type) + std::max(turned, edges + rows) + edge_rows +
         size.num_nodes * (size.label_bytes + 1) + blocks;
}

}  // namespace salient
