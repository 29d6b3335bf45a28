// sampler/device_hop.h - one hop of sampling on the GPU, as the steps that DeviceSampler enqueues. Needs no nvcc.
//
// A hop numbers its items: items [0, D) are the destinations, item D + e is the e-th entry that was kept. The hash
// table keeps for each id the smallest item that has it; for a node known before that is its number. The entries that
// are the first of their id, in their order, get the next numbers: the order of first sight, as on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/device_buffer.h"
#include "sampler/draws.h"
#include "sampler/node_degree.h"
#include "sampler/sampling_rule.h"

namespace salient {

/// Borrowed CSR graph that the device reads; the rules are CsrGraph's. Bounds are in device memory. Of a graph in tiers
/// some rows are in pinned host memory, in any order: their begins count from `indices` all the same, since one address
/// space holds both memories.
struct DeviceCsr {
  const EdgeOffset* indptr = nullptr;  ///< [num_nodes + 1]
  const NodeId* indices = nullptr;
  std::size_t num_nodes = 0;
  const EdgeOffset* begins = nullptr;  ///< [num_nodes] where rows begin; null = at indptr

  SALIENT_HOST_DEVICE std::uint32_t degree(NodeId v) const {
    return static_cast<std::uint32_t>(indptr[v + std::size_t{1}] - indptr[v]);
  }
  SALIENT_HOST_DEVICE EdgeOffset begin(NodeId v) const {
    EdgeOffset first = indptr[v];  // which every caller reads for the degree: of a whole graph nothing else is read
    if (begins != nullptr) first = begins[v];
    return first;
  }
  SALIENT_HOST_DEVICE const NodeId* row(NodeId v) const { return indices + begin(v); }
};

/// What one hop keeps of a row.
struct HopRule {
  int fanout = 0;  ///< or kAllNeighbors
  Draw draw = Draw::kUniform;
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

/// What the steps of one hop hand on to each other, in device memory. Each step says which of these it reads and fills.
struct DeviceHop {
  const NodeId* dst = nullptr;       ///< [num_dst]
  std::int64_t* offsets = nullptr;   ///< [num_dst + 1]
  NodeId* kept = nullptr;            ///< [num_edges]
  std::uint32_t* slot_of = nullptr;  ///< [num_edges] of the kept entries
  LocalId* rank = nullptr;           ///< [num_edges + 1]
  DeviceIdTable table{};
  LocalId num_dst = 0, num_edges = 0;
};

// All below enqueue on `stream` and return.

/// offsets[i] = entries kept of rows dst[0 .. i).
void scan_kept(const DeviceCsr& graph, const HopRule& rule, const DeviceHop& hop, DeviceBuffer<std::byte>& scratch,
               cudaStream_t stream);

/// kept[offsets[i] .. offsets[i + 1]) = the neighbours kept of dst[i]; indptr = offsets.
/// @param indptr  [num_dst + 1]
void pick_entries(const DeviceCsr& graph, const HopRule& rule, const DeviceHop& hop, LocalId* indptr,
                  cudaStream_t stream);

/// Finds each id's slot, slot_of of the kept entries, and the smallest item of each id in `table`, which is all free.
void claim_slots(const DeviceHop& hop, cudaStream_t stream);

/// rank[e] = new ids among the kept entries [0 .. e).
void rank_new_ids(const DeviceHop& hop, DeviceBuffer<std::byte>& scratch, cudaStream_t stream);

/// Appends the new ids to `nodes`, and gives every kept entry its local id. Does not read dst.
/// @param nodes    [num_dst + rank[num_edges]], of which the first num_dst are filled
/// @param indices  [num_edges]
void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* indices, cudaStream_t stream);

/// read_degrees() on the device. @param nodes  [num_nodes]   @param degrees  [num_nodes]
void read_degrees(const DeviceCsr& graph, const NodeId* nodes, LocalId num_nodes, NodeDegree* degrees,
                  cudaStream_t stream);

}  // namespace salient
