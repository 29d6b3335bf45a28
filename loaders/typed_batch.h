// loaders/typed_batch.h - the parts of a batch of a typed graph alone: rows by relation, nodes by type, their features.
#pragma once

#include <cstddef>
#include <vector>

#include "loaders/batch.h"
#include "sampler/mfg_types.h"
#include "store/dataset.h"

namespace salient {

/// Whether rows are those of one table, dataset.features, whatever their type: where no type has features of its own.
/// Results of a layer are such rows.
bool has_one_table(const Dataset& dataset);

/// Adds the parts of types and relations behind the others; x of sparse rows has room for the longest. x of the batch
/// as a whole there is where has_one_table(), as in batches of plain graphs. Where features are on the device, x of
/// dense rows comes last, behind all that is copied.
/// @param mfg  with its typed parts   @throws Error{kInternal} for other residencies than kHost and kDevice
void lay_out_types(const MfgShape& mfg, const Dataset& dataset, BatchLayout& layout);

/// One worker's memory to write them.
class TypedBatchWriter {
 public:
  explicit TypedBatchWriter(const Dataset& dataset) : dataset_(&dataset) {}

  /// Where the sampler writes rows and nodes. Valid until the next call.
  struct Memory {
    std::vector<TypedHopMemory> hops{};  ///< [L]
    std::vector<LocalId*> nodes{};       ///< [T]
  };
  const Memory& memory_in(const BatchLayout& layout, std::byte* slab);

  /// Gathers x of all types, but for what the device gathers, and places the parts of sparse ones as near as their
  /// values allow.
  /// @param slab  with ids and nodes by type
  /// Oracle: gather_features_reference() by type
  void write_features(BatchLayout& layout, std::byte* slab);

 private:
  void write_sparse(const SparseRowTable& table, BatchLayout& layout, TypeLayout& type, std::byte* slab) const;

  const Dataset* dataset_;
  Memory memory_{};
  std::vector<NodeId> rows_{};  // of one type's table
};

}  // namespace salient
