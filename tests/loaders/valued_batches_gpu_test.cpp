// tests/loaders/valued_batches_gpu_test.cpp - the GPU draws batches by weight and by time as the reference does.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/cuda/cuda.h"
#include "loaders/batch_loader.h"
#include "loaders/resident_data.h"
#include "tests/support/batches.h"
#include "tests/support/timed_dataset.h"

namespace salient {
namespace {

/// What a loader's batches must be.
struct Expected {
  SamplingRule rule{};
  std::optional<TimeRule> time{};
};

/// All batches of an epoch whose graph, or a part of it, is in GPU memory.
void expect_batches(const test::TimedDataset& timed, const Expected& expected, const DataResidency& residency,
                    int num_workers) {
  const Dataset& dataset = timed.dataset;
  const std::vector<BatchRequest> requests = test::requests_of(dataset.train, 64);
  const ResidentData data(dataset, residency, {.rule = expected.rule});
  const CudaStream stream;
  BatchLoader loader(dataset, {.rule = expected.rule,
                               .time = expected.time,
                               .num_workers = num_workers,
                               .to_device = true,
                               .data = data.view()});
  loader.start(requests);
  std::size_t count = 0;
  while (const Batch* batch = loader.next(stream.get())) {
    std::vector<std::byte> slab(batch->layout.bytes);
    cuda_check(cudaMemcpyAsync(slab.data(), batch->data, slab.size(), cudaMemcpyDeviceToHost, stream.get()));
    stream.wait();
    Batch on_host = *batch;
    on_host.data = slab.data();
    const BatchRequest& request = requests.at(count++);
    const Mfg mfg = expected.time ? timed.reference(expected.rule, *expected.time, request)
                                  : reference_sample(dataset.graph, expected.rule, request.seeds, request.key);
    test::expect_batch_of(mfg, on_host, dataset, request);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(count, requests.size());
}

const DataResidency kWhole{.graph = GraphResidency::kDevice};
const DataResidency kAll{.features = Residency::kDevice, .graph = GraphResidency::kDevice};
const DataResidency kInPart{.graph = GraphResidency::kDevice, .graph_entries = 6000};

TEST(ValuedBatchesOnDevice, AreTheReferencesByWeight) {
  test::TimedDataset weighted;
  weighted.dataset.has_edge_times = false;
  weighted.dataset.graph.entries.times = {};
  for (const DataResidency& residency : {kWhole, kAll, kInPart})
    for (const int num_workers : {0, 3}) expect_batches(weighted, {{{5, 3}, Draw::kWeighted}}, residency, num_workers);
}

TEST(ValuedBatchesOnDevice, AreTheReferencesByTime) {
  const test::TimedDataset timed;
  for (const DataResidency& residency : {kWhole, kAll, kInPart})
    for (const int num_workers : {0, 3}) {
      expect_batches(timed, {{{5, 3}}, TimeRule{}}, residency, num_workers);
      expect_batches(timed, {{{5, 3}}, TimeRule{.strategy = TimeStrategy::kLast}}, residency, num_workers);
      expect_batches(timed, {{{5, 3}, Draw::kWeighted}, TimeRule{.order = TimeOrder::kUpTo, .window = 9}}, residency,
                     num_workers);
    }
}

}  // namespace
}  // namespace salient
