// models/resident/first_seen.cu - see first_seen.h: a hash table of the smallest row of each node.
//
// Work split  a thread per row of the last level.
// Access      random slots of 8 bytes, in the L2 cache.
// Sync        atomics on slots: the smallest row wins, in whatever order they come; integer counts.
#include "models/kernels/launch.cuh"
#include "models/resident/first_seen.h"

namespace salient {
namespace {

constexpr unsigned long long kFree = ~0ULL;

struct Table {
  unsigned long long* slots;  ///< node << 32 | row
  int log_slots;

  __device__ std::uint32_t slot_of(NodeId node) const { return node * 2654435769U >> (32 - log_slots); }
  __device__ std::uint32_t after(std::uint32_t slot) const { return (slot + 1) & ((1U << log_slots) - 1); }
};

__global__ void __launch_bounds__(kThreadsPerBlock)
    claim_kernel(Table table, const NodeId* __restrict__ nodes, const LocalId* __restrict__ num_nodes) {
  const LocalId row = static_cast<LocalId>(blockIdx.x * kThreadsPerBlock + threadIdx.x);
  if (row >= *num_nodes) return;
  const unsigned long long mine = static_cast<unsigned long long>(nodes[row]) << 32 | static_cast<unsigned>(row);
  for (std::uint32_t slot = table.slot_of(nodes[row]);; slot = table.after(slot)) {
    unsigned long long found = atomicCAS(&table.slots[slot], kFree, mine);
    if (found == kFree) return;
    if (found >> 32 != mine >> 32) continue;
    atomicMin(&table.slots[slot], mine);
    return;
  }
}

struct LevelSizes {
  const LocalId* sizes;
  std::size_t count;
};

__global__ void __launch_bounds__(kThreadsPerBlock)
    flag_kernel(Table table, const NodeId* __restrict__ nodes, LevelSizes levels, std::uint8_t* __restrict__ flags,
                LocalId* __restrict__ counts) {
  const LocalId row = static_cast<LocalId>(blockIdx.x * kThreadsPerBlock + threadIdx.x);
  bool is_first = false;
  if (row < levels.sizes[levels.count - 1]) {
    std::uint32_t slot = table.slot_of(nodes[row]);
    while (table.slots[slot] >> 32 != nodes[row]) slot = table.after(slot);
    is_first = static_cast<LocalId>(table.slots[slot] & 0xFFFFFFFF) == row;
    flags[row] = is_first;
  }
  for (std::size_t level = 0; level < levels.count; ++level) {
    const int count = __syncthreads_count(is_first && row < levels.sizes[level]);
    if (threadIdx.x == 0 && count > 0) atomicAdd(counts + level, count);
  }
}

int log_slots_for(std::int64_t rows) {
  int log_slots = 8;
  while (std::int64_t{1} << log_slots < 2 * rows) ++log_slots;
  return log_slots;
}

}  // namespace

FirstSeen::FirstSeen(StepMemory& memory, const Levels& levels)
    : num_levels_(levels.last() + 1),
      capacity_(levels.capacity({levels.last()})),
      log_slots_(log_slots_for(capacity_)),
      slots_(memory.array<unsigned long long>(std::int64_t{1} << log_slots_)),
      flags_(memory.array<std::uint8_t>(capacity_)),
      counts_(memory.array<LocalId>(static_cast<std::int64_t>(num_levels_))) {}

void FirstSeen::find(const SampledTree& tree, cudaStream_t stream) const {
  const Table table{slots_, log_slots_};
  const auto blocks = static_cast<unsigned>((capacity_ + kThreadsPerBlock - 1) / kThreadsPerBlock);
  cuda_check(cudaMemsetAsync(slots_, 0xFF, sizeof kFree << log_slots_, stream));
  cuda_check(cudaMemsetAsync(counts_, 0, num_levels_ * sizeof(LocalId), stream));
  claim_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(table, tree.nodes(), tree.size_of(num_levels_ - 1));
  cuda_check(cudaGetLastError());
  flag_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(table, tree.nodes(), {tree.size_of(0), num_levels_}, flags_,
                                                       counts_);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
