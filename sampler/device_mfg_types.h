// sampler/device_mfg_types.h - what typed graphs add to a sample on the GPU: rows of hops, lists by relation and type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/device_buffer.h"
#include "core/cuda/pinned_buffer.h"
#include "core/slot_table.h"
#include "sampler/batch_sampler.h"
#include "sampler/device_hop.h"
#include "sampler/slot_lists.h"

namespace salient {

/// The part of DeviceSampler for typed graphs; MfgTypes is the host's. Destinations of a hop are the first of those of
/// the next one, and so are their rows: they are listed once for all hops.
class DeviceMfgTypes {
 public:
  /// @param slots   outlives this   @param rule  of the sampler; copied to the device
  /// @param stream  of all work and memory; outlives this
  DeviceMfgTypes(const SlotTable& slots, const SamplingRule& rule, cudaStream_t stream);

  const DeviceSlots& slots() const { return on_device_; }

  /// A new batch, and the rows of its seeds. @param seeds  nodes of the graph
  void start(std::span<const NodeId> seeds);

  /// Completes the rule of a hop by the fanouts of its relations.
  void set_fanouts(HopRule& rule) const;

  /// Lists the rows of the first num_dst nodes, all that are known.
  /// @param nodes  [num_dst] device   @return  [num_rows()] device
  const HopSlot* list_rows(const NodeId* nodes, LocalId num_dst);
  LocalId num_rows() const { return num_rows_; }

  /// Takes the new nodes of a hop into account. @param sum  of nodes_and_rows   @return  how many they are
  /// @throws Error{kUsage} for a batch that is too large
  LocalId add_nodes(LocalId num_dst, std::uint64_t sum);

  /// [num_nodes + 1] device; add_nodes() makes room.
  LocalId* row_begin() { return row_begin_.data(); }

  /// Enqueues the lists and counts of the batch.
  /// @param nodes   device   @param shape  with its plain parts   @param indptr  [L] of the hops, the seeds' own first
  void list(const NodeId* nodes, const MfgShape& shape, std::span<const LocalId* const> indptr);

  /// Sets the typed parts of `shape`, once the device has passed list().
  void count(MfgShape& shape) const;

  /// Enqueues the copy of what count() counted.
  void copy_to(const MfgShape& shape, const MfgMemory& memory) const;

 private:
  std::size_t num_types() const { return slots_->num_types(); }
  std::size_t num_relations() const { return slots_->relations.size(); }
  void copy(void* to, const LocalId* from, LocalId count) const;

  const SlotTable* slots_;
  std::size_t num_hops_;
  cudaStream_t stream_;
  DeviceBuffer<DeviceNodeType> types_;
  DeviceBuffer<std::uint16_t> relations_;
  DeviceBuffer<int> fanouts_;     // [L][R]
  std::vector<WholeRows> whole_;  // [L]
  DeviceSlots on_device_{};

  PinnedBuffer<LocalId> pinned_{};  // of the seeds' row_begin
  DeviceBuffer<LocalId> row_begin_, row_dst_;
  DeviceBuffer<HopSlot> rows_;
  LocalId num_rows_ = 0;                      // of all nodes known
  LocalId num_listed_ = 0, rows_listed_ = 0;  // nodes and rows that list_rows() has listed
  std::vector<LocalId> hop_rows_{};           // [L] the seeds' own first

  SortScratch scratch_;
  ListByKey nodes_by_type_;
  std::vector<ListByKey> rows_by_relation_{};  // the seeds' own hop first
  DeviceBuffer<LocalId> levels_, numbers_;     // numbers_: [L + 1][T] counts, [L][R + 1] begins
  PinnedBuffer<LocalId> pinned_levels_{}, read_numbers_{};
};

}  // namespace salient
