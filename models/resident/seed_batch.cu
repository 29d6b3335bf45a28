// models/resident/seed_batch.cu - see seed_batch.h.
//
// Work split  a thread per seed.
// Limit       latency.
// Sync        none.
#include <algorithm>

#include "core/error.h"
#include "models/kernels/launch.cuh"
#include "models/resident/seed_batch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreadsPerBlock)
    start_tree_kernel(SeedBatch given, const SeedBatch* __restrict__ announced, TreeStart tree) {
  const SeedBatch batch = announced != nullptr ? *announced : given;
  const std::uint32_t first = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  begin_tree(batch, batch.header.num_seeds, tree, first);
  for (std::uint32_t i = first; i < batch.header.num_seeds; i += gridDim.x * kThreadsPerBlock)
    tree.nodes[i] = batch.order[batch.header.first_seed + i];
}

struct SeedBatches {
  SeedBatch of[kMaxAnnounced];
};

__global__ void announce_kernel(SeedBatches batches, unsigned count, SeedBatch* __restrict__ to) {
  if (threadIdx.x < count) to[threadIdx.x] = batches.of[threadIdx.x];
}

// ---- host code -------------------------------------------------------------------------------------------

void launch(const SeedBatch& given, const SeedBatch* announced, const TreeStart& tree, cudaStream_t stream) {
  start_tree_kernel<<<4, kThreadsPerBlock, 0, stream>>>(given, announced, tree);
  cuda_check(cudaGetLastError());
}

}  // namespace

void start_tree(const SeedBatch& batch, const TreeStart& tree, cudaStream_t stream) {
  launch(batch, nullptr, tree, stream);
}

void start_tree(const SeedBatch* batch, const TreeStart& tree, cudaStream_t stream) { launch({}, batch, tree, stream); }

void announce(std::span<const SeedBatch> batches, SeedBatch* to, cudaStream_t stream) {
  require(batches.size() <= kMaxAnnounced, "no more batches are announced at once");
  SeedBatches copied{};
  std::ranges::copy(batches, copied.of);
  announce_kernel<<<1, kMaxAnnounced, 0, stream>>>(copied, static_cast<unsigned>(batches.size()), to);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
