// sampler/slot_lists.cu - see slot_lists.h.
//
// Work split  a thread per row, node, or key; no loop over relations. Lists are made by a stable radix sort of 16-bit
//             keys, of as many bits as keys need: one pass for up to 255 types or relations.
// Access      in order, but for the search of a row's destination among neighbours that are in the cache.
// Limit       launches: each list is a few tens of microseconds.
// Sync        none.
#include "sampler/slot_lists.h"

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "sampler/device_launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// Single parameters instead of structs, here and below, as __restrict__ does not reach into a struct.
__global__ void __launch_bounds__(kBlockSize)
    slot_rows_kernel(DeviceSlots slots, const NodeId* __restrict__ nodes, const LocalId* __restrict__ row_begin,
                     ListPart dst, ListPart part, HopSlot* __restrict__ rows, LocalId* __restrict__ row_dst) {
  for (std::int64_t at = part.begin + first_index(); at < part.end; at += index_stride()) {
    const auto row = static_cast<LocalId>(at);
    const LocalId i = last_not_above(dst.begin, dst.end, row, [row_begin](LocalId d) { return row_begin[d]; });
    rows[row] = slots.row_of(nodes[i], static_cast<std::uint32_t>(row - row_begin[i]));
    row_dst[row] = i;
  }
}

__global__ void __launch_bounds__(kBlockSize)
    type_keys_kernel(DeviceSlots slots, const NodeId* __restrict__ nodes, LocalId count,
                     std::uint16_t* __restrict__ keys, LocalId* __restrict__ items) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    keys[i] = static_cast<std::uint16_t>(slots.type_of(nodes[i]));
    items[i] = static_cast<LocalId>(i);
  }
}

__global__ void __launch_bounds__(kBlockSize)
    relation_keys_kernel(const HopSlot* __restrict__ rows, const LocalId* __restrict__ indptr, LocalId count,
                         std::uint16_t of_empty, std::uint16_t* __restrict__ keys, LocalId* __restrict__ items) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    keys[i] = indptr[i] < indptr[i + 1] ? rows[i].relation : of_empty;
    items[i] = static_cast<LocalId>(i);
  }
}

/// Single parameters, see above.
__global__ void __launch_bounds__(kBlockSize)
    counts_kernel(const std::uint16_t* __restrict__ keys, const LocalId* __restrict__ items, LocalId count,
                  const LocalId* __restrict__ levels, int num_levels, int num_keys, LocalId* __restrict__ counts) {
  for (std::int64_t at = first_index(); at < std::int64_t{num_levels} * num_keys; at += index_stride()) {
    const int key = static_cast<int>(at % num_keys);
    const LocalId level = levels[at / num_keys];
    const LocalId begin = first_not_below(count, [=](LocalId i) { return keys[i] < key; });
    const LocalId end =
        first_not_below(count, [=](LocalId i) { return keys[i] < key || (keys[i] == key && items[i] < level); });
    counts[at] = end - begin;
  }
}

__global__ void __launch_bounds__(kBlockSize)
    begins_kernel(const std::uint16_t* __restrict__ keys, LocalId count, int num_keys, LocalId* __restrict__ begins) {
  for (std::int64_t key = first_index(); key <= num_keys; key += index_stride())
    begins[key] = first_not_below(count, [=](LocalId i) { return keys[i] < key; });
}

// ---- host code -------------------------------------------------------------------------------------------

/// Of what scratch.keys and scratch.items hold. @param num_keys  more than the largest key
void sort_by_key(LocalId count, int num_keys, ListByKey& list, SortScratch& scratch, cudaStream_t stream) {
  const auto num_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(num_keys - 1, 1))));
  const auto sort = [&](void* memory, std::size_t& bytes) {
    cuda_check(cub::DeviceRadixSort::SortPairs(memory, bytes, scratch.keys.data(), list.keys.data(),
                                               scratch.items.data(), list.items.data(), count, 0, num_bits, stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  sort(scratch.bytes.reserve(bytes), bytes);
}

/// Room for a list and for what is sorted into it. @return  whether there is anything to sort
bool reserve(LocalId count, ListByKey& list, SortScratch& scratch) {
  const auto size = static_cast<std::size_t>(count);
  list.count = count;
  list.keys.reserve(size);
  list.items.reserve(size);
  scratch.keys.reserve(size);
  scratch.items.reserve(size);
  return count > 0;
}

}  // namespace

void list_slot_rows(const DeviceSlots& slots, const SlotRowLists& lists, ListPart dst, ListPart part,
                    cudaStream_t stream) {
  launch(part.end - part.begin, stream, slot_rows_kernel, slots, lists.nodes, lists.row_begin, dst, part, lists.rows,
         lists.row_dst);
}

void list_by_type(const DeviceSlots& slots, const NodeId* nodes, LocalId count, ListByKey& list, SortScratch& scratch,
                  cudaStream_t stream) {
  if (!reserve(count, list, scratch)) return;
  launch(count, stream, type_keys_kernel, slots, nodes, count, scratch.keys.data(), scratch.items.data());
  sort_by_key(count, slots.num_types, list, scratch, stream);
}

void list_by_relation(const RowsOfHop& hop, int num_relations, ListByKey& list, SortScratch& scratch,
                      cudaStream_t stream) {
  if (!reserve(hop.num_rows, list, scratch)) return;
  launch(hop.num_rows, stream, relation_keys_kernel, hop.rows, hop.indptr, hop.num_rows,
         static_cast<std::uint16_t>(num_relations), scratch.keys.data(), scratch.items.data());
  sort_by_key(hop.num_rows, num_relations + 1, list, scratch, stream);
}

void count_below(const ListByKey& list, const LocalId* levels, int num_levels, int num_keys, LocalId* counts,
                 cudaStream_t stream) {
  launch(std::int64_t{num_levels} * num_keys, stream, counts_kernel, list.keys.data(), list.items.data(), list.count,
         levels, num_levels, num_keys, counts);
}

void find_begins(const ListByKey& list, int num_keys, LocalId* begins, cudaStream_t stream) {
  launch(std::int64_t{num_keys} + 1, stream, begins_kernel, list.keys.data(), list.count, num_keys, begins);
}

}  // namespace salient
