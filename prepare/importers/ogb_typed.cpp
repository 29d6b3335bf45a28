// prepare/importers/ogb_typed.cpp - see ogb_typed.h.
#include "prepare/importers/ogb_typed.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/ogb_csv_tables.h"
#include "prepare/importers/ogb_layout.h"
#include "prepare/importers/ogb_tables.h"
#include "prepare/importers/typed_schema.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// What a layout says of one relation: "author___writes___paper".
EdgeSource relation_named(const fs::path& file, const std::string& name) {
  constexpr std::string_view kBetween = "___";
  const std::size_t first = name.find(kBetween), last = name.rfind(kBetween);
  if (first == std::string::npos || last < first + kBetween.size())
    fail(ErrorKind::kBadData, file.string() + ": " + in_quotes(name) + " is no SRC___NAME___DST");
  return {.src = name.substr(0, first),
          .name = name.substr(first + kBetween.size(), last - first - kBetween.size()),
          .dst = name.substr(last + kBetween.size())};
}

std::string name_of(const EdgeSource& relation) { return relation.src + "___" + relation.name + "___" + relation.dst; }

/// The tables of a set in one layout. A type has features or none, and one type labels.
class TypedTables {
 public:
  TypedTables() = default;
  TypedTables(const TypedTables&) = delete;
  TypedTables& operator=(const TypedTables&) = delete;
  virtual ~TypedTables() = default;

  virtual std::vector<NodeSource> types() = 0;  ///< with counts
  virtual std::vector<EdgeSource> relations() = 0;
  virtual std::vector<std::string> labelled_types() = 0;
  virtual NodePairs edges(const EdgeSource& relation, const std::array<EndNodes, 2>& ends) = 0;
  /// @param graph  of one type: num_nodes, features.type and memory are set; gets its features if there are any
  virtual void read_features_of(const std::string& type, RawGraph& graph) = 0;
  virtual void read_labels_of(const std::string& type, RawGraph& graph) = 0;
};

/// Tables of one line a node, which a file of their own promises.
class CsvTables : public TypedTables {
 public:
  CsvTables(const OgbLayout& layout, const OgbOptions& options) : layout_(layout), options_(options) {}

  /// A header of types, and a line with the count of each.
  std::vector<NodeSource> types() override {
    LineReader reader(layout_.raw("num-node-dict.csv.gz"));
    const std::vector<std::string> names = fields_of(reader), counts = fields_of(reader);
    std::string_view line;
    if (names.empty() || names.size() != counts.size())
      fail(ErrorKind::kBadData, reader.path().string() + ": a line of types and a line of their counts are expected");
    if (reader.next(line))
      fail_at_line(reader.path(), 3, line, "one count a type is expected, this is of a second graph");
    std::vector<NodeSource> types;
    for (std::size_t t = 0; t < names.size(); ++t) {
      std::uint64_t count = 0;
      if (!parse_number(std::string_view(counts[t]), count))
        fail_at_line(reader.path(), 2, counts[t], "is not a count");
      types.push_back({.type = names[t], .count = count});
    }
    counts_ = types;
    return types;
  }

  std::vector<EdgeSource> relations() override {
    LineReader reader(layout_.raw("triplet-type-list.csv.gz"));
    std::vector<EdgeSource> relations;
    for (std::string_view line; reader.next(line);) {
      const std::vector<std::string> parts = fields_of(line);
      if (parts.size() != 3) fail_at_line(reader.path(), reader.line_number(), line, "SRC,NAME,DST is expected");
      relations.push_back({.src = parts[0], .name = parts[1], .dst = parts[2]});
    }
    return relations;
  }

  std::vector<std::string> labelled_types() override {
    std::vector<std::string> found;
    for (const NodeSource& type : counts_)
      if (fs::exists(labels(type.type))) found.push_back(type.type);
    return found;
  }

  NodePairs edges(const EdgeSource& relation, const std::array<EndNodes, 2>& ends) override {
    const fs::path folder = layout_.root / "raw" / "relations" / name_of(relation);
    const Promise promise = read_promise(folder / "num-edge-list.csv.gz");
    options_.memory.check(2 * sizeof(NodeId) * promise.num_lines, (folder / "edge.csv.gz").string());
    return read_csv_edges(folder / "edge.csv.gz", promise, ends, options_.num_threads);
  }

  void read_features_of(const std::string& type, RawGraph& graph) override {
    const fs::path path = layout_.root / "raw" / "node-feat" / type / "node-feat.csv.gz";
    if (!fs::exists(path)) return;
    LineReader reader(path);
    if (std::string_view line; reader.next(line))
      graph.memory.check(graph.num_nodes * num_columns_of(line) * size_of(graph.features.type), path.string());
    read_csv_features(path, promise_of(graph), options_.num_threads, graph.features);
  }

  void read_labels_of(const std::string& type, RawGraph& graph) override {
    read_csv_labels(labels(type), promise_of(graph), options_, graph);
  }

 private:
  static std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields;
    FieldSplitter splitter(line, ',');
    for (std::string_view field; splitter.next(field);) fields.emplace_back(field);
    return fields;
  }
  static std::vector<std::string> fields_of(LineReader& reader) {
    std::string_view line;
    return reader.next(line) ? fields_of(line) : std::vector<std::string>{};
  }
  fs::path labels(const std::string& type) const {
    return layout_.root / "raw" / "node-label" / type / "node-label.csv.gz";
  }
  Promise promise_of(const RawGraph& graph) const { return {graph.num_nodes, layout_.raw("num-node-dict.csv.gz")}; }

  const OgbLayout& layout_;
  const OgbOptions& options_;
  std::vector<NodeSource> counts_{};
};

