// loaders/typed_batch.h - the parts of a batch of a typed graph alone: rows by relation, nodes by type, their features.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loaders/batch.h"
#include "loaders/held_rows.h"
#include "sampler/mfg_types.h"
#include "store/dataset.h"

namespace salient {

/// Whether rows are those of one table, dataset.features, whatever their type: where no type has features of its own.
/// Results of a layer are such rows.
bool has_one_table(const Dataset& dataset);

/// Adds the parts of types and relations behind the others; x of sparse rows has room for the longest. x of the batch
/// as a whole there is where has_one_table(), as in batches of plain graphs. Where features are on the device, x of
/// dense rows comes last, behind all that is copied.
/// @param mfg  with its typed parts
void lay_out_types(const MfgShape& mfg, const Dataset& dataset, BatchLayout& layout);

/// One worker's memory to write them.
class TypedBatchWriter {
 public:
  /// @param data  rows that it has are not written. What both point to outlives the writer.
  TypedBatchWriter(const Dataset& dataset, const ResidentView& data) : dataset_(&dataset), cached_(data.type_cached) {}

  /// Where the sampler writes rows and nodes. Valid until the next call.
  struct Memory {
    std::vector<TypedHopMemory> hops{};  ///< [L]
    std::vector<LocalId*> nodes{};       ///< [T]
  };
  const Memory& memory_in(const BatchLayout& layout, std::byte* slab);

  /// Gathers x of all types, but for what the device gathers, and places the parts of sparse ones as near as their
  /// values allow.
  /// @param slab  with ids and nodes by type
  /// @param held  of kPartitioned: writes the dense rows that are here, and lists the others; else null
  /// Oracle: gather_features_reference() by type
  void write_features(Batch& batch, std::byte* slab, HeldRowWriter* held);

 private:
  void write_sparse(const SparseRowTable& table, BatchLayout& layout, TypeLayout& type, std::byte* slab) const;
  void write_missed(const RowTable& table, const NodeSet& cached, BatchLayout& layout, TypeLayout& type,
                    std::byte* slab);

  const Dataset* dataset_;
  std::span<const NodeSet> cached_;  // kCached: [types]
  Memory memory_{};
  std::vector<NodeId> rows_{};    // of one type's table
  std::vector<NodeId> missed_{};  // of those the ones that its cache lacks
};

}  // namespace salient
