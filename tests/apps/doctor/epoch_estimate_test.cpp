// tests/apps/doctor/epoch_estimate_test.cpp - the estimate is the formula of epoch_estimate.h.
#include "apps/doctor/epoch_estimate.h"

#include <gtest/gtest.h>

#include <set>

#include "store/synthetic.h"
#include "store/synthetic_typed.h"
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

TEST(EpochEstimate, OfATypedGraphCountsTheRowsOfEachTypeAndTheFilledRowsOfEachRelation) {
  const Dataset dataset = make_synthetic_dataset(parse_synthetic_typed_name("synthetic:mag:0.001"));
  const EpochCase epoch{.fanouts = {-1}, .batch_size = static_cast<int>(dataset.train.size()), .hidden = 6};
  const BatchWork work = work_of_batches(dataset, epoch);
  const SlotTable& slots = *dataset.slots;
  const auto paper = static_cast<std::size_t>(dataset.types.target_type);
  std::set<NodeId> nodes(dataset.train.begin(), dataset.train.end());
  double edges = 0, filled = 0;
  for (const NodeId v : dataset.train)
    for (std::uint32_t k = 0; k < slots.num_slots[paper]; ++k) {
      const auto row = dataset.graph.row(slots.row_of(paper, v, k));
      edges += static_cast<double>(row.size());
      filled += row.empty() ? 0 : 1;
      nodes.insert(row.begin(), row.end());
    }
  double row_bytes = 0, mapped = 0, learned = 0;
  for (const NodeId v : nodes) {
    const FeatureShape& shape = dataset.types.node_types[slots.type_of(v)].features;
    if (shape.dim == 0) learned += 6 * 4.0;
    row_bytes += shape.dim == 0 ? 6 * 4.0 : static_cast<double>(shape.row_bytes());
    mapped += 2.0 * 2 * shape.dim * 6;  // forward, and the gradient of the weight
  }
  EXPECT_GT(learned, 0);
  EXPECT_DOUBLE_EQ(work.edges, edges);
  EXPECT_DOUBLE_EQ(work.row_bytes, row_bytes);
  EXPECT_DOUBLE_EQ(work.learned_bytes, learned);
  const double roots = static_cast<double>(dataset.train.size());
  EXPECT_DOUBLE_EQ(work.operations, mapped + 2.0 * 3 * (roots + filled) * 6 * dataset.num_classes);
  EXPECT_DOUBLE_EQ(work.aggregated_bytes, 2 * 4.0 * edges * 6);

  const Ceilings cores{.copied_bytes = 1e9, .random_row_bytes = 2e9, .random_reads = 1e8, .operations = 1e10};
  const EpochEstimate found = estimate_epoch(dataset, epoch, cores);
  EXPECT_DOUBLE_EQ(found.total, edges / 1e8 + row_bytes / 2e9 + work.operations / 1e10 + work.aggregated_bytes / 1e9);
  Ceilings ranks = cores;
  ranks.all_reduced_bytes = 1e9;
  EXPECT_LT(estimate_epoch(dataset, epoch, ranks).exchange, 1e-3) << "of learned rows those of the batch alone";
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
