// tests/loaders/batch_loader_test.cpp - the loader's batches are the references', whatever the threads and slots.
#include "loaders/batch_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

#include "core/error.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

class BatchLoaderProperty : public ::testing::Test {
 protected:
  const Dataset dataset_ = test::generated_dataset(2000, 12, 25);
  const std::vector<BatchRequest> requests_ = test::requests_of(dataset_.train, 64);
};

TEST_F(BatchLoaderProperty, BatchesEqualTheReferencesForAnyWorkersAndSlots) {
  for (const int num_workers : {0, 1, 2, 4, 8})
    for (const int num_slots : {0, 2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << num_workers << " workers, " << num_slots << " slots");
      if (num_workers == 0 && num_slots == 0) continue;
      BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = num_slots});
      for (int epoch = 0; epoch < 2; ++epoch) {
        loader.start(requests_);
        std::size_t count = 0;
        while (const Batch* batch = loader.next()) {
          ASSERT_EQ(batch->index, count);
          test::expect_reference_batch(*batch, dataset_, kFanouts, requests_.at(count++));
        }
        EXPECT_EQ(count, requests_.size());
        EXPECT_EQ(loader.next(), nullptr) << "and it stays at the end";
        EXPECT_EQ(loader.stats().batches, static_cast<std::int64_t>(requests_.size()));
        EXPECT_EQ(loader.stats().seeds, static_cast<std::int64_t>(dataset_.train.size()));
      }
      if (HasFailure()) return;
    }
}

TEST_F(BatchLoaderProperty, BatchesCarryDegreesIfAskedAndAreElseTheSame) {
  for (const int num_workers : {0, 3}) {
    BatchLoader loader(dataset_, {.rule = {kFanouts}, .degrees = Degrees::kOfEveryNode, .num_workers = num_workers});
    loader.start(requests_);
    std::size_t count = 0;
    while (const Batch* batch = loader.next()) {
      ASSERT_EQ(batch->layout.degrees_of, Degrees::kOfEveryNode);
      test::expect_reference_batch(*batch, dataset_, kFanouts, requests_.at(count++));
    }
    EXPECT_EQ(count, requests_.size());
  }
}

TEST_F(BatchLoaderProperty, CountsNodesAndEdgesOfEachHopFromTheSeedsOutward) {
  BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = 2, .num_slots = 4});
  std::vector<std::int64_t> nodes(kFanouts.size()), edges(kFanouts.size());
  for (int epoch = 0; epoch < 2; ++epoch) {  // the second starts from nought
    std::ranges::fill(nodes, 0);
    std::ranges::fill(edges, 0);
    loader.start(requests_);
    while (const Batch* batch = loader.next())
      for (std::size_t hop = 0; hop < kFanouts.size(); ++hop) {
        const HopLayout& layout = batch->layout.hops.at(kFanouts.size() - 1 - hop);
        nodes[hop] += layout.num_src;
        edges[hop] += layout.num_edges;
      }
  }
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.hop_nodes, nodes);
  EXPECT_EQ(stats.hop_edges, edges);
  EXPECT_EQ(stats.hop_nodes.back(), stats.nodes);
  EXPECT_LT(stats.hop_nodes.front(), stats.nodes) << "seeds' own hop first";
  EXPECT_LE(stats.hop_edges.front(), stats.seeds * kFanouts.front());
}

TEST_F(BatchLoaderProperty, KeepsABatchIntactWhileTheConsumerIsSlow) {
  BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = 4, .num_slots = 5});
  loader.start(requests_);
  for (std::size_t i = 0; const Batch* batch = loader.next(); ++i) {
    if (i < 3) std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the workers run into their bound
    test::expect_reference_batch(*batch, dataset_, kFanouts, requests_.at(i));
  }
}

TEST_F(BatchLoaderProperty, SleepsWhileTheConsumerIsBusy) {
  for (const int num_workers : {1, 4}) {
    BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = num_workers + 2});
    loader.start(requests_);
    ASSERT_NE(loader.next(), nullptr);
    const auto cpu_seconds_of_a_pause = [] {  // of all threads
      const std::clock_t before = std::clock();
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    };
    double least = cpu_seconds_of_a_pause();
    for (int i = 0; i < 100 && least >= 0.05; ++i) least = cpu_seconds_of_a_pause();  // until all slots are full
    EXPECT_LT(least, 0.05) << num_workers << " workers";
  }
}

