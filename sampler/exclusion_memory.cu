// sampler/exclusion_memory.cu - see exclusion_memory.h.
//
// Work split  a thread per key, behind a radix sort of them and before a sum of their lengths.
// Access      a row's entries are random reads, two binary searches of them: what limits it. A batch has few keys.
// Sync        one atomic for each row that has keys; the table's order does not matter to what is looked up.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "sampler/device_launch.cuh"
#include "sampler/exclusion_memory.h"

namespace salient {
namespace {

constexpr std::size_t kAlignment = 256;

// ---- device code -----------------------------------------------------------------------------------------

__device__ void claim_row(const ExclusionMemory& memory, std::uint32_t i) {
  const std::uint32_t row = row_of(memory.sorted[i]);
  std::uint32_t at = DeviceExclusions::slot_of(row, memory.log_size);
  while (atomicCAS(&memory.slots[at].row, DeviceExclusions::kFree, row) != DeviceExclusions::kFree)
    at = DeviceExclusions::after(at, memory.log_size);
  memory.slots[at].begin = i;
  memory.slots[at].end = end_of_row(memory.sorted, memory.count, i);
}

/// first[i] of each key, and its length as before[i].
__global__ void __launch_bounds__(kBlockSize) runs_kernel(DeviceCsr graph, ExclusionMemory memory) {
  for (std::int64_t at = first_index(); at <= memory.count; at += index_stride()) {
    const auto i = static_cast<std::uint32_t>(at);
    ExcludedRun run{0, 0};
    if (i < memory.count) {
      run = run_of_key(graph, memory.sorted, i);
      memory.first[i] = run.first;
      if (begins_row(memory.sorted, i)) claim_row(memory, i);
    }
    memory.before[i] = run.length;
  }
}

// ---- host code -------------------------------------------------------------------------------------------

void sort_keys(const ExclusionMemory& memory, std::byte* scratch, std::size_t& bytes, cudaStream_t stream) {
  cuda_check(cub::DeviceRadixSort::SortKeys(scratch, bytes, memory.keys, memory.sorted, memory.count, 0, 64, stream));
}

void sum_lengths(const ExclusionMemory& memory, std::byte* scratch, std::size_t& bytes, cudaStream_t stream) {
  cuda_check(cub::DeviceScan::ExclusiveSum(scratch, bytes, memory.before, memory.before, memory.count + 1, stream));
}

std::size_t scratch_bytes_for(std::uint32_t count) {
  ExclusionMemory memory{.count = count};
  std::size_t of_sort = 0, of_sum = 0;
  sort_keys(memory, nullptr, of_sort, nullptr);
  sum_lengths(memory, nullptr, of_sum, nullptr);
  return std::max(of_sort, of_sum);
}

/// Hands out parts of one piece of memory; of null it counts them.
struct Arena {
  std::byte* memory;
  std::size_t bytes = 0;

  template <class T>
  T* take(std::size_t count) {
    const std::size_t at = bytes;
    bytes += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return memory == nullptr ? nullptr : reinterpret_cast<T*>(memory + at);
  }
};

ExclusionMemory place_in(Arena& arena, std::uint32_t count) {
  ExclusionMemory memory{.count = count};
  memory.log_size = std::countr_zero(std::bit_ceil(std::max<std::uint32_t>(2 * count, 64)));
  memory.keys = arena.take<EntryKey>(count);
  memory.sorted = arena.take<EntryKey>(count);
  memory.first = arena.take<std::uint32_t>(count);
  memory.before = arena.take<std::uint32_t>(std::size_t{count} + 1);
  memory.slots = arena.take<DeviceExclusions::Slot>(std::size_t{1} << memory.log_size);
  memory.scratch_bytes = scratch_bytes_for(count);
  memory.scratch = arena.take<std::byte>(memory.scratch_bytes);
  return memory;
}

}  // namespace

std::size_t ExclusionMemory::bytes(std::uint32_t count) {
  Arena arena{nullptr};
  place_in(arena, count);
  return arena.bytes;
}

ExclusionMemory ExclusionMemory::place(std::byte* memory, std::uint32_t count) {
  Arena arena{memory};
  return place_in(arena, count);
}

void find_exclusions(const DeviceCsr& graph, const ExclusionMemory& memory, cudaStream_t stream) {
  const std::size_t num_slots = std::size_t{1} << memory.log_size;
  cuda_check(cudaMemsetAsync(memory.slots, 0xFF, num_slots * sizeof(DeviceExclusions::Slot), stream));
  std::size_t bytes = memory.scratch_bytes;
  sort_keys(memory, memory.scratch, bytes, stream);
  launch(std::int64_t{memory.count} + 1, stream, runs_kernel, graph, memory);
  bytes = memory.scratch_bytes;
  sum_lengths(memory, memory.scratch, bytes, stream);
}

}  // namespace salient
