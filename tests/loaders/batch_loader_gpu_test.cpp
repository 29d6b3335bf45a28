// tests/loaders/batch_loader_gpu_test.cpp - batches on the device are the references', with slow kernels too.
#include "loaders/batch_loader.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "core/timer.h"
#include "loaders/resident_data.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/sparse_datasets.h"
#include "tests/support/spin.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

class BatchLoaderOnDevice : public ::testing::Test {
 protected:
  LoaderOptions options(int num_workers, int num_slots) const {
    return {.rule = {kFanouts}, .num_workers = num_workers, .num_slots = num_slots, .to_device = true};
  }

  /// Sizes settle and host memory gets pinned, which may wait for running kernels. Returns the largest batch's bytes.
  std::size_t warm_up(BatchLoader& loader) const {
    std::size_t largest = 0;
    loader.start(requests_);
    while (const Batch* batch = loader.next(stream_.get())) largest = std::max(largest, batch->layout.bytes);
    stream_.wait();
    return largest;
  }

  const Dataset dataset_ = test::generated_dataset(2000, 12, 25);
  const std::vector<BatchRequest> requests_ = test::requests_of(dataset_.train, 64);
  const CudaStream stream_;
};

/// Batches of an epoch, copied to host memory as the consumer's stream sees them. Each copy runs behind a slow kernel,
/// so that a slab that is overwritten too early, or read before its copy, shows.
struct CapturedEpoch {
  CapturedEpoch(BatchLoader& loader, const std::vector<BatchRequest>& requests, const CudaStream& stream) {
    loader.start(requests);
    while (const Batch* batch = loader.next(stream.get())) {
      EXPECT_TRUE(batch->is_on_device);
      slabs.emplace_back(batch->layout.bytes);
      spin(200'000, stream.get());
      // Into pageable memory the call returns when the copy is over; the kernel before it has run by then.
      cuda_check(
          cudaMemcpyAsync(slabs.back().data(), batch->data, batch->layout.bytes, cudaMemcpyDeviceToHost, stream.get()));
      batches.push_back(*batch);
      batches.back().data = slabs.back().data();
    }
    stream.wait();
    EXPECT_EQ(batches.size(), requests.size());
  }
  CapturedEpoch(const CapturedEpoch&) = delete;  // batches point into slabs
  CapturedEpoch& operator=(const CapturedEpoch&) = delete;

  std::vector<std::vector<std::byte>> slabs{};
  std::vector<Batch> batches{};
};

void expect_reference_epoch(BatchLoader& loader, const Dataset& dataset, const std::vector<BatchRequest>& requests,
                            const CudaStream& stream) {
  const CapturedEpoch epoch(loader, requests, stream);
  for (std::size_t b = 0; b < epoch.batches.size(); ++b)
    test::expect_reference_batch(epoch.batches[b], dataset, kFanouts, requests[b]);
}

class BatchLoaderResidency : public BatchLoaderOnDevice, public ::testing::WithParamInterface<DataResidency> {};

TEST_P(BatchLoaderResidency, BatchesEqualTheReferencesForAnyWorkersAndSlots) {
  const ResidentData data(dataset_, GetParam());
  for (const int num_workers : {0, 1, 2, 8})
    for (const int num_slots : {2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << num_workers << " workers, " << num_slots << " slots");
      LoaderOptions chosen = options(num_workers, num_slots);
      chosen.data = data.view();
      BatchLoader loader(dataset_, chosen);
      for (int round = 0; round < 2; ++round) {
        const CapturedEpoch epoch(loader, requests_, stream_);
        for (std::size_t b = 0; b < epoch.batches.size(); ++b) {
          EXPECT_EQ(epoch.batches[b].layout.residency, GetParam().features);
          test::expect_reference_batch(epoch.batches[b], dataset_, kFanouts, requests_[b]);
        }
        EXPECT_GT(loader.stats().transfer_seconds, 0);
      }
      if (HasFailure()) return;
    }
}

std::string test_name_of(const DataResidency& residency) {
  const std::array features{"host", "device", "cached"};  // as Residency has them
  return std::string("features_") + features[static_cast<std::size_t>(residency.features)] +
         (residency.graph_entries                      ? "_graph_in_part"
          : residency.graph == GraphResidency::kDevice ? "_graph_device"
                                                       : "_graph_host");
}

std::vector<DataResidency> all_residencies() {
  std::vector<DataResidency> all;
  for (const GraphResidency graph : {GraphResidency::kHost, GraphResidency::kDevice}) {
    all.push_back({.features = Residency::kHost, .graph = graph});
    all.push_back({.features = Residency::kDevice, .graph = graph});
    all.push_back({.features = Residency::kCached, .cached_rows = 600, .graph = graph});
  }
  for (const Residency features : {Residency::kHost, Residency::kDevice})
    all.push_back({.features = features, .graph = GraphResidency::kDevice, .graph_entries = 3000});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, BatchLoaderResidency, ::testing::ValuesIn(all_residencies()),
                         [](const auto& test) { return test_name_of(test.param); });

TEST_F(BatchLoaderOnDevice, RowsInPartsGiveTheSameBatches) {
  const Dataset dataset = test::generated_dataset(50'000, 12, 100);  // five pages of rows
  const std::vector<BatchRequest> requests = test::requests_of({dataset.train.data(), 2000}, 500);
  for (const int num_shards : {1, 2, 3, 8}) {  // of one GPU, as if each were another's
    const std::size_t num_copies = num_shards > 1 ? 5000 : 0;
    std::vector<std::unique_ptr<Shards>> all;
    for (int shard = 0; shard < num_shards; ++shard)
      all.push_back(std::make_unique<Shards>(make_device_shard_memory(), dataset.features, shard, num_shards));
    for (const auto& shards : all) {
      std::vector<Descriptor> parts;
      for (const auto& other : all) parts.emplace_back(::fcntl(other->descriptor().get(), F_DUPFD_CLOEXEC, 0));
      shards->join(parts, num_copies);
    }
    for (const auto& shards : all) {
      const auto [first, count] = shards->own_rows();
      if (count == 0) continue;
      const std::size_t at = first * dataset.features.row_bytes;
      cuda_check(cudaMemcpy(const_cast<std::byte*>(shards->table().data) + at, dataset.features.data + at,
                            count * dataset.features.row_bytes, cudaMemcpyHostToDevice));
    }
    all.front().swap(all.back());
    std::vector<std::unique_ptr<Shards>> own;
    own.push_back(std::move(all.front()));
    const ResidentData data(dataset, {.features = Residency::kSharded, .cached_rows = num_copies}, {}, std::move(own));
    ASSERT_EQ(data.view().device_rows.near.words != nullptr, num_shards > 1);
    all.clear();  // the parts live on in the mappings
    LoaderOptions chosen = options(2, 4);
    chosen.data = data.view();
    BatchLoader loader(dataset, chosen);
    expect_reference_epoch(loader, dataset, requests, stream_);
    if (HasFailure()) return;
  }
}

TEST_F(BatchLoaderOnDevice, ACacheOfAnyRowsGivesTheSameBatches) {
  const SamplingPlan plan{.rule = {kFanouts}, .seeds = dataset_.train, .batch_size = 16, .seed = 1};
  std::vector<DataResidency> caches;
  for (const auto& [policy, name] : names_of(CachePolicy{}))
    for (const std::size_t num_cached : {std::size_t{0}, std::size_t{300}, dataset_.num_nodes()})
      caches.push_back({.features = Residency::kCached, .cached_rows = num_cached, .cache_policy = policy});
  for (const DataResidency& residency : caches) {
    const ResidentData data(dataset_, residency, plan);
    LoaderOptions chosen = options(2, 4);
    chosen.data = data.view();
    BatchLoader loader(dataset_, chosen);
    expect_reference_epoch(loader, dataset_, requests_, stream_);
  }
}

TEST_F(BatchLoaderOnDevice, Fp8RowsBecomeF16WhereverTheyAre) {
  for (const int width : {25, 36, 64}) {
    const Dataset dataset = test::generated_dataset(2000, 12, width, FeatureType::kFp8);
    for (const DataResidency& residency : all_residencies()) {
      const ResidentData data(dataset, residency);
      LoaderOptions chosen = options(2, 3);
      chosen.data = data.view();
      BatchLoader loader(dataset, chosen);
      expect_reference_epoch(loader, dataset, requests_, stream_);
      if (HasFailure()) FAIL() << width << " columns, " << test_name_of(residency);
    }
  }
}

TEST_F(BatchLoaderOnDevice, SparseRowsComeWithTheBatch) {
  const test::SparseTwins twins = test::sparse_twins(2000, 12, 90);
  for (const GraphResidency graph : {GraphResidency::kHost, GraphResidency::kDevice}) {
    const ResidentData data(twins.sparse, {.graph = graph});
    LoaderOptions chosen = options(2, 4);
    chosen.data = data.view();
    BatchLoader loader(twins.sparse, chosen);
    const std::vector<BatchRequest> requests = test::requests_of(twins.sparse.train, 64);
    for (int round = 0; round < 2; ++round) {
      const CapturedEpoch epoch(loader, requests, stream_);
      for (std::size_t b = 0; b < epoch.batches.size(); ++b)
        test::expect_sparse_batch(epoch.batches[b], twins, kFanouts, requests[b]);
    }
  }
}

// More than one piece of the upload, and a last one that is not full.
TEST(DeviceFeaturesTest, HoldsEveryRow) {
  const std::size_t num_rows = 200'003, row_bytes = 1000;
  std::vector<std::byte> rows(num_rows * row_bytes), read(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  const DeviceFeatures features({.data = rows.data(), .num_rows = num_rows, .row_bytes = row_bytes});
  EXPECT_EQ(features.table().num_rows, num_rows);
  EXPECT_EQ(features.table().row_bytes, row_bytes);
  cuda_check(cudaMemcpy(read.data(), features.table().data, read.size(), cudaMemcpyDeviceToHost));
  EXPECT_EQ(read, rows);
}

TEST(DeviceFeaturesTest, HoldsTheRowsAskedForInTheirOrder) {
  const std::size_t num_rows = 120'000, row_bytes = 1000;
  std::vector<std::byte> rows(num_rows * row_bytes), expected, read;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  std::vector<NodeId> chosen;
  for (std::size_t i = 0; i < 100'001; ++i) chosen.push_back(static_cast<NodeId>(i * 7919 % num_rows));
  const RowTable table{.data = rows.data(), .num_rows = num_rows, .row_bytes = row_bytes};
  const DeviceFeatures features(table, chosen);
  EXPECT_EQ(features.table().num_rows, chosen.size());
  expected.resize(chosen.size() * row_bytes);
  read.resize(expected.size());
  gather_rows_reference(table, chosen.data(), chosen.size(), expected.data());
  cuda_check(cudaMemcpy(read.data(), features.table().data, read.size(), cudaMemcpyDeviceToHost));
  EXPECT_EQ(read, expected);
}

TEST(DeviceFeaturesTest, SaysWhatDoesNotFit) {
  const std::byte nothing{};
  try {
    const DeviceFeatures features({.data = &nothing, .num_rows = std::size_t{1} << 40, .row_bytes = 256});
    FAIL() << "256 TiB fitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDeviceMemory);
    EXPECT_EQ(error.topic(), Topic::kDeviceFeatures);
    EXPECT_STREQ(error.what(), "no room in GPU memory for the feature rows, 281474.98 GB");
  }
}

// The kernel reads its slab long after next() has returned the following batches: only the events protect it.
TEST_F(BatchLoaderOnDevice, TheHostRunsAheadWhileSlabsWaitForTheirKernels) {
  BatchLoader loader(dataset_, options(4, 6));
  const std::size_t largest = warm_up(loader);
  const auto memory = make_pinned_array<std::byte>(largest * requests_.size());
  std::vector<Batch> batches;
  loader.start(requests_);
  while (const Batch* batch = loader.next(stream_.get())) {
    std::byte* const seen = memory.get() + largest * batches.size();
    spin(2'000'000, stream_.get());  // about a millisecond
    cuda_check(cudaMemcpyAsync(seen, batch->data, batch->layout.bytes, cudaMemcpyDeviceToHost, stream_.get()));
    batches.push_back(*batch);
    batches.back().data = seen;
  }
  EXPECT_EQ(cudaStreamQuery(stream_.get()), cudaErrorNotReady) << "the host was ahead";
  stream_.wait();
  for (std::size_t b = 0; b < batches.size(); ++b)
    test::expect_reference_batch(batches[b], dataset_, kFanouts, requests_[b]);
}

TEST_F(BatchLoaderOnDevice, NextDoesNotWaitForTheGpu) {
  BatchLoader loader(dataset_, options(2, 8));
  (void)warm_up(loader);
  loader.start(requests_);
  ASSERT_NE(loader.next(stream_.get()), nullptr);
  spin(2'000'000'000, stream_.get());  // about a second
  const Timer timer;
  ASSERT_NE(loader.next(stream_.get()), nullptr);
  EXPECT_LT(timer.seconds(), 0.5);
  EXPECT_EQ(cudaStreamQuery(stream_.get()), cudaErrorNotReady) << "the kernel was still running";
  loader.stop();
  stream_.wait();
}

TEST_F(BatchLoaderOnDevice, EpochsReuseTheirMemory) {
  BatchLoader loader(dataset_, options(3, 5));
  std::set<std::byte*> warm;
  for (int epoch = 0; epoch < 10; ++epoch) {
    std::set<std::byte*> slabs;
    loader.start(requests_);
    while (const Batch* batch = loader.next(stream_.get())) slabs.insert(batch->data);
    if (epoch == 0) continue;  // sizes settle
    if (warm.empty()) warm = slabs;
    EXPECT_EQ(slabs, warm);
    EXPECT_EQ(slabs.size(), 3u) << "slots - workers + 1";
  }
}

TEST_F(BatchLoaderOnDevice, ErrorsAndEarlyEndsLeaveItUsable) {
  const std::vector<NodeId> outside{static_cast<NodeId>(dataset_.num_nodes())};
  std::vector<BatchRequest> requests = requests_;
  requests[3].seeds = outside;
  BatchLoader loader(dataset_, options(4, 6));
  for (int epoch = 0; epoch < 5; ++epoch) {
    loader.start(requests);
    for (int i = 0; i < 3; ++i) ASSERT_NE(loader.next(stream_.get()), nullptr);
    EXPECT_THROW(loader.next(stream_.get()), Error);
    loader.start(requests_);
    ASSERT_NE(loader.next(stream_.get()), nullptr);
    spin(2'000'000, stream_.get());
    loader.stop();
  }
  expect_reference_epoch(loader, dataset_, requests_, stream_);
}

}  // namespace
}  // namespace salient
