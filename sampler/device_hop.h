// sampler/device_hop.h - one hop of sampling on the GPU, as the steps that DeviceSampler enqueues. Needs no nvcc.
//
// A hop numbers its items: items [0, D) are the destinations, item D + e is the e-th entry that was kept. The hash table
// keeps for each id the smallest item that has it; for a node known before that is its number. The entries that are the
// first of their id, in their order, get the next numbers: the order of first sight, as on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/device_buffer.h"
#include "sampler/draws.h"

namespace salient {

/// Borrowed CSR graph in device memory; the rules are CsrGraph's.
struct DeviceCsr {
  const EdgeOffset* indptr = nullptr;  ///< [num_nodes + 1]
  const NodeId* indices = nullptr;
  std::size_t num_nodes = 0;
};

/// What one hop keeps of a row.
struct HopRule {
  int fanout = 0;  ///< or kAllNeighbors
  Replacement replacement = Replacement::kWithout;
  BatchKey key{};
  std::uint32_t hop = 0;  ///< 0 = the seeds' own
};

/// Open addressing, a power of two of slots, at most half of them in use. All bits set = free.
struct DeviceIdTable {
  struct Slot {
    NodeId id;
    std::uint32_t number;
  };
  Slot* slots = nullptr;
  int log_size = 0;  ///< in [1, 32]
};

// All below enqueue on `stream` and return; all pointers are device memory.

/// offsets[i] = entries kept of rows dst[0 .. i).
/// @param offsets  [num_dst + 1]
void scan_kept(const DeviceCsr& graph, const HopRule& rule, const NodeId* dst, LocalId num_dst, std::int64_t* offsets,
               DeviceBuffer<std::byte>& scratch, cudaStream_t stream);

/// kept[offsets[i] .. offsets[i + 1]) = the neighbours kept of dst[i]; indptr = offsets.
/// @param indptr  [num_dst + 1]
/// @param kept    [num_edges]
void pick_entries(const DeviceCsr& graph, const HopRule& rule, const NodeId* dst, LocalId num_dst,
                  const std::int64_t* offsets, LocalId num_edges, LocalId* indptr, NodeId* kept, cudaStream_t stream);

/// Finds each id's slot, and the smallest item of each id.
/// @param table    all free.
/// @param slot_of  [num_edges] of the kept entries
void claim_slots(const NodeId* dst, LocalId num_dst, const NodeId* kept, LocalId num_edges, DeviceIdTable table,
                 std::uint32_t* slot_of, cudaStream_t stream);

/// rank[e] = new ids among the kept entries [0 .. e).
/// @param rank  [num_edges + 1]
void rank_new_ids(LocalId num_dst, const std::uint32_t* slot_of, LocalId num_edges, DeviceIdTable table, LocalId* rank,
                  DeviceBuffer<std::byte>& scratch, cudaStream_t stream);

/// Appends the new ids to `nodes`, and gives every kept entry its local id.
/// @param nodes    [num_dst + rank[num_edges]], of which the first num_dst are filled
/// @param indices  [num_edges]
void number_entries(LocalId num_dst, const NodeId* kept, const std::uint32_t* slot_of, const LocalId* rank,
                    LocalId num_edges, DeviceIdTable table, NodeId* nodes, LocalId* indices, cudaStream_t stream);

}  // namespace salient
