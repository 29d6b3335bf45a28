// tests/store/synthetic_typed_test.cpp - generated typed graphs are the same everywhere, well-formed, of the shape of
// their originals, and learnable through their relations.
#include "store/synthetic_typed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/half.h"
#include "store/dataset_checks.h"
#include "store/typed_checks.h"
#include "tests/support/dataset_digest.h"

namespace salient {
namespace {

using test::digest_text;

/// Row of a slot of a relation at the i-th node of its destination type.
std::span<const NodeId> row_of(const Dataset& dataset, std::size_t relation, NodeId i) {
  const Relation& r = dataset.types.relations[relation];
  const auto dst = static_cast<std::size_t>(r.dst);
  return dataset.graph.row(dataset.slots->row_of(dst, static_cast<NodeId>(dataset.slots->node_begin[dst] + i), r.slot));
}

std::set<std::pair<NodeId, NodeId>> pairs_of(const Dataset& dataset, std::size_t relation) {
  const auto dst = static_cast<std::size_t>(dataset.types.relations[relation].dst);
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (NodeId i = 0; i < dataset.slots->num_nodes_of(dst); ++i)
    for (const NodeId u : row_of(dataset, relation, i))
      pairs.emplace(u, static_cast<NodeId>(dataset.slots->node_begin[dst] + i));
  return pairs;
}

TEST(SyntheticTyped, SameBytesForAnyThreadCountAndOtherBytesForAnotherSeed) {
  SyntheticTypedOptions options = synthetic_typed_like("mag", 0.01);
  const std::string expected = digest_text(make_synthetic_dataset(options, 1));
  EXPECT_EQ(digest_text(make_synthetic_dataset(options, 4)), expected);
  options.seed = 1;
  EXPECT_NE(digest_text(make_synthetic_dataset(options)), expected);
}

TEST(SyntheticTyped, GraphsKeepTheRulesOfAStore) {
  for (const auto& [name, scale] : {std::pair("mag", 0.01), {"mag", 1e-6}, {"igbh", 2e-5}, {"igbh", 1e-9}}) {
    SCOPED_TRACE(std::string(name) + " " + std::to_string(scale));
    const Dataset dataset = make_synthetic_dataset(synthetic_typed_like(name, scale));
    const DatasetChecks checks("generated");
    checks.check_indptr(dataset.graph.indptr, static_cast<std::uint64_t>(dataset.num_edges()));
    check_typed(dataset, checks);
    checks.check_rows_ascend(dataset.graph, true);
    checks.check_self_loops(dataset.graph, 0);
    checks.check_labels(dataset.label_table(), dataset.num_classes);
    for (const FeatureTable& table : dataset.type_features)
      if (table.rows.data != nullptr) checks.check_finite(table.rows, dataset.feature_type);
    for (std::size_t r = 0; r < dataset.types.relations.size(); ++r) {
      const Relation& relation = dataset.types.relations[r];
      if (!relation.reverse_of) continue;
      std::set<std::pair<NodeId, NodeId>> turned;
      for (const auto& [u, v] : pairs_of(dataset, r)) turned.emplace(v, u);
      EXPECT_EQ(turned, pairs_of(dataset, static_cast<std::size_t>(*relation.reverse_of))) << relation.name;
    }
  }
}

TEST(SyntheticTyped, ShapeIsThatOfTheOriginal) {
  const SyntheticTypedOptions options = synthetic_typed_like("mag", 0.02);
  const Dataset dataset = make_synthetic_dataset(options);
  EXPECT_EQ(dataset.types.target().name, "paper");
  EXPECT_EQ(dataset.slots->num_nodes_of(1), 22'692u);
  EXPECT_EQ(dataset.train.size(), 12'591u);
  ASSERT_EQ(dataset.types.relations.size(), 8u);
  for (std::size_t r = 0; r < 4; ++r) {
    const Relation& relation = dataset.types.relations[r];
    const auto wanted = static_cast<double>(options.edges[r].count);
    EXPECT_GT(static_cast<double>(relation.num_entries), 0.75 * wanted) << relation.name;
    EXPECT_LT(static_cast<double>(relation.num_entries), 1.05 * wanted) << relation.name;
  }
  std::size_t most_papers = 0, most_authors = 0;
  for (NodeId author = 0; author < 22'692; ++author)
    most_papers = std::max(most_papers, row_of(dataset, 5, author).size());
  for (NodeId paper = 0; paper < dataset.slots->num_nodes_of(0); ++paper)
    most_authors = std::max(most_authors, row_of(dataset, 1, paper).size());
  EXPECT_GT(most_papers, 200u) << "a heavy tail";
  EXPECT_LE(most_authors, 20u) << "twice the mean";
}

/// A class's mean of the features of cited papers' neighbours is nearer to a paper than other classes' are.
TEST(SyntheticTyped, NeighboursOfARelationShareTheCommunity) {
  SyntheticTypedOptions options = synthetic_typed_like("mag", 0.02);
  options.label_fidelity = 1;
  options.num_classes = 8;
  const Dataset dataset = make_synthetic_dataset(options);
  std::uint64_t equal = 0, both = 0;
  for (NodeId paper = 0; paper < dataset.slots->num_nodes_of(0); ++paper)
    for (const NodeId cited : row_of(dataset, 2, paper)) {
      if (dataset.labels[paper] < 0 || dataset.labels[cited] < 0) continue;
      ++both;
      equal += dataset.labels[paper] == dataset.labels[cited];
    }
  ASSERT_GT(both, 5'000u);
  const double share = static_cast<double>(equal) / static_cast<double>(both);
  EXPECT_GT(share, 0.5) << "homophily of one half, and chance";
  EXPECT_LT(share, 0.75);
}

TEST(SyntheticTyped, NamesThatAreNoneAreRefused) {
  EXPECT_TRUE(is_synthetic_typed_name("synthetic:mag"));
  EXPECT_TRUE(is_synthetic_typed_name("synthetic:igbh:0.125"));
  EXPECT_FALSE(is_synthetic_typed_name("synthetic:mag240M"));
  EXPECT_FALSE(is_synthetic_typed_name("mag"));
  for (const char* name : {"synthetic:mag:0", "synthetic:mag:2", "synthetic:mag:x", "synthetic:mag:0.1:1"})
    EXPECT_THROW(parse_synthetic_typed_name(name), Error) << name;
}

}  // namespace
}  // namespace salient
