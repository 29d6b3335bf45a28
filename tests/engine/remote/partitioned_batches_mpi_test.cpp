// tests/engine/remote/partitioned_batches_mpi_test.cpp - batches of partitioned features have the bytes of batches for
// which every rank has all rows, whichever rank owns them and whatever is copied.
#include "engine/remote/partitioned_batches.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/mpi_communicator.h"
#include "loaders/part_rows.h"
#include "sampler/seed_order.h"
#include "store/synthetic_typed.h"
#include "tests/support/datasets.h"
#include "tests/support/ranks.h"
#include "tests/support/recorded_ranks.h"

namespace salient {
namespace {

constexpr NodeId kNumNodes = 3000;

Parts parts_of(int num_parts, const std::function<int(NodeId)>& owner_of) {
  auto owner = std::make_shared<std::vector<std::uint16_t>>();
  for (NodeId v = 0; v < kNumNodes; ++v) owner->push_back(static_cast<std::uint16_t>(owner_of(v)));
  Parts parts{.num_parts = num_parts, .owner = *owner};
  parts.storage = owner;
  return parts;
}

std::uint32_t random_of(NodeId node, std::uint32_t seed) { return philox4x32({{seed, 1}}, {{node, 0, 0, 0}}).word[0]; }

/// Nodes of other parts, every `stride`-th of them; 0 = none.
std::vector<NodeId> some_of_others(const Parts& parts, int rank, NodeId stride) {
  std::vector<NodeId> nodes;
  for (NodeId v = 0; v < kNumNodes; ++v)
    if (stride > 0 && parts.owner[v] != rank && v % stride == 0) nodes.push_back(v);
  return nodes;
}

/// This rank's shares of an epoch; the last of them may be empty.
std::vector<BatchRequest> shares(const Dataset& dataset, std::size_t global_batch, const Communicator& comm) {
  std::vector<BatchRequest> requests;
  const std::size_t num_steps = num_global_batches(dataset.train.size(), global_batch);
  for (std::uint32_t b = 0; b < num_steps; ++b) {
    const SeedRange share = rank_share(dataset.train.size(), global_batch, b, comm.rank(), comm.size());
    requests.push_back(
        {.key = {.seed = 3, .epoch = 1, .batch = b}, .seeds = dataset.train.subspan(share.begin, share.count)});
  }
  return requests;
}

/// Of the parts that both batches must have in common: all of them, in one order.
bool is_equal(const Batch& a, const Batch& b, std::size_t row_bytes) {
  if (a.layout.bytes != b.layout.bytes || a.layout.num_nodes != b.layout.num_nodes || a.key.batch != b.key.batch)
    return false;
  const auto num_nodes = static_cast<std::size_t>(a.layout.num_nodes);
  return std::memcmp(a.data + a.layout.nodes, b.data + b.layout.nodes, num_nodes * sizeof(NodeId)) == 0 &&
         std::memcmp(a.data + a.layout.x, b.data + b.layout.x, num_nodes * row_bytes) == 0;
}

struct Case {
  std::function<int(NodeId)> owner_of;
  NodeId copied_stride = 0;
  std::size_t global_batch = 64;
  int workers = 2;
  Communicator* comm = nullptr;  // null: the test's
};

class PartitionedBatchesOnRanks : public ::testing::Test {
 protected:
  /// An epoch of complete batches beside one of the replicated run. @return whether all were equal
  bool has_equal_batches(const Case& test, std::size_t stop_after = 1 << 20) {
    const Parts parts = parts_of(comm_->size(), test.owner_of);
    const std::vector<NodeId> copied = some_of_others(parts, comm_->rank(), test.copied_stride);
    const PartRows part(dataset_, parts, comm_->rank(), copied);
    LoaderOptions options{.rule = {{5, 4}}, .num_workers = test.workers};
    BatchLoader replicated(dataset_, options);
    options.data = {.features = Residency::kPartitioned, .part = &part};
    PartitionedBatches partitioned(dataset_, options, test.comm ? *test.comm : *comm_);
    bool is_right = true;
    for (int epoch = 0; epoch < 2; ++epoch) {
      replicated.start(shares(dataset_, test.global_batch, *comm_));
      partitioned.start(shares(dataset_, test.global_batch, *comm_));
      std::size_t num_taken = 0;
      while (num_taken < stop_after) {
        const Batch *const expected = replicated.next(nullptr), *const found = partitioned.next(nullptr);
        is_right = is_right && (expected == nullptr) == (found == nullptr);
        if (expected == nullptr || found == nullptr) break;
        is_right = is_right && is_equal(*expected, *found, dataset_.gathered_row_bytes());
        ++num_taken;
      }
      replicated.stop();
      partitioned.stop();
    }
    stats_ = partitioned.stats();
    return is_right;
  }

