// tests/loaders/sparse_batches_test.cpp - batches of sparse rows have the rows of the dense batch, and room for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "loaders/batch_loader.h"
#include "loaders/batch_maker.h"
#include "loaders/gather_sparse_rows.h"
#include "loaders/host_slab.h"
#include "tests/support/scratch.h"
#include "tests/support/sparse_datasets.h"

namespace salient {
namespace {

using test::SparseTwins;

const std::vector<int> kFanouts{5, 3};

TEST(SparseBatches, HaveTheRowsOfDenseBatches) {
  for (const int feature_dim : {1, 7, 300})
    for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32}) {
      const SparseTwins twins = test::sparse_twins(300, 8, feature_dim, type);
      BatchMaker maker(twins.sparse, {kFanouts});
      HostSlab slab;
      for (const std::size_t batch_size : {100u, 1u, 30u})
        for (const BatchRequest& request : test::requests_of(twins.sparse.train, batch_size)) {
          Batch batch;
          maker.sample(request, batch);
          const std::size_t room = batch.layout.prepared_bytes;
          batch.data = slab.reserve(room);
          maker.write(batch, batch.data);
          EXPECT_LE(batch.layout.prepared_bytes, room);
          EXPECT_EQ(batch.layout.prepared_bytes, batch.layout.bytes);
          test::expect_sparse_batch(batch, twins, kFanouts, request);
          if (HasFailure()) return;
        }
    }
}

TEST(SparseBatches, EmptyRowsAndBatchesAreBatches) {
  SparseTwins twins = test::sparse_twins(300, 8, 50, FeatureType::kF16, /*one_in=*/1u << 30);
  ASSERT_EQ(twins.sparse.sparse_features.num_values(), 0u);
  BatchMaker maker(twins.sparse, {kFanouts});
  HostSlab slab;
  for (const std::size_t count : {0u, 40u}) {
    Batch batch;
    const BatchRequest request{{1, 0, 0}, twins.sparse.train.first(count)};
    maker.sample(request, batch);
    batch.data = slab.reserve(batch.layout.prepared_bytes);
    maker.write(batch, batch.data);
    test::expect_sparse_batch(batch, twins, kFanouts, request);
  }
}

TEST(SparseBatches, PartsAreAlignedAndDoNotOverlap) {
  const SparseTwins twins = test::sparse_twins(300, 8, 40);
  BatchMaker maker(twins.sparse, {kFanouts}, {}, {}, Degrees::kOfEveryNode);
  Batch batch;
  maker.sample({{1, 0, 0}, twins.sparse.train.first(50)}, batch);
  std::vector<std::byte> slab(batch.layout.prepared_bytes);
  maker.write(batch, slab.data());
  const BatchLayout& layout = batch.layout;
  const auto num_nodes = static_cast<std::size_t>(layout.num_nodes),
             num_values = static_cast<std::size_t>(layout.num_values);
  ASSERT_GT(num_values, 0u);
  std::size_t end = layout.degrees + num_nodes * sizeof(NodeDegree);
  for (const auto& [offset, bytes] :
       {std::pair(layout.x_begin, (num_nodes + 1) * 4), std::pair(layout.x_columns, num_values * 4),
        std::pair(layout.x, num_values * 2)}) {
    EXPECT_EQ(offset % kBatchAlignment, 0u);
    EXPECT_GE(offset, end);
    end = offset + bytes;
  }
  EXPECT_LT(layout.bytes, end + kBatchAlignment) << "what is copied ends with the last value";
}

TEST(SparseBatches, ComeInOrderFromEveryNumberOfWorkers) {
  const SparseTwins twins = test::sparse_twins(600, 8, 90);
  const std::vector<BatchRequest> requests = test::requests_of(twins.sparse.train, 16);
  for (const int num_workers : {0, 1, 3}) {
    BatchLoader loader(twins.sparse, {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = 4});
    loader.start(requests);
    std::size_t index = 0;
    while (const Batch* batch = loader.next()) test::expect_sparse_batch(*batch, twins, kFanouts, requests[index++]);
    EXPECT_EQ(index, requests.size());
  }
}

TEST(LongestRows, BoundEverySetOfRows) {
  const std::vector<std::int64_t> begin{0, 3, 3, 10, 11, 14};
  const LongestRows longest{begin};
  const std::vector<std::uint64_t> expected{0, 7, 10, 13, 14, 14, 14};
  for (std::uint64_t n = 0; n < expected.size(); ++n) EXPECT_EQ(longest.num_values(n), expected[n]) << n;
  EXPECT_EQ(LongestRows().num_values(5), 0u);
}

TEST(SparseBatches, TooManyValuesAreRefusedInOneLine) {
  const std::vector<std::int64_t> begin{0, std::int64_t{1} << 30};
  const std::vector<NodeId> rows{0, 0};
  std::vector<LocalId> out(3);
  EXPECT_EQ(begin_of_rows({.begin = begin}, rows.data(), 1, out.data()), 1 << 30);
  EXPECT_COMPLAINT(begin_of_rows({.begin = begin}, rows.data(), 2, out.data()), ErrorKind::kHostMemory, "2^31 values");
}

}  // namespace
}  // namespace salient
