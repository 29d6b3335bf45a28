// sampler/device_hop.h - one hop of sampling on the GPU, as the steps that DeviceSampler enqueues. Needs no nvcc.
//
// A hop numbers its items: items [0, D) are the destinations, item D + e is the e-th entry that was kept. The hash
// table keeps for each id the smallest item that has it; for a node known before that is its number. The entries that
// are the first of their id, in their order, get the next numbers: the order of first sight, as on the host.
//
// Entries are those of rows. Of a plain graph a hop has a row for each destination, of a typed graph for each of their
// slots, destination by destination: see device_rows.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/device_buffer.h"
#include "sampler/device_rows.h"
#include "sampler/draws.h"
#include "sampler/node_degree.h"
#include "sampler/sampling_rule.h"

namespace salient {

/// Of which rows a hop keeps every entry because the fanout is kAllNeighbors.
enum class WholeRows : std::uint8_t { kNone, kSome, kAll };

/// What one hop keeps of a row.
struct HopRule {
  int fanout = 0;  ///< or kAllNeighbors; of a plain graph
  Draw draw = Draw::kUniform;
  BatchKey key{};
  std::uint32_t hop = 0;         ///< 0 = the seeds' own
  const int* fanouts = nullptr;  ///< of a typed graph: device memory, of each relation
  WholeRows whole{};             ///< by its fanouts
  bool keeps_last = false;       ///< of the entries that a time admits, those at the end of the row
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

/// Of a batch whose nodes are seen at times, each by its number among the times of the seeds. All null: they are not.
struct DeviceTimes {
  const TimeBounds* bounds = nullptr;  ///< [times]
  std::uint32_t* of_node = nullptr;    ///< [num_dst and new nodes], of which those of the destinations are filled
  std::uint32_t* of_entry = nullptr;   ///< [num_edges]
  TimeRange* admitted = nullptr;       ///< [num_rows]

  bool are_seen() const { return bounds != nullptr; }
};

/// What the steps of one hop hand on to each other, in device memory. Each step says which of these it reads and fills.
struct DeviceHop {
  const NodeId* dst = nullptr;       ///< [num_dst]
  const HopSlot* rows = nullptr;     ///< [num_rows] of a typed graph; null: row i is that of dst[i]
  std::int64_t* offsets = nullptr;   ///< [num_rows + 1]
  NodeId* kept = nullptr;            ///< [num_edges]
  std::uint32_t* slot_of = nullptr;  ///< [num_edges] of the kept entries
  LocalId* rank = nullptr;           ///< [num_edges + 1] of a plain graph
  std::uint64_t* ranks = nullptr;    ///< [num_edges + 1] of a typed graph instead: see nodes_and_rows
  DeviceIdTable table{};
  DeviceTimes times{};          ///< of a plain graph
  DeviceExclusions excluded{};  ///< null: none; not with times
  LocalId num_dst = 0, num_rows = 0, num_edges = 0;
};

/// Calls use() with RowsOfNodes or RowsOfSlots, or with those RowsWithout exclusions.
template <class Use>
void with_rows(const HopRule& rule, const DeviceHop& hop, const Use& use) {
  const auto with = [&]<class Rows>(const Rows& rows) {
    hop.excluded.slots == nullptr ? use(rows) : use(RowsWithout<Rows>{rows, hop.excluded});
  };
  if (hop.rows == nullptr)
    with(RowsOfNodes{hop.dst, rule.hop, rule.fanout, hop.times.admitted});
  else
    with(RowsOfSlots{hop.rows, rule.hop, rule.fanouts});
}

// All below enqueue on `stream` and return.

/// Of nodes that are seen at times: times.admitted = the places of each row that its time admits.
void narrow_rows(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, cudaStream_t stream);

/// offsets[i] = entries kept of rows [0 .. i).
void scan_kept(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop,
               DeviceBuffer<std::byte>& scratch, cudaStream_t stream);

/// kept[offsets[i] .. offsets[i + 1]) = the neighbours kept of row i; indptr = offsets.
/// @param indptr  [num_rows + 1]
void pick_entries(const DeviceValuedCsr& graph, const HopRule& rule, const DeviceHop& hop, LocalId* indptr,
                  cudaStream_t stream);

/// Finds each id's slot, slot_of of the kept entries, and the smallest item of each id in `table`, which is all free.
/// With times an id is a node at a time: fills times.of_entry, and the table has in the place of an id an item that has
/// it, which takes no more room.
void claim_slots(const DeviceHop& hop, cudaStream_t stream);

/// rank[e] = new ids among the kept entries [0 .. e).
void rank_new_ids(const DeviceHop& hop, DeviceBuffer<std::byte>& scratch, cudaStream_t stream);

/// The same of a typed graph, with their rows, in `ranks`.
void rank_new_ids(const DeviceHop& hop, const DeviceSlots& slots, DeviceBuffer<std::byte>& scratch,
                  cudaStream_t stream);

/// Appends the new ids to `nodes`, their times to times.of_node, and gives every kept entry its local id. Does not read
/// dst.
/// @param nodes    [num_dst + rank[num_edges]], of which the first num_dst are filled
/// @param indices  [num_edges]
void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* indices, cudaStream_t stream);

/// The same of a typed graph.
/// @param row_begin  [num_dst + new nodes + 1], of which the first num_dst + 1 are filled: the first row of each node
void number_entries(const DeviceHop& hop, NodeId* nodes, LocalId* row_begin, LocalId* indices, cudaStream_t stream);

/// read_degrees() on the device. @param nodes  [num_nodes]   @param degrees  [num_nodes]
void read_degrees(const DeviceCsr& graph, const NodeId* nodes, LocalId num_nodes, NodeDegree* degrees,
                  cudaStream_t stream);

}  // namespace salient
