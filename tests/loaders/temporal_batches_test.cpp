// tests/loaders/temporal_batches_test.cpp - batches of what seeds' times admit: the references, by any threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using Times = std::vector<std::int64_t>;

const std::vector<int> kFanouts{5, 3};

/// Times 0 to 29 of edges and of nodes, so few that seeds share them.
struct TimedDataset {
  TimedDataset() {
    const auto time_of = [](std::uint32_t i, std::uint32_t what) {
      return std::int64_t{philox4x32({{3, what}}, {{i, 0, 0, 0}}).word[0] % 30};
    };
    for (std::uint32_t e = 0; e < dataset.graph.indices.size(); ++e) edge_times.push_back(time_of(e, 1));
    for (std::size_t v = 0; v < dataset.num_nodes(); ++v) {
      const auto begin = edge_times.begin() + dataset.graph.indptr[v], end = begin + dataset.graph.degree(v);
      std::sort(begin, end);
      node_times.push_back(time_of(static_cast<std::uint32_t>(v), 2));
    }
    dataset.has_edge_times = dataset.has_node_times = true;
    dataset.graph.entries.times = edge_times;
    dataset.node_times = node_times;
  }
  TimedDataset(const TimedDataset&) = delete;
  TimedDataset& operator=(const TimedDataset&) = delete;

  Mfg reference(const TimeRule& rule, const BatchRequest& request, Draw draw = Draw::kUniform) const {
    Times times;
    for (const NodeId seed : request.seeds) times.push_back(node_times[seed]);
    return reference_temporal_sample(dataset.graph, {kFanouts, draw}, rule, request.seeds, times, request.key).mfg;
  }

  Dataset dataset = test::generated_dataset(1500, 12, 9);
  Times edge_times{}, node_times{};
};

TEST(TemporalBatches, AreTheReferencesForAnyWorkers) {
  const TimedDataset timed;
  const std::vector<BatchRequest> requests = test::requests_of(timed.dataset.train, 64);
  for (const TimeRule& rule :
       {TimeRule{}, TimeRule{.order = TimeOrder::kUpTo, .window = 4}, TimeRule{.strategy = TimeStrategy::kLast}})
    for (const int num_workers : {0, 1, 3}) {
      BatchLoader loader(timed.dataset, {.rule = {kFanouts}, .time = rule, .num_workers = num_workers});
      loader.start(requests);
      std::size_t count = 0;
      while (const Batch* batch = loader.next()) {
        const BatchRequest& request = requests.at(count++);
        test::expect_batch_of(timed.reference(rule, request), *batch, timed.dataset, request);
        if (HasFailure()) return;
      }
      EXPECT_EQ(count, requests.size());
    }
}

TEST(TemporalBatches, TakeEveryDraw) {
  const TimedDataset timed;
  const BatchRequest request{{1, 2, 3}, timed.dataset.train.first(50)};
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor}) {
    const auto sampler = make_host_sampler(timed.dataset, {kFanouts, draw}, TimeRule{});
    EXPECT_EQ(test::sample_with(*sampler, request.seeds, request.key), timed.reference({}, request, draw));
  }
}

// pyg#7794, its graph: an edge of time 2 is not of the past of a seed of time 1.
TEST(TemporalBatches, HaveNoEdgeThatIsLaterThanTheSeed) {
  const std::vector<EdgeOffset> indptr{0, 3, 4, 5};
  const std::vector<NodeId> indices{1, 1, 2, 0, 1}, seeds{0, 1, 2};
  const Times edge_times{1, 4, 5, 2, 3};
  Dataset dataset;
  dataset.graph = {.indptr = indptr, .indices = indices, .entries = {.times = edge_times}};
  dataset.has_edge_times = dataset.has_node_times = true;
  const auto kept = [&](TimeOrder order, const Times& node_times) {
    dataset.node_times = node_times;
    const auto sampler = make_host_sampler(dataset, {{kAllNeighbors}}, TimeRule{.order = order});
    return test::sample_with(*sampler, seeds, {1, 1, 1}).hops[0].indptr;
  };
  EXPECT_EQ(kept(TimeOrder::kUpTo, {4, 1, 3}), (std::vector<LocalId>{0, 2, 2, 3}));
  EXPECT_EQ(kept(TimeOrder::kBefore, {4, 1, 3}), (std::vector<LocalId>{0, 1, 1, 1}));
  EXPECT_EQ(kept(TimeOrder::kUpTo, {0, 1, 2}), (std::vector<LocalId>{0, 0, 0, 0})) << "before the first edge";
}

TEST(TemporalBatches, NeedTimesOfEdgesAndNodes) {
  TimedDataset timed;
  const auto make = [&] { (void)make_host_sampler(timed.dataset, {kFanouts}, TimeRule{}); };
  EXPECT_NO_THROW(make());
  EXPECT_COMPLAINT((void)make_host_sampler(timed.dataset, {kFanouts}, TimeRule{.window = 0}), ErrorKind::kUsage,
                   "a window of time of 0: at least 1");
  timed.dataset.has_node_times = false;
  EXPECT_COMPLAINT(make(), ErrorKind::kUsage, "drawn by time, and generated has no times of nodes");
  timed.dataset.has_edge_times = false;
  EXPECT_COMPLAINT(make(), ErrorKind::kUsage, "drawn by time, and generated has no times of edges");
  timed.dataset.types.node_types = {{.name = "paper", .count = 1500}};
  EXPECT_COMPLAINT(make(), ErrorKind::kUsage, "drawn by time, and generated has node types");
}

// Degrees of the whole graph count edges that are later than the seed.
TEST(TemporalBatches, HaveNoDegrees) {
  const TimedDataset timed;
  BatchMaker maker(timed.dataset, make_host_sampler(timed.dataset, {kFanouts}, TimeRule{}), {}, {},
                   Degrees::kOfEveryNode);
  Batch batch;
  maker.sample({{1, 1, 1}, timed.dataset.train.first(5)}, batch);
  std::vector<std::byte> slab(batch.layout.bytes);
  EXPECT_THROW(maker.write(batch, slab.data()), Error);
}

}  // namespace
}  // namespace salient
