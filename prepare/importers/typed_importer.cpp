// prepare/importers/typed_importer.cpp - see typed_importer.h.
#include "prepare/importers/typed_importer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/arena_of.h"
#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/formats/table_file.h"
#include "prepare/importers/edges_options.h"
#include "prepare/importers/relation_split.h"
#include "prepare/importers/typed_nodes.h"
#include "prepare/importers/typed_schema.h"
#include "prepare/importers/typed_target.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// One import: what the files say, and the graph that it becomes.
class TypedImport {
 public:
  explicit TypedImport(const TypedOptions& options) : options_(options) {
    graph_.schema = draft_schema(options).schema;
  }

  TypedGraph run() {
    start_target();
    for (const NodeSource& source : options_.nodes) nodes_.push_back(read_nodes(source, options_));
    for (std::size_t t = 0; t < nodes_.size(); ++t) graph_.schema.node_types[t].count = nodes_[t].count;
    if (const std::string rule = broken_rule(graph_.schema); !rule.empty())
      fail(ErrorKind::kBadData, options_.name + ": " + rule);
    for (const EdgeSource& source : options_.edges) {
      const Relation& relation = graph_.schema.relations[graph_.edges.size()];
      graph_.edges.push_back(read_edges(source.file, relation));
    }
    graph_.edges.resize(graph_.schema.relations.size());
    graph_.target.num_nodes = graph_.schema.target().count;
    read_target(options_, graph_.schema.target(), index(graph_.schema.target_type), graph_.target);
    graph_.target.feature_origin = origin_of(nodes_[static_cast<std::size_t>(graph_.schema.target_type)].coding);
    for (TypedNodes& nodes : nodes_) graph_.features.push_back(std::move(nodes.features));
    take_ids();
    std::string rule;
    if (!options_.edge_split.empty())
      split_relations(graph_, link_relations(graph_.schema, options_.link_relations, rule), options_.edge_split);
    return std::move(graph_);
  }

 private:
  void start_target() {
    graph_.target.name = options_.name;
    graph_.target.source_kind = "typed";
    graph_.target.source_path = (options_.labels.empty() ? options_.edges.front().file : options_.labels).string();
    graph_.target.source_options = options_.source_options;
    graph_.target.symmetrise = false;
    graph_.target.rng_seed = options_.rng_seed;
    graph_.target.memory = options_.memory;
  }

  const NodeType& type(int number) const { return graph_.schema.node_types[static_cast<std::size_t>(number)]; }
  const NodeIndex& index(int number) const { return nodes_[static_cast<std::size_t>(number)].index; }

  NodePairs read_edges(const fs::path& file, const Relation& relation) const {
    const NodeIndex &sources = index(relation.src), &destinations = index(relation.dst);
    EdgeFileOptions how{.ids = IdKind::kNumbers,
                        .ends = std::array{EndNodes{type(relation.src).count, type(relation.src).name},
                                           EndNodes{type(relation.dst).count, type(relation.dst).name}},
                        .header = options_.header,
                        .num_threads = options_.memory.num_parsers(options_.num_threads),
                        .memory = options_.memory};
    if (sources.are_rows() && destinations.are_rows()) return pairs_of(read_edge_file(file, how), file, relation);
    if (!is_text_table(file) || TableFile(file).matrix())
      fail(ErrorKind::kBadData, file.string() + ": has row numbers, and ids of type '" +
                                    type(sources.are_rows() ? relation.dst : relation.src).name +
                                    "' are those of its table of nodes");
    how.ids = IdKind::kText;
    how.is_node = [&](std::string_view id) { return sources.find(id) || destinations.find(id); };
    return read_edges_of_names(file, how, [&](std::string_view id, std::size_t end) {
      return end == 0 ? sources.find(id) : destinations.find(id);
    });
  }

  /// Ids that are row numbers, and were checked.
  NodePairs pairs_of(EdgeList edges, const fs::path& file, const Relation& relation) const {
    NodePairs pairs;
    const auto take = [&](std::vector<std::uint64_t>& from, std::vector<NodeId>& to) {
      options_.memory.check(from.size() * sizeof(NodeId), file.string());
      to.assign(from.begin(), from.end());
      free_memory_of(from);
    };
    take(edges.sources, pairs.sources);
    take(edges.destinations, pairs.destinations);
    if (!edges.is_symmetric) return pairs;
    if (relation.src != relation.dst)
      fail(ErrorKind::kBadData, file.string() + ": a symmetric matrix; between two types of nodes it is a general one");
    for (std::size_t m = 0, given = pairs.sources.size(); m < given; ++m) {
      if (pairs.sources[m] == pairs.destinations[m]) continue;
      pairs.sources.push_back(pairs.destinations[m]);
      pairs.destinations.push_back(pairs.sources[m]);
    }
    return pairs;
  }

  /// What a store keeps of the ids of all types: none where all are row numbers.
  void take_ids() {
    const bool has_names = std::ranges::any_of(nodes_, [](const TypedNodes& nodes) { return nodes.index.has_names(); });
    const bool are_rows = std::ranges::all_of(nodes_, [](const TypedNodes& nodes) { return nodes.index.are_rows(); });
    if (are_rows) return;
    for (TypedNodes& nodes : nodes_) {
      std::vector<std::uint64_t> numbers;
      if (!nodes.index.has_names()) {
        options_.memory.check(2 * nodes.count * sizeof(std::uint64_t), "ids of nodes");
        numbers = nodes.index.take_numbers();
        if (numbers.empty()) {
          numbers.resize(nodes.count);
          std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        }
      }
      if (!has_names) {
        std::ranges::copy(numbers, std::back_inserter(graph_.original_ids));
        continue;
      }
      const NameTable names = nodes.index.take_names();
      for (std::size_t v = 0; v < names.size(); ++v) graph_.node_names.append(names[v]);
      for (const std::uint64_t number : numbers) graph_.node_names.append(std::to_string(number));
    }
  }

  const TypedOptions& options_;
  std::vector<TypedNodes> nodes_{};
  TypedGraph graph_{};
};

}  // namespace

TypedGraph import_typed(const TypedOptions& options) {
  require(problems(options).empty(), "options name a graph");
  return TypedImport(options).run();
}

}  // namespace salient
