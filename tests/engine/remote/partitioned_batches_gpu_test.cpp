// tests/engine/remote/partitioned_batches_gpu_test.cpp - complete batches on the device, with slow kernels too.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/cuda/cuda.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/nccl_communicator.h"
#include "engine/remote/partitioned_batches.h"
#include "loaders/part_rows.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/ranks.h"
#include "tests/support/spin.h"

namespace salient {
namespace {

struct Kept {
  BatchLayout layout{};
  DeviceArray<std::byte> found{};
  std::vector<std::byte> expected{};
};

bool is_equal(const Kept& kept, std::size_t row_bytes) {
  std::vector<std::byte> found(kept.expected.size());
  cuda_check(cudaMemcpy(found.data(), kept.found.get(), found.size(), cudaMemcpyDeviceToHost));
  const auto num_nodes = static_cast<std::size_t>(kept.layout.num_nodes);
  const auto same = [&](std::size_t at, std::size_t bytes) {
    return std::memcmp(found.data() + at, kept.expected.data() + at, bytes) == 0;
  };
  return same(kept.layout.nodes, num_nodes * sizeof(NodeId)) && same(kept.layout.x, num_nodes * row_bytes);
}

int num_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// Two epochs. Each batch is copied behind a slow kernel and compared at the end, so a slab that is overwritten too
/// early, or read before its copy, shows.
void expect_the_bytes_of_the_replicated_run(std::unique_ptr<Communicator> comm) {
  const Dataset dataset = test::generated_dataset(3000, 8, 24);
  auto owner = std::make_shared<std::vector<std::uint16_t>>();
  for (NodeId v = 0; v < dataset.num_nodes(); ++v)
    owner->push_back(static_cast<std::uint16_t>(v / 7 % static_cast<NodeId>(comm->size())));
  const PartRows part(dataset, {.num_parts = comm->size(), .owner = *owner, .storage = owner}, comm->rank(), {});
  LoaderOptions options{.rule = {{5, 4}}, .num_workers = 2};
  BatchLoader replicated(dataset, options);
  options.to_device = true;
  options.data = {.features = Residency::kPartitioned, .part = &part};
  PartitionedBatches partitioned(dataset, options, *comm);
  const CudaStream stream;
  bool is_right = true;
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    const std::vector<BatchRequest> requests = test::requests_of(dataset.train, 64, 1, epoch);
    replicated.start(requests);
    partitioned.start(requests);
    std::vector<Kept> kept;
    while (const Batch* found = partitioned.next(stream.get())) {
      const Batch* const expected = replicated.next(nullptr);
      const std::size_t bytes = found->layout.bytes;
      is_right = is_right && found->is_on_device && expected->layout.bytes == bytes;
      kept.push_back({found->layout, make_device_array<std::byte>(bytes), {expected->data, expected->data + bytes}});
      spin(2'000'000, stream.get());
      cuda_check(cudaMemcpyAsync(kept.back().found.get(), found->data, bytes, cudaMemcpyDeviceToDevice, stream.get()));
    }
    stream.wait();
    for (const Kept& batch : kept) is_right = is_right && is_equal(batch, dataset.features.row_bytes);
    replicated.stop();
  }
  EXPECT_TRUE(on_all_ranks(*comm, is_right));
  EXPECT_TRUE(on_all_ranks(*comm, (partitioned.stats().remote_rows > 0) == (comm->size() > 1)));
}

TEST(PartitionedBatchesOnDevice, HaveTheBytesOfTheReplicatedRunByMpi) {
  if (num_gpus() == 0) GTEST_SKIP() << "no GPU";
  expect_the_bytes_of_the_replicated_run(make_mpi_communicator(launch_of_test(), /*timeout_seconds=*/120));
}

TEST(PartitionedBatchesOnDevice, HaveTheBytesOfTheReplicatedRunByNccl) {
  if (!has_nccl()) GTEST_SKIP() << "this build has no NCCL";
  if (num_gpus() < launch_of_test().ranks_on_host) GTEST_SKIP() << "fewer GPUs than ranks";
  cuda_check(cudaSetDevice(launch_of_test().local_rank));
  auto comm = make_nccl_communicator(make_mpi_communicator(launch_of_test(), 20), 20, RowBackend::kNccl);
  EXPECT_EQ(comm->rows().name(), "nccl");
  expect_the_bytes_of_the_replicated_run(std::move(comm));
}

}  // namespace
}  // namespace salient