  const std::unique_ptr<Communicator> comm_ = make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120);
  Dataset dataset_ = test::generated_dataset(kNumNodes, 8, 11);
  LoaderStats stats_{};
};

TEST_F(PartitionedBatchesOnRanks, HaveTheBytesOfTheReplicatedRun) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 5) % num_ranks); };
  const auto ranges = [=](NodeId v) { return static_cast<int>(std::uint64_t{v} * num_ranks / kNumNodes); };
  const auto the_last = [=](NodeId) { return static_cast<int>(num_ranks) - 1; };  // all other parts are empty
  for (const auto& owner_of : std::vector<std::function<int(NodeId)>>{anybody, ranges, the_last})
    for (const NodeId stride : {0U, 7U, 1U})
      for (const int workers : {0, 2})
        EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({owner_of, stride, 64, workers}))) << stride;
}

TEST_F(PartitionedBatchesOnRanks, SendRowsInFp8AsTheyAreStored) {
  dataset_.feature_type = FeatureType::kFp8;
  dataset_.features.row_bytes = dataset_.feature_row_bytes();
  dataset_.features.fp8_scale = 0.25F;
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 5) % num_ranks); };
  EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({anybody, 7})));
}

TEST_F(PartitionedBatchesOnRanks, TakeSharesWithoutSeedsAndEpochsOfFewBatches) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 9) % num_ranks); };
  // 1000 training nodes: 1, 2, 3 and 4 steps, and 334 steps of three seeds, of which the fourth rank has none
  for (const std::size_t global_batch : {1000U, 500U, 334U, 250U, 3U})
    EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({anybody, 0, global_batch}))) << global_batch;
}

TEST_F(PartitionedBatchesOnRanks, EndEarlyAndStartAgain) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 2) % num_ranks); };
  for (const std::size_t steps : {0U, 1U, 2U, 5U, 15U, 16U})
    EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({anybody, 5, 64}, steps))) << steps;
}

/// Two back ends match messages independently, so each must see the same calls on all ranks, with the same lengths.
TEST_F(PartitionedBatchesOnRanks, SendRowsInOneOrderByABackEndOfTheirOwn) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 6) % num_ranks); };
  test::RecordedRanks ranks(make_mpi_communicator(launch_of_test(), 20), make_mpi_communicator(launch_of_test(), 20));
  for (const std::size_t stop_after : {std::size_t{1}, std::size_t{1} << 20}) {
    EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({anybody, 7, 64, 2, &ranks}, stop_after))) << stop_after;
    const std::vector<std::string> calls = comm_->gather(ranks.take_calls());
    EXPECT_TRUE(on_all_ranks(*comm_, test::problem_of(calls).empty())) << test::problem_of(calls);
  }
}

TEST_F(PartitionedBatchesOnRanks, AreThreeDeep) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 6) % num_ranks); };
  test::RecordedRanks ranks(make_mpi_communicator(launch_of_test(), 20), make_mpi_communicator(launch_of_test(), 20));
  const PartRows part(dataset_, parts_of(comm_->size(), anybody), comm_->rank(), {});
  LoaderOptions options{.rule = {{5, 4}}, .num_workers = 2};
  options.data = {.features = Residency::kPartitioned, .part = &part};
  PartitionedBatches batches(dataset_, options, ranks);
  batches.start(shares(dataset_, 64, *comm_));  // 16 steps
  bool is_right = true;
  for (std::size_t step = 0; step < 10; ++step) {
    (void)batches.next(nullptr);
    is_right = is_right && ranks.num_row_calls() == step + 2 && ranks.num_id_calls() == 1 + step + 3;
  }
  batches.stop();
  EXPECT_TRUE(on_all_ranks(*comm_, is_right));
}