/// An archive for each kind of table, with an array for each type or relation.
class NpzTables : public TypedTables {
 public:
  NpzTables(const OgbLayout& layout, const OgbOptions& options)
      : layout_(layout),
        options_(options),
        counts_(layout.raw("num_nodes_dict.npz")),
        edges_(layout.raw("edge_index_dict.npz")),
        labels_(layout.raw("node-label.npz")) {
    if (fs::exists(layout.raw("node_feat.npz"))) features_.emplace(layout.raw("node_feat.npz"));
  }

  std::vector<NodeSource> types() override {
    std::vector<NodeSource> types;
    for (const std::string& name : keys_of(counts_)) {
      NpzArray array(counts_, name);
      types.push_back({.type = name, .count = read_count(array)});
    }
    return types;
  }

  std::vector<EdgeSource> relations() override {
    std::vector<EdgeSource> relations;
    for (const std::string& name : keys_of(edges_)) relations.push_back(relation_named(edges_.file().path(), name));
    return relations;
  }

  std::vector<std::string> labelled_types() override { return keys_of(labels_); }

  NodePairs edges(const EdgeSource& relation, const std::array<EndNodes, 2>& ends) override {
    NpzArray array(edges_, name_of(relation));
    return read_pairs(array, ends, options_.memory);
  }

  void read_features_of(const std::string& type, RawGraph& graph) override {
    if (!features_ || !std::ranges::count(keys_of(*features_), type)) return;
    NpzArray array(*features_, type);
    read_features(array, graph);
    graph.features.file = array.name();
  }

  void read_labels_of(const std::string& type, RawGraph& graph) override {
    NpzArray array(labels_, type);
    if (options_.targets.empty())
      read_labels(array, graph);
    else
      read_targets(array, options_.targets, graph);
  }

 private:
  static std::vector<std::string> keys_of(const ZipArchive& archive) {
    constexpr std::string_view kEnd = ".npy";
    std::vector<std::string> keys;
    for (const ZipMember& member : archive.members())
      if (member.name.ends_with(kEnd)) keys.push_back(member.name.substr(0, member.name.size() - kEnd.size()));
    return keys;
  }

  const OgbLayout& layout_;
  const OgbOptions& options_;
  ZipArchive counts_, edges_, labels_;
  std::optional<ZipArchive> features_{};
};

/// The schema of the tables, whose target is the type with labels.
GraphSchema schema_of(TypedTables& tables, const OgbLayout& layout, const OgbOptions& options) {
  TypedOptions typed{.nodes = tables.types(),
                     .edges = tables.relations(),
                     .reverses = options.symmetric == Symmetric::kNo ? Reverses::kNone : Reverses::kAdd};
  const std::vector<std::string> labelled = tables.labelled_types();
  if (labelled.empty()) fail(ErrorKind::kNoInput, layout.root.string() + ": no type of nodes has labels");
  if (labelled.size() > 1)
    fail(ErrorKind::kBadData, layout.root.string() + ": types " + in_quotes(labelled[0]) + " and " +
                                  in_quotes(labelled[1]) +
                                  " have labels, a data set has those of one; remove the "
                                  "other ones' from raw/");
  typed.target = labelled[0];
  SchemaDraft draft = draft_schema(typed);
  if (!draft.rule.empty()) fail(ErrorKind::kBadData, layout.root.string() + ": " + draft.rule);
  return std::move(draft.schema);
}

void read_target(TypedTables& tables, OgbLayout& layout, const OgbOptions& options, TypedGraph& graph) {
  const NodeType& type = graph.schema.target();
  graph.target = start_ogb(options, layout);
  graph.target.num_nodes = type.count;
  graph.target.symmetrise = false;
  tables.read_labels_of(type.name, graph.target);
  layout.split /= type.name;  // of time/paper
  read_ogb_classes(layout, options.label_choice, graph.target);
  read_ogb_split(layout, graph.target);
}

}  // namespace

bool is_typed_ogb(const OgbOptions& options) { return layout_of(options).is_typed; }

TypedGraph import_typed_ogb(const OgbOptions& options) {
  OgbLayout layout = layout_of(options);
  require(layout.is_typed, "a set of several types of nodes");
  std::unique_ptr<TypedTables> tables;
  if (layout.is_binary)
    tables = std::make_unique<NpzTables>(layout, options);
  else
    tables = std::make_unique<CsvTables>(layout, options);
  TypedGraph graph{.schema = schema_of(*tables, layout, options)};
  read_target(*tables, layout, options, graph);
  for (const NodeType& type : graph.schema.node_types) {
    RawGraph rows{.num_nodes = type.count, .memory = options.memory};
    rows.features.type = options.feature_type;
    tables->read_features_of(type.name, rows);
    graph.features.push_back(std::move(rows.features));
  }
  const auto end_of = [&](int type) {
    const NodeType& of = graph.schema.node_types[static_cast<std::size_t>(type)];
    return EndNodes{of.count, of.name};
  };
  for (const Relation& relation : graph.schema.relations) {
    const EdgeSource source{.src = end_of(relation.src).kind, .name = relation.name, .dst = end_of(relation.dst).kind};
    const bool is_given = !relation.reverse_of;
    graph.edges.push_back(is_given ? tables->edges(source, {end_of(relation.src), end_of(relation.dst)}) : NodePairs{});
  }
  return graph;
}

}  // namespace salient
