// tests/loaders/edge_weights_batches_test.cpp - batches carry the weights of entries, and of the whole rows of nodes.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/error.h"
#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "loaders/row_weights.h"
#include "tests/support/batches.h"
#include "tests/support/timed_dataset.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};
constexpr EntryParts kAll{.places = true, .weights = true, .row_weights = true};

void expect_weights_of_places(const Batch& batch, const Dataset& dataset) {
  const CsrGraph& graph = dataset.graph;
  for (const HopLayout& hop : batch.layout.hops)
    for (LocalId e = 0; e < hop.num_edges; ++e)
      ASSERT_EQ(batch.at<float>(hop.weights)[e],
                graph.entries.weights[static_cast<std::size_t>(batch.at<std::int64_t>(hop.places)[e])]);
  for (LocalId i = 0; i < batch.layout.num_nodes; ++i) {
    const auto row = graph.weights_of(batch.at<NodeId>(batch.layout.nodes)[i]);
    ASSERT_EQ(batch.at<float>(batch.layout.row_weights)[i], std::accumulate(row.begin(), row.end(), 0.0f));
  }
}

TEST(EdgeWeightsBatches, HaveTheWeightOfEveryEntryAndRow) {
  const test::TimedDataset timed;  // whole numbers, so that sums are exact
  for (const std::optional<TimeRule>& time : {std::optional<TimeRule>(), std::optional<TimeRule>(TimeRule{})}) {
    BatchLoader loader(timed.dataset, {.rule = {kFanouts}, .time = time, .entries = kAll, .num_workers = 2});
    loader.start(test::requests_of(timed.dataset.train, 30));
    while (const Batch* batch = loader.next()) expect_weights_of_places(*batch, timed.dataset);
  }
}

TEST(EdgeWeightsBatches, AreInWhatTheCopyMovesWhereTheDeviceGathersRowsOfNodes) {
  const test::TimedDataset timed;
  const std::vector<float> rows = row_weights_of(timed.dataset.graph);
  BatchMaker maker(timed.dataset, {kFanouts}, ResidentView{.features = Residency::kDevice});
  maker.carry(kAll, rows);
  Batch batch;
  HostSlab slab;
  maker.sample(test::requests_of(timed.dataset.train, 30).front(), batch);
  batch.data = slab.reserve(batch.layout.bytes);
  maker.write(batch, batch.data);
  for (const HopLayout& hop : batch.layout.hops)
    EXPECT_LE(hop.weights + static_cast<std::size_t>(hop.num_edges) * sizeof(float), batch.layout.prepared_bytes);
  expect_weights_of_places(batch, timed.dataset);
}

TEST(EdgeWeightsBatches, OfADataSetWithoutAreRefused) {
  const Dataset dataset = test::generated_dataset(300, 8, 5);
  BatchMaker maker(dataset, {kFanouts});
  EXPECT_THROW(maker.carry({.weights = true}), Error);
}

}  // namespace
}  // namespace salient
