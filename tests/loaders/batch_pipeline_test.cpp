// tests/loaders/batch_pipeline_test.cpp - batches do not depend on how many threads prepare them.
#include "loaders/batch_pipeline.h"

#include <gtest/gtest.h>

#include <barrier>
#include <vector>

namespace salient {
namespace {

TEST(BatchPipeline, PreparesEverythingOnceAndDeliversInOrderInBoundedMemory) {
  constexpr std::size_t kBatches = 500;
  for (const int num_workers : {0, 1, 2, 8})
    for (const std::size_t max_in_flight : {1u, 3u, 8u}) {
      std::vector<std::size_t> slots(max_in_flight), delivered;
      const auto prepare = [&](std::size_t batch) { slots[batch % max_in_flight] = batch * batch; };
      const auto deliver = [&](std::size_t batch) {
        ASSERT_EQ(slots[batch % max_in_flight], batch * batch) << "it was overwritten";
        delivered.push_back(batch);
      };
      run_batches(kBatches, num_workers, max_in_flight, prepare, deliver);
      ASSERT_EQ(delivered.size(), kBatches);
      for (std::size_t b = 0; b < kBatches; ++b) ASSERT_EQ(delivered[b], b);
    }
}

// Six workers that meet at a barrier: were there fewer threads, whatever the cores, this would hang.
TEST(BatchPipeline, HasAsManyThreadsAsWorkers) {
  constexpr int kWorkers = 6;
  std::barrier meeting(kWorkers);
  run_batches(
      kWorkers, kWorkers, kWorkers, [&](std::size_t) { meeting.arrive_and_wait(); }, [](std::size_t) {});
}

TEST(BatchPipeline, AFailingStageEndsTheRunWithItsError) {
  const auto fail_at_7 = [](std::size_t batch) {
    if (batch == 7) fail(ErrorKind::kIo, "disk full");
  };
  const auto succeed = [](std::size_t) {};
  for (const int num_workers : {0, 4}) {
    EXPECT_THROW(run_batches(100, num_workers, 4, fail_at_7, succeed), Error);
    EXPECT_THROW(run_batches(100, num_workers, 4, succeed, fail_at_7), Error);
  }
}

}  // namespace
}  // namespace salient
