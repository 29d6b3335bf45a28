// tests/loaders/graph_tiers_test.cpp - whatever rows are hot, the two arrays hold every row where begin_of() says.
#include "loaders/graph_tiers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "store/synthetic.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

/// The entries as a GPU has them: hot ones in one array, cold ones in another.
struct TwoArrays {
  explicit TwoArrays(const GraphTiers& tiers) : hot(tiers.num_hot()), cold(tiers.num_cold()) {
    tiers.copy(0, hot.size(), hot.data());
    tiers.copy(hot.size(), cold.size(), cold.data());
  }
  std::vector<NodeId> hot, cold;
};

/// Row v by the lookup alone, with the first cold entry at an index that no hot one has.
std::vector<NodeId> row_of(const TwoArrays& arrays, const GraphTiers& tiers, const CsrGraph& graph, NodeId v) {
  constexpr EdgeOffset kFirstCold = -(EdgeOffset{1} << 40);  // host memory may be below the GPU's
  const EdgeOffset begin = tiers.begin_of(v, kFirstCold);
  const bool is_cold = begin < 0;
  const std::vector<NodeId>& from = is_cold ? arrays.cold : arrays.hot;
  const auto first = static_cast<std::size_t>(is_cold ? begin - kFirstCold : begin);
  if (first + graph.degree(v) > from.size()) return {std::numeric_limits<NodeId>::max()};  // across the cut
  return {from.begin() + static_cast<std::ptrdiff_t>(first),
          from.begin() + static_cast<std::ptrdiff_t>(first + graph.degree(v))};
}

void expect_rows_of(const CsrGraph& graph, const std::vector<float>& values, std::size_t most_hot) {
  const GraphTiers tiers(graph, values, most_hot);
  ASSERT_LE(tiers.num_hot(), most_hot);
  ASSERT_EQ(tiers.num_hot() + tiers.num_cold(), graph.indices.size());
  const TwoArrays arrays(tiers);
  for (NodeId v = 0; v < graph.num_nodes(); ++v) {
    const std::span<const NodeId> row = graph.row(v);
    ASSERT_EQ(row_of(arrays, tiers, graph, v), std::vector<NodeId>(row.begin(), row.end())) << "row " << v;
  }
  std::size_t num_hot = 0;
  float least_hot = std::numeric_limits<float>::infinity(), most_cold = 0;
  const std::vector<NodeId> hot = tiers.hot_nodes();
  for (NodeId v = 0; v < graph.num_nodes(); ++v) {
    if (graph.degree(v) == 0) continue;
    if (std::ranges::binary_search(hot, v)) {
      num_hot += graph.degree(v);
      least_hot = std::min(least_hot, values[v]);
    } else {
      most_cold = std::max(most_cold, values[v]);
    }
  }
  EXPECT_EQ(num_hot, tiers.num_hot());
  EXPECT_EQ(hot.capacity(), hot.size()) << "4 bytes a node, as planned";
  EXPECT_LE(most_cold, 1.01F * least_hot) << "the most valuable rows are hot";
}

TEST(GraphTiers, HoldEveryRowWhateverIsHot) {
  std::mt19937 random(1);
  for (const test::OwnedGraph& graph : {test::power_law_graph(1, 0, 1), test::power_law_graph(700, 0.8, 1),
                                        test::power_law_graph(3000, 9, 2), test::star_graph(100)}) {
    const std::size_t all = graph.indices.size(), but_one = all - std::min<std::size_t>(all, 1);
    for (const std::uint32_t num_values : {1U, 3U, 1'000'000U})
      for (const std::size_t most_hot : {std::size_t{0}, std::size_t{1}, all / 10, all / 2, but_one, all, all + 5}) {
        std::vector<float> values(graph.view().num_nodes());
        for (float& value : values) value = static_cast<float>(random() % num_values) * 0x1p-20F;
        expect_rows_of(graph.view(), values, most_hot);
        if (testing::Test::HasFailure()) return;
      }
  }
}

TEST(GraphTiers, CopyAnyPieceOfTheirOrder) {
  const test::OwnedGraph graph = test::power_law_graph(500, 7, 3);
  std::vector<float> values(500);
  std::iota(values.begin(), values.end(), 0.F);
  const GraphTiers tiers(graph.view(), values, 1000);
  const std::size_t all = graph.indices.size();
  std::vector<NodeId> whole(all);
  tiers.copy(0, all, whole.data());
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::size_t first = random() % (all + 1), count = random() % (all - first + 1);
    std::vector<NodeId> piece(count);
    tiers.copy(first, count, piece.data());
    ASSERT_TRUE(std::ranges::equal(piece, std::span(whole).subspan(first, count))) << first << ", " << count;
  }
  EXPECT_ANY_THROW(tiers.copy(1, all, whole.data()));
}

TEST(GraphTiers, ServeMoreReadsByVisitsPerEntryThanByLength) {
  SyntheticOptions options = synthetic_of_size(60'000, 15, /*feature_dim=*/0, /*num_classes=*/100);
  options.homophily = 0.9;
  options.split = {1200, 0, 0};
  options.train_communities = 0.1;
  const Dataset dataset = make_synthetic_dataset(options);
  const CsrGraph& graph = dataset.graph;
  const SamplingPlan plan{.rule = {{8, 5, 3}}, .seeds = dataset.train, .batch_size = 50, .seed = 1};
  const auto share_by = [&](CachePolicy policy, const SamplingPlan& chosen_for) {
    const GraphTiers tiers(graph, row_values(graph, policy, chosen_for), graph.indices.size() / 3);
    return share_in(NodeSet(graph.num_nodes(), tiers.hot_nodes()), graph, plan_of_rows(plan));
  };
  const double by_length = share_by(CachePolicy::kDegree, plan), by_formula = share_by(CachePolicy::kVip, plan);
  EXPECT_GT(by_formula, by_length + 0.2);
  EXPECT_NEAR(share_by(CachePolicy::kCounted, plan), by_formula, 0.05);
  EXPECT_EQ(share_by(CachePolicy::kVip, {}), by_length) << "nothing is expected of an empty plan";
}

TEST(ShareOfRows, IsOfRowsWithEntries) {
  const test::OwnedGraph star = test::star_graph(100);  // of which node 0 alone has entries
  const std::vector<NodeId> seeds{0, 7}, leaves{7, 8}, centre{0}, none;
  SamplingPlan plan{.rule = {{5}}, .seeds = seeds, .batch_size = 2, .seed = 1};
  const auto share = [&](const std::vector<NodeId>& hot) {
    return share_of_rows_in(NodeSet(star.view().num_nodes(), hot), star.view(), plan);
  };
  EXPECT_EQ(share(centre), 1) << "leaves have nothing to be read";
  EXPECT_EQ(share(none), 0);
  plan.seeds = leaves;
  EXPECT_EQ(share(none), 1) << "no row is read";
}

TEST(PlanOfRows, LeavesOutWhatOnlyTheLastHopFinds) {
  EXPECT_EQ(plan_of_rows({.rule = {{4, 3, 2}}}).rule.fanouts, (std::vector{4, 3}));
  EXPECT_EQ(plan_of_rows({.rule = {{4}}}).rule.fanouts, std::vector{4}) << "a plan without hops would be empty";
}

}  // namespace
}  // namespace salient
