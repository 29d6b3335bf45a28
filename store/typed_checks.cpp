// store/typed_checks.cpp - see typed_checks.h.
#include "store/typed_checks.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <string>

#include "store/edge_hash.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint64_t kGrain = 1 << 14;

/// The rows of one relation: the same slot of every node of its destination type.
class RelationRows {
 public:
  RelationRows(const Dataset& dataset, const Relation& relation)
      : graph_(dataset.graph),
        type_(static_cast<std::size_t>(relation.dst)),
        slot_(relation.slot),
        num_nodes_(dataset.slots->num_nodes_of(type_)) {}

  std::uint64_t num_nodes() const { return num_nodes_; }
  NodeId node(std::uint64_t i) const { return static_cast<NodeId>(graph_.slots->node_begin[type_] + i); }
  std::uint64_t row_number(std::uint64_t i) const { return graph_.slots->row_of(type_, node(i), slot_); }
  std::span<const NodeId> row(std::uint64_t i) const { return graph_.row(row_number(i)); }
  /// Whether the row of a node has this entry; rows ascend.
  bool has(NodeId row_node, NodeId entry) const {
    const auto row = graph_.row(graph_.slots->row_of(type_, row_node, slot_));
    return std::binary_search(row.begin(), row.end(), entry);
  }

 private:
  const CsrGraph& graph_;
  const std::size_t type_;
  const std::uint32_t slot_;
  const std::uint64_t num_nodes_;
};

struct Found {
  std::uint64_t num_entries = 0, first_bad = kNone;
  friend Found operator+(Found a, Found b) {
    return {a.num_entries + b.num_entries, std::min(a.first_bad, b.first_bad)};
  }
};

void check_relation(const Dataset& dataset, const Relation& relation, const DatasetChecks& checks) {
  const RelationRows rows(dataset, relation);
  const auto src = static_cast<std::size_t>(relation.src);
  const std::uint64_t begin = dataset.slots->node_begin[src], count = dataset.slots->num_nodes_of(src);
  const auto is_bad = [=](NodeId id) { return id - begin >= count; };  // a lower one wraps around
  const Found found = oneapi::tbb::parallel_reduce(
      Range(0, rows.num_nodes(), kGrain), Found{},
      [&](const Range& range, Found sum) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
          const auto row = rows.row(i);
          sum.num_entries += row.size();
          if (sum.first_bad == kNone && std::ranges::any_of(row, is_bad)) sum.first_bad = i;
        }
        return sum;
      },
      [](Found a, Found b) { return a + b; });
  const std::string name = text_of(dataset.types, relation);
  if (found.first_bad != kNone) {
    const auto row = rows.row(found.first_bad);
    const std::string& type = dataset.types.node_types[src].name;
    checks.refuse(kIndicesArray.file, "row " + std::to_string(rows.row_number(found.first_bad)) + " (" + name +
                                          ") has " + std::to_string(*std::ranges::find_if(row, is_bad)) + ", " +
                                          (count == 0 ? "there is no node of type '" + type + "'"
                                                      : "nodes of type '" + type + "' are " + std::to_string(begin) +
                                                            " to " + std::to_string(begin + count - 1)));
  }
  if (found.num_entries != relation.num_entries)
    checks.refuse(kIndptrArray.file, "relation " + name + " has " + std::to_string(found.num_entries) +
                                         " entries, dataset.json says " + std::to_string(relation.num_entries));
}

/// Of all edges of a relation, from source to destination, or the other way round.
std::uint64_t sum_of_hashes(const RelationRows& rows, bool from_source) {
  return oneapi::tbb::parallel_reduce(
      Range(0, rows.num_nodes(), kGrain), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i)
          for (const NodeId entry : rows.row(i))
            sum += from_source ? hash_of_edge(entry, rows.node(i)) : hash_of_edge(rows.node(i), entry);
        return sum;
      },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

void check_reverse(const Dataset& dataset, const Relation& reverse, const DatasetChecks& checks) {
  const Relation& forward = dataset.types.relations[static_cast<std::size_t>(*reverse.reverse_of)];
  const RelationRows rows(dataset, reverse), others(dataset, forward);
  if (sum_of_hashes(rows, /*from_source=*/true) == sum_of_hashes(others, /*from_source=*/false)) return;
  const auto refuse = [&](const RelationRows& has, const RelationRows& lacks, const Relation& a, const Relation& b) {
    for (std::uint64_t i = 0; i < has.num_nodes(); ++i)
      for (const NodeId entry : has.row(i))
        if (!lacks.has(entry, has.node(i)))
          checks.refuse(kIndicesArray.file, "relation " + text_of(dataset.types, a) + " leads from " +
                                                std::to_string(entry) + " to " + std::to_string(has.node(i)) +
                                                ", but " + text_of(dataset.types, b) + " does not lead back");
  };
  refuse(rows, others, reverse, forward);
  refuse(others, rows, forward, reverse);
}

}  // namespace

void check_typed(const Dataset& dataset, const DatasetChecks& checks) {
  for (const Relation& relation : dataset.types.relations) check_relation(dataset, relation, checks);
  for (std::size_t t = 0; t < dataset.type_features.size(); ++t) {
    const FeatureShape& shape = dataset.types.node_types[t].features;
    if (shape.is_sparse()) checks.check_sparse_rows(dataset.type_features[t].sparse, shape.dim, FeatureNames(t));
  }
}

void verify_typed(const std::filesystem::path& directory, const Dataset& dataset) {
  const DatasetChecks checks(directory);
  for (std::size_t t = 0; t < dataset.type_features.size(); ++t) {
    const auto& [rows, sparse] = dataset.type_features[t];
    const FeatureShape& shape = dataset.types.node_types[t].features;
    if (rows.data != nullptr) checks.check_finite(rows, shape.type, FeatureNames(t));
    checks.check_values(sparse, shape.type, FeatureNames(t));
  }
  for (const Relation& relation : dataset.types.relations)
    if (relation.reverse_of) check_reverse(dataset, relation, checks);
}

}  // namespace salient
