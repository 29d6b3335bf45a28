// sampler/slot_lists.h - rows of typed hops, and lists by relation and type, on the GPU. Needs no nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/cuda/device_buffer.h"
#include "sampler/device_rows.h"

namespace salient {

/// A part of a list: [begin, end).
struct ListPart {
  LocalId begin = 0, end = 0;
};

/// Items in the order of their keys, those of equal ones ascending.
struct ListByKey {
  explicit ListByKey(cudaStream_t stream) : keys(stream), items(stream) {}
  DeviceBuffer<std::uint16_t> keys;
  DeviceBuffer<LocalId> items;
  LocalId count = 0;
};

/// What the sorts of one stream share.
struct SortScratch {
  explicit SortScratch(cudaStream_t stream) : keys(stream), items(stream), bytes(stream) {}
  DeviceBuffer<std::uint16_t> keys;
  DeviceBuffer<LocalId> items;
  DeviceBuffer<std::byte> bytes;
};

// All below enqueue on `stream` and return.

/// Destinations and where their rows go, device memory.
struct SlotRowLists {
  const NodeId* nodes = nullptr;       ///< [num_dst]
  const LocalId* row_begin = nullptr;  ///< [num_dst + 1] the first row of each
  HopSlot* rows = nullptr;             ///< [row_begin[num_dst]]
  LocalId* row_dst = nullptr;          ///< likewise: the destination of each row
};

/// Writes the rows of a part of the destinations.
/// @param part  of rows: those of destinations `dst`, row_begin[dst.begin] to row_begin[dst.end]
void list_slot_rows(const DeviceSlots& slots, const SlotRowLists& lists, ListPart dst, ListPart part,
                    cudaStream_t stream);

/// The numbers of nodes by type. @param list  gets `count` items
void list_by_type(const DeviceSlots& slots, const NodeId* nodes, LocalId count, ListByKey& list, SortScratch& scratch,
                  cudaStream_t stream);

/// The rows of a hop, device memory.
struct RowsOfHop {
  const HopSlot* rows = nullptr;    ///< [num_rows]
  const LocalId* indptr = nullptr;  ///< [num_rows + 1]
  LocalId num_rows = 0;
};

/// Rows by relation; rows without entries come last, as those of relation `num_relations`.
/// @param list  gets all rows
void list_by_relation(const RowsOfHop& hop, int num_relations, ListByKey& list, SortScratch& scratch,
                      cudaStream_t stream);

/// counts[l * num_keys + k] = items below level[l] whose key is k.
/// @param levels  [num_levels] device memory
void count_below(const ListByKey& list, const LocalId* levels, int num_levels, int num_keys, LocalId* counts,
                 cudaStream_t stream);

/// begins[k] = items whose key is below k, for k in [0, num_keys].
void find_begins(const ListByKey& list, int num_keys, LocalId* begins, cudaStream_t stream);

}  // namespace salient
