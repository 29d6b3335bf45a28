// tests/apps/doctor/epoch_estimate_test.cpp - the estimate is the formula of epoch_estimate.h.
#include "apps/doctor/epoch_estimate.h"

#include <gtest/gtest.h>

#include "store/synthetic.h"
#include "tests/support/sparse_datasets.h"

namespace salient::doctor {
namespace {

TEST(EpochEstimate, OfOneHopThatTakesAllNeighboursFollowsByHand) {
  const Dataset dataset = make_synthetic_dataset(parse_synthetic_name("synthetic:arxiv:0.01"));
  const EpochCase epoch{.fanouts = {-1}, .batch_size = static_cast<int>(dataset.train.size()), .hidden = 7};
  const BatchWork work = work_of_batches(dataset, epoch);
  double edges = 0;
  for (const NodeId v : dataset.train) edges += static_cast<double>(dataset.graph.row(v).size());
  EXPECT_DOUBLE_EQ(work.edges, edges);
  EXPECT_DOUBLE_EQ(work.row_bytes, work.nodes * static_cast<double>(dataset.features.row_bytes));
  const double products = 2.0 * dataset.feature_dim * dataset.num_classes;
  EXPECT_DOUBLE_EQ(work.operations, 4.0 * static_cast<double>(dataset.train.size()) * products);
  EXPECT_DOUBLE_EQ(work.aggregated_bytes, 4.0 * edges * dataset.feature_dim);

  const Ceilings cores{.copied_bytes = 1e9, .random_row_bytes = 2e9, .random_reads = 1e8, .operations = 1e10};
  const EpochEstimate on_cores = estimate_epoch(dataset, epoch, cores);
  EXPECT_EQ(on_cores.steps, 1);
  EXPECT_DOUBLE_EQ(on_cores.sampling, edges / 1e8);
  EXPECT_DOUBLE_EQ(on_cores.gathering, work.row_bytes / 2e9);
  EXPECT_DOUBLE_EQ(on_cores.computing, work.operations / 1e10 + work.aggregated_bytes / 1e9);
  EXPECT_DOUBLE_EQ(on_cores.total, on_cores.sampling + on_cores.gathering + on_cores.computing);

  Ceilings gpu = cores;
  gpu.pinned_bytes = 1e6;  // slower than all else
  gpu.all_reduced_bytes = 1e9;
  const EpochEstimate on_gpu = estimate_epoch(dataset, epoch, gpu);
  EXPECT_DOUBLE_EQ(on_gpu.exchange, 4 * products / 1e9);
  EXPECT_DOUBLE_EQ(on_gpu.total, work.slab_bytes / 1e6 + on_gpu.exchange);
}

TEST(EpochEstimate, OfSparseFeaturesCountsTheValuesThatAreThere) {
  const test::SparseTwins twins = test::sparse_twins(500, 8, 64);
  const EpochCase epoch{.fanouts = {-1}, .batch_size = 100, .hidden = 7};
  const BatchWork dense = work_of_batches(twins.dense, epoch), sparse = work_of_batches(twins.sparse, epoch);
  const double share = static_cast<double>(twins.sparse.sparse_features.num_values()) / (500.0 * 64);
  EXPECT_LT(share, 0.5);
  EXPECT_DOUBLE_EQ(sparse.edges, dense.edges);
  EXPECT_NEAR(sparse.operations, share * dense.operations, 1e-9 * dense.operations);
  EXPECT_NEAR(sparse.aggregated_bytes, share * dense.aggregated_bytes, 1e-9 * dense.aggregated_bytes);
}

TEST(EpochEstimate, RanksShareTheSteps) {
  const Dataset dataset = make_synthetic_dataset(parse_synthetic_name("synthetic:arxiv:0.01"));
  const Ceilings one{.copied_bytes = 1, .random_row_bytes = 1, .random_reads = 1, .operations = 1};
  const auto steps = [&](int num_ranks) {
    return estimate_epoch(dataset, {.fanouts = {2}, .batch_size = 100, .num_ranks = num_ranks}, one).steps;
  };
  const auto batches = (static_cast<std::int64_t>(dataset.train.size()) + 99) / 100;
  EXPECT_EQ(steps(1), batches);
  EXPECT_EQ(steps(4), (batches + 3) / 4);
}

}  // namespace
}  // namespace salient::doctor