TEST_F(PartitionedBatchesOnRanks, CountRowsByWhereTheyWere) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  const auto anybody = [=](NodeId v) { return static_cast<int>(random_of(v, 5) % num_ranks); };
  bool is_right = has_equal_batches({anybody, 2, 64});
  is_right = is_right && stats_.own_rows + stats_.copied_rows + stats_.remote_rows == stats_.nodes;
  is_right = is_right && stats_.own_rows > 0 && (comm_->size() > 1) == (stats_.remote_rows > 0) &&
             (comm_->size() > 1) == (stats_.copied_rows > 0);
  EXPECT_TRUE(on_all_ranks(*comm_, is_right));
  EXPECT_TRUE(on_all_ranks(*comm_, has_equal_batches({anybody, 1, 64}) && stats_.remote_rows == 0));
}

/// x of all types, one behind the other.
std::vector<std::byte> rows_of_types(const Batch& batch) {
  std::vector<std::byte> rows;
  for (const TypeLayout& type : batch.layout.types) {
    const std::size_t row_bytes = static_cast<std::size_t>(type.feature_dim) * size_of(type.feature_type);
    const std::byte* const x = batch.data + type.x;
    rows.insert(rows.end(), x, x + static_cast<std::size_t>(type.num_nodes) * row_bytes);
  }
  return rows;
}

/// Types with rows of 1, 3 and 7 numbers, and one without.
Dataset of_types(FeatureType type) {
  SyntheticTypedOptions options = synthetic_typed_like("mag", 0.0005);
  Dataset dataset = make_synthetic_dataset(options, 1);
  auto memory = std::make_shared<std::vector<std::byte>>(dataset.num_nodes() * 16);
  for (std::size_t i = 0; i < memory->size(); ++i) (*memory)[i] = static_cast<std::byte>(i * 7919 % 120);
  const int widths[] = {1, 3, 0, 7};
  for (std::size_t t = 0; t < dataset.types.node_types.size(); ++t) {
    FeatureShape& shape = dataset.types.node_types[t].features;
    shape = {.dim = widths[t % 4], .type = type};
    dataset.type_features[t] = {};
    dataset.type_features[t].rows = {.data = memory->data(),
                                     .num_rows = dataset.slots->num_nodes_of(t),
                                     .row_bytes = static_cast<std::size_t>(shape.dim) * size_of(type),
                                     .fp8_scale = type == FeatureType::kFp8 ? 0.25F : 0};
  }
  dataset.storage =
      std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(dataset.storage, memory);
  return dataset;
}

TEST_F(PartitionedBatchesOnRanks, OfTypesHaveTheBytesOfTheReplicatedRun) {
  const auto num_ranks = static_cast<std::uint32_t>(comm_->size());
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kFp8})
    for (const NodeId stride : {0U, 3U}) {
      const Dataset dataset = of_types(type);
      const auto owner = std::make_shared<std::vector<std::uint16_t>>();
      std::vector<NodeId> copied;
      for (NodeId v = 0; v < dataset.num_nodes(); ++v) {
        owner->push_back(static_cast<std::uint16_t>(random_of(v, 5) % num_ranks));
        if (stride > 0 && v % stride == 0 && owner->back() != comm_->rank()) copied.push_back(v);
      }
      const PartRows part(dataset, {.num_parts = comm_->size(), .owner = *owner, .storage = owner}, comm_->rank(),
                          copied);
      LoaderOptions options{.rule = {.fanouts = {5, 4}}, .num_workers = 2};
      BatchLoader replicated(dataset, options);
      options.data = {.features = Residency::kPartitioned, .part = &part};
      PartitionedBatches partitioned(dataset, options, *comm_);
      replicated.start(shares(dataset, 64, *comm_));
      partitioned.start(shares(dataset, 64, *comm_));
      bool is_right = true;
      for (;;) {
        const Batch *const expected = replicated.next(nullptr), *const found = partitioned.next(nullptr);
        is_right = is_right && (expected == nullptr) == (found == nullptr);
        if (expected == nullptr || found == nullptr) break;
        is_right = is_right && expected->layout.bytes == found->layout.bytes &&
                   rows_of_types(*expected) == rows_of_types(*found);
      }
      replicated.stop();
      partitioned.stop();
      const LoaderStats stats = partitioned.stats();
      is_right = is_right && stats.own_rows > 0 && (num_ranks > 1) == (stats.remote_bytes > 0) &&
                 (stats.copied_rows > 0) == (num_ranks > 1 && stride > 0);
      EXPECT_TRUE(on_all_ranks(*comm_, is_right)) << stride;
    }
}

}  // namespace
}  // namespace salient
