// tests/engine/train/epoch_metrics_mpi_test.cpp - an epoch's figures are sums over ranks, or this rank's own.
#include "engine/train/epoch_metrics.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "tests/support/ranks.h"

namespace salient {
namespace {

/// Every figure is a number of its own times `factor`.
LoaderStats stats_of(int factor) {
  const auto times = [&](int number) { return std::int64_t{number} * factor; };
  return {.sample_seconds = 0.5 * factor,
          .gather_seconds = 0.25 * factor,
          .transfer_seconds = 3.0 * factor,
          .blocked_seconds = 4.0 * factor,
          .batches = times(5),
          .seeds = times(6),
          .nodes = times(7),
          .edges = times(8),
          .bytes = times(9),
          .hop_nodes = {times(10), times(11)},
          .hop_edges = {times(12), times(13)}};
}

TEST(EpochMetrics, SumWorkAndKeepTimesOfThisRank) {
  const auto comm = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  const int size = comm->size(), mine = comm->rank() + 1, all = size * (size + 1) / 2;
  const TrainProgress progress{.global_step = 40, .partial_loss_sum = 30, .partial_correct = 12, .partial_labels = 60};
  const EpochMetrics m = epoch_metrics(
      {.epoch = 3,
       .progress = progress,
       .loss_divisor = 60,
       .lr = 0.125,
       .seconds = 9.0 * mine,
       .times = {.train_seconds = 1.0 * mine, .blocked_seconds = 5.0 * mine, .exchange_seconds = 2.0 * mine},
       .loader = stats_of(mine)},
      ComputeDevice::choose(DeviceKind::kCpu, 0, 1), *comm);
  const LoaderStats sums = stats_of(all);
  EXPECT_EQ(m.epoch, 3);
  EXPECT_EQ(m.step, 40);
  EXPECT_EQ(m.loss, 0.5);
  EXPECT_EQ(m.train_accuracy, 0.2);
  EXPECT_EQ(m.lr, 0.125);
  EXPECT_EQ(m.epoch_seconds, 9.0 * mine);
  EXPECT_EQ(m.train_seconds, 1.0 * mine);
  EXPECT_EQ(m.blocked_seconds, 5.0 * mine);
  EXPECT_EQ(m.transfer_seconds, 3.0 * mine);
  EXPECT_EQ(m.allreduce_seconds, 2.0 * mine);
  EXPECT_EQ(m.sample_seconds, sums.sample_seconds);
  EXPECT_EQ(m.gather_seconds, sums.gather_seconds);
  EXPECT_EQ(m.batches, sums.batches);
  EXPECT_EQ(m.seeds, sums.seeds);
  EXPECT_EQ(m.nodes, sums.nodes);
  EXPECT_EQ(m.edges, sums.edges);
  EXPECT_EQ(m.bytes_transferred, sums.bytes);
  EXPECT_EQ(m.hop_nodes, sums.hop_nodes);
  EXPECT_EQ(m.hop_edges, sums.hop_edges);
}

}  // namespace
}  // namespace salient
