// loaders/device_features.h - a data set's feature rows in GPU memory. Needs no CUDA toolkit to include.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/types.h"
#include "store/row_table.h"

namespace salient {

/// Owns a copy of a feature matrix on one GPU. Moves, never copies.
class DeviceFeatures {
 public:
  /// Copies every row to the current device, through pinned memory that all cores fill. Blocks until done; shows
  /// progress.
  ///
  /// @param host  host memory, such as a file mapping.
  /// @throws Error{kDeviceMemory} if it does not fit; Error{kNoDevice} in a CPU build.
  explicit DeviceFeatures(RowTable host);

  /// The same of some rows: row i of the copy is row rows[i].
  DeviceFeatures(RowTable host, std::span<const NodeId> rows);

  /// The rows, in device memory.
  RowTable table() const { return table_; }

 private:
  void allocate(std::size_t num_rows);

  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> memory_;
  RowTable table_;
};

}  // namespace salient
