// tests/benchmarks/measure_test.cpp - warm-ups do not count, the best round is kept, and rates are those of the rounds.
#include "benchmarks/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "benchmarks/bench_graph.h"

namespace salient {
namespace {

struct NumberedRound {
  int number = 0;
  double per_second = 0;
  double rate() const { return per_second; }
};

TEST(Measure, CountsTheRoundsAfterTheWarmUps) {
  const std::vector<double> rates{1000, 900, 3, 8, 5, 4};  // two warm-ups, four rounds
  int calls = 0;
  const Measured<NumberedRound> found = measure({.warm_ups = 2, .rounds = 4}, [&] {
    const int number = calls++;
    return NumberedRound{number, rates.at(static_cast<std::size_t>(number))};
  });
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(found.rate.best, 8);
  EXPECT_EQ(found.rate.median, 4.5);
  EXPECT_EQ(found.best.number, 3);
}

TEST(Measure, OneRoundIsBestAndMedian) {
  const auto found = measure({}, [] { return TimedWork{6, 2}; });
  EXPECT_EQ(found.rate.best, 3);
  EXPECT_EQ(found.rate.median, 3);
  EXPECT_EQ(found.best.amount, 6);
}

TEST(Counted, HasAPluralButForOne) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(16, "thread"), "16 threads");
}

TEST(BenchGraph, HasTheMeanDegreeAndBothDirections) {
  const CsrArrays graph = make_bench_graph(5000, 12);
  const CsrGraph view = graph.view();
  EXPECT_NEAR(static_cast<double>(view.indices.size()) / 5000, 12, 1.5);
  for (NodeId v = 0; v < 5000; ++v)
    for (const NodeId u : view.row(v)) ASSERT_TRUE(std::ranges::binary_search(view.row(u), v)) << v << " - " << u;
  EXPECT_EQ(graph, make_bench_graph(5000, 12)) << "depends on the arguments alone";
}

TEST(BenchDataset, TrainsOnEveryNodeOnceInScatteredOrder) {
  const Dataset dataset = make_bench_dataset(2000, 8, 12);
  std::vector<NodeId> nodes(dataset.train.begin(), dataset.train.end());
  EXPECT_FALSE(std::ranges::is_sorted(nodes));
  std::ranges::sort(nodes);
  ASSERT_EQ(nodes.size(), 2000U);
  for (NodeId v = 0; v < 2000; ++v) EXPECT_EQ(nodes[v], v);
  EXPECT_EQ(dataset.features.num_rows, 2000U);
  EXPECT_EQ(dataset.features.row_bytes, 24U);
  EXPECT_EQ(dataset.source_kind, "synthetic");
}

}  // namespace
}  // namespace salient
