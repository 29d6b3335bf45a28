// tests/loaders/pair_features_test.cpp - what batches of links with times say of pairs and of the age of entries.
#include "loaders/pair_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "loaders/batch_loader.h"
#include "tests/support/batches.h"
#include "tests/support/timed_dataset.h"

namespace salient {
namespace {

struct TimedLinks : test::TimedDataset {
  TimedLinks() {
    for (NodeId v = 0; v < 300; ++v)
      for (EdgeOffset e = dataset.graph.indptr[v]; e < dataset.graph.indptr[v + 1]; ++e) {
        ends.insert(ends.end(), {dataset.graph.indices[static_cast<std::size_t>(e)], v});
        times.push_back(edge_times[static_cast<std::size_t>(e)]);
      }
    order.resize(times.size());
    std::iota(order.begin(), order.end(), NodeId{0});
  }
  std::vector<NodeId> ends{}, order{};
  std::vector<std::int64_t> times{};
};

/// A batch's hop of seeds, as it is in the slab.
struct SeedRows {
  explicit SeedRows(const Batch& of) : batch(of), hop(of.layout.hops.back()) {}
  std::map<NodeId, std::vector<std::int64_t>> row(LocalId seed, std::span<const std::int64_t> entry_times) const {
    std::map<NodeId, std::vector<std::int64_t>> met;
    const auto* const indptr = batch.at<const LocalId>(hop.indptr);
    for (LocalId e = indptr[seed]; e < indptr[seed + 1]; ++e)
      met[batch.at<const NodeId>(batch.layout.nodes)[batch.at<const LocalId>(hop.indices)[e]]].push_back(
          entry_times[static_cast<std::size_t>(batch.at<const std::int64_t>(hop.places)[e])]);
    return met;
  }
  const Batch& batch;
  const HopLayout& hop;
};

float log_of(std::size_t count) { return std::log(1 + static_cast<float>(count)); }

TEST(PairFeatures, CountWhatBothEndsKept) {
  const TimedLinks timed;
  BatchLoader loader(
      timed.dataset,
      {.rule = {{6, 10}},
       .time = TimeRule{.strategy = TimeStrategy::kLast},
       .links =
           LinkBatches{.ends = timed.ends, .rule = {.negatives = 2}, .times = timed.times, .has_pair_features = true},
       .entries = {.places = true},
       .num_workers = 0});
  const std::vector<BatchRequest> requests = test::requests_of(timed.order, 64);
  loader.start(requests);
  std::size_t count = 0, num_met = 0, num_common = 0;
  while (const Batch* batch = loader.next()) {
    const SeedRows rows(*batch);
    const auto& request = requests.at(count++);
    const auto* const pairs = batch->at<const LocalId>(batch->layout.pairs);
    const auto* x = batch->at<const float>(batch->layout.pair_x);
    for (LocalId p = 0; p < batch->layout.num_pairs; ++p, x += kPairFeatures) {
      const auto links = static_cast<LocalId>(request.seeds.size());
      const std::int64_t time = timed.times[request.seeds[static_cast<std::size_t>(p < links ? p : (p - links) / 2)]];
      const auto* const nodes = batch->at<const NodeId>(batch->layout.nodes);
      const NodeId source = nodes[pairs[2 * p]], destination = nodes[pairs[2 * p + 1]];
      auto a = rows.row(pairs[2 * p], timed.edge_times), b = rows.row(pairs[2 * p + 1], timed.edge_times);
      std::size_t common = 0;
      for (const auto& [node, of_a] : a)
        if (b.contains(node)) common += std::min(of_a.size(), b[node].size());
      std::int64_t latest = -1;
      for (const std::int64_t t : a[destination]) latest = std::max(latest, t);
      for (const std::int64_t t : b[source]) latest = std::max(latest, t);
      ASSERT_FLOAT_EQ(x[0], log_of(a[destination].size()));
      ASSERT_FLOAT_EQ(x[1], log_of(b[source].size()));
      ASSERT_FLOAT_EQ(x[2], log_of(common));
      ASSERT_LT(latest, time) << "a pair knows its past alone";
      ASSERT_FLOAT_EQ(x[3], latest < 0 ? 0 : 1 / (1 + log_of(static_cast<std::size_t>(time - latest))));
      num_met += latest >= 0;
      num_common += common > 0;
    }
  }
  EXPECT_EQ(count, requests.size());
  EXPECT_GT(num_met, 50u);
  EXPECT_GT(num_common, 20u);
}

TEST(TimeGaps, AreLogarithmsOfTheAgeOfEntries) {
  const TimedLinks timed;
  for (const bool of_links : {true, false}) {
    LoaderOptions options{.rule = {{4, 5}}, .time = TimeRule{}, .entries = {.places = true, .gaps = true}};
    options.num_workers = 0;
    if (of_links) options.links = LinkBatches{timed.ends, {.negatives = 1}, timed.times};
    BatchLoader loader(timed.dataset, options);
    std::vector<NodeId> items(400);
    std::iota(items.begin(), items.end(), NodeId{0});
    const std::vector<BatchRequest> requests = test::requests_of(items, 40);
    loader.start(requests);
    std::size_t num_entries = 0;
    while (const Batch* batch = loader.next())
      for (const HopLayout& hop : batch->layout.hops)
        for (LocalId e = 0; e < hop.num_edges; ++e, ++num_entries) {
          const float gap = batch->at<const float>(hop.gaps)[e];
          const std::int64_t entry =
              timed.edge_times[static_cast<std::size_t>(batch->at<const std::int64_t>(hop.places)[e])];
          const double seen_at = static_cast<double>(entry) + std::expm1(static_cast<double>(gap));
          ASSERT_NEAR(seen_at, std::round(seen_at), 1e-4) << "a time of a seed";
          ASSERT_GT(gap, 0.6F) << "ln 2 at least: what a seed sees is before it";
          ASSERT_LT(seen_at, 29.5);
        }
    EXPECT_GT(num_entries, 1000u);
  }
}

TEST(TimeGaps, AreOfARuleOfTimes) {
  const TimedLinks timed;
  EXPECT_THROW(BatchLoader(timed.dataset, {.rule = {{4}}, .entries = {.gaps = true}, .num_workers = 0}), Error);
}

}  // namespace
}  // namespace salient
