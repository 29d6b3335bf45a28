// tests/loaders/temporal_batches_test.cpp - batches of what seeds' times admit: the references, by any threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/error.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "tests/support/batches.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/scratch.h"
#include "tests/support/timed_dataset.h"

namespace salient {
namespace {

using test::TimedDataset;
using Times = std::vector<std::int64_t>;

const std::vector<int> kFanouts{5, 3};

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
        test::expect_batch_of(timed.reference({kFanouts}, rule, request), *batch, timed.dataset, request);
        if (HasFailure()) return;
      }
      EXPECT_EQ(count, requests.size());
    }
}

TEST(TemporalBatches, TakeEveryDraw) {
  const TimedDataset timed;
  const BatchRequest request{{1, 2, 3}, timed.dataset.train.first(50)};
  for (const auto& [draw, name] : names_of(Draw{})) {
    const auto sampler = make_host_sampler(timed.dataset, {kFanouts, draw}, TimeRule{});
    EXPECT_EQ(test::sample_with(*sampler, request.seeds, request.key), timed.reference({kFanouts, draw}, {}, request));
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