TEST_F(BatchLoaderProperty, DrawsWithReplacementAndLeavesFeaturesOutOnRequest) {
  BatchLoader loader(dataset_, {.rule = {kFanouts, Draw::kWithReplacement}, .num_workers = 2});
  loader.start(requests_);
  for (std::size_t i = 0; const Batch* batch = loader.next(); ++i)
    test::expect_reference_batch(*batch, dataset_, kFanouts, requests_.at(i), Draw::kWithReplacement);
}

TEST_F(BatchLoaderProperty, EpochsWithoutBatchesAndBatchesWithoutSeeds) {
  for (const int num_workers : {0, 3}) {
    BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = 3});
    loader.start({});
    EXPECT_EQ(loader.next(), nullptr);
    const std::vector<BatchRequest> requests{{{1, 0, 0}, {}}, requests_[1], {{1, 0, 2}, {}}};
    loader.start(requests);
    for (std::size_t i = 0; i < requests.size(); ++i)
      test::expect_reference_batch(*loader.next(), dataset_, kFanouts, requests[i]);
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST_F(BatchLoaderProperty, EpochsReuseTheirMemory) {
  BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = 3, .num_slots = 5});
  const auto epoch = [&] {
    std::set<std::byte*> slabs;
    loader.start(requests_);
    while (const Batch* batch = loader.next()) slabs.insert(batch->data);
    return slabs;
  };
  const std::set<std::byte*> warm = epoch();
  EXPECT_EQ(warm.size(), 5u);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(epoch(), warm);
}

TEST_F(BatchLoaderProperty, AFailedBatchIsReportedInItsPlaceAndTheLoaderGoesOn) {
  const std::vector<NodeId> outside{static_cast<NodeId>(dataset_.num_nodes())};
  std::vector<BatchRequest> requests = requests_;
  ASSERT_GT(requests.size(), 9u);
  requests[6].seeds = outside;
  requests[7].seeds = outside;  // prepared, never delivered: it must not turn up in the next epoch
  for (const int num_workers : {0, 1, 4}) {
    BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = 4});
    for (int epoch = 0; epoch < 3; ++epoch) {
      loader.start(requests);
      for (std::size_t i = 0; i < 6; ++i) ASSERT_NE(loader.next(), nullptr) << "batches before it are delivered";
      EXPECT_THROW(loader.next(), Error);
      EXPECT_EQ(loader.next(), nullptr) << "the epoch is over";
      loader.start(requests_);
      for (std::size_t i = 0; i < 5; ++i)
        test::expect_reference_batch(*loader.next(), dataset_, kFanouts, requests_[i]);
      loader.stop();
    }
  }
}

TEST_F(BatchLoaderProperty, StopsEarlyAtAnyPointAndStartsAgain) {
  for (const int num_workers : {0, 2, 8}) {
    BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = 4});
    for (std::size_t taken = 0; taken < 8; ++taken) {
      loader.start(requests_);
      for (std::size_t i = 0; i < taken; ++i)
        test::expect_reference_batch(*loader.next(), dataset_, kFanouts, requests_[i]);
      loader.stop();
      loader.stop();
      EXPECT_EQ(loader.next(), nullptr);
      EXPECT_EQ(loader.stats().batches, static_cast<std::int64_t>(taken));
    }
    loader.start(requests_);  // the destructor stops it
  }
}

TEST_F(BatchLoaderProperty, AMillionBatchesAreDroppedAtOnce) {
  const std::vector<BatchRequest> requests(1'000'000, requests_[0]);
  BatchLoader loader(dataset_, {.rule = {kFanouts}, .num_workers = 2, .num_slots = 4});
  loader.start(requests);
  ASSERT_NE(loader.next(), nullptr);
  const std::clock_t before = std::clock();
  loader.stop();
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 10) << "preparing them takes minutes";
}

TEST_F(BatchLoaderProperty, RefusesToStartTwice) {
  BatchLoader loader(dataset_, {.rule = {kFanouts}});
  loader.start(requests_);
  EXPECT_THROW(loader.start(requests_), Error);
  EXPECT_THROW(BatchLoader(dataset_, {.rule = {kFanouts}, .num_slots = 1}), Error);
}

}  // namespace
}  // namespace salient
