// tests/engine/plan/relation_samples_test.cpp - edges of each relation in a batch are the entries of its nodes' slots.
#include "engine/plan/relation_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "store/synthetic_typed.h"

namespace salient {
namespace {

/// [relations] entries of the slots of `nodes`; and the nodes that they lead to, with `nodes` themselves.
std::vector<double> entries_of(const Dataset& dataset, std::set<NodeId>& nodes) {
  std::vector<double> counts;
  std::set<NodeId> reached = nodes;
  for (const Relation& relation : dataset.types.relations) {
    counts.push_back(0);
    for (const NodeId node : nodes) {
      const auto type = static_cast<std::size_t>(relation.dst);
      if (dataset.slots->type_of(node) != type) continue;
      const auto row = dataset.graph.row(dataset.slots->row_of(type, node, relation.slot));
      counts.back() += static_cast<double>(row.size());
      reached.insert(row.begin(), row.end());
    }
  }
  nodes = reached;
  return counts;
}

TEST(RelationSamples, AreTheEntriesOfABatch) {
  const Dataset dataset = make_synthetic_dataset(synthetic_typed_like("mag", 0.0005), 1);
  const std::vector<NodeId> seeds(dataset.train.begin(), dataset.train.begin() + 20);
  const RelationSamples all = sample_relations(dataset, {.fanouts = {kAllNeighbors, kAllNeighbors}}, seeds, 20, 1);
  EXPECT_EQ(all.batches, 1u);
  std::set<NodeId> nodes(seeds.begin(), seeds.end());
  for (std::size_t hop = 0; hop < 2; ++hop) {
    const std::vector<double> expected = entries_of(dataset, nodes);
    EXPECT_GT(*std::ranges::max_element(expected), 0);
    for (std::size_t r = 0; r < expected.size(); ++r) EXPECT_DOUBLE_EQ(all.edges[r][hop], expected[r]) << r;
  }
  const RelationSamples parts = sample_relations(dataset, {.fanouts = {kAllNeighbors}}, seeds, 8, 1);
  EXPECT_EQ(parts.batches, 3u);
  for (std::size_t r = 0; r < all.edges.size(); ++r) EXPECT_NEAR(3 * parts.edges[r][0], all.edges[r][0], 1e-9);
  EXPECT_EQ(sample_relations(dataset, {.fanouts = {5}}, {}, 8, 1).batches, 0u);
}

}  // namespace
}  // namespace salient
