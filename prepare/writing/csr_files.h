// prepare/writing/csr_files.h - indptr.npy and indices.npy, written row after row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/files/npy.h"
#include "prepare/writing/store_writer.h"
#include "store/csr_arrays.h"

namespace salient {

/// Memory: a few MB.
class CsrFiles {
 public:
  /// @throws Error{kIo}, here and below
  CsrFiles(const std::filesystem::path& folder, std::uint64_t num_nodes);

  /// The next slice: row i of `rows` is node first_row + i. Nodes that were left out have no entries; the last node of
  /// a slice may go on in the next.
  void append(NodeId first_row, const CsrArrays& rows);

  /// Nodes behind the last slice have no entries.
  void close(StoreWriter& store);

  std::uint64_t num_entries() const { return num_entries_; }
  std::uint64_t self_loops() const { return self_loops_; }
  std::uint64_t duplicates() const { return duplicates_; }

 private:
  void start_row(std::uint64_t row);
  void flush_indptr();

  const std::uint64_t num_nodes_;
  NpyWriter indptr_;
  NpyAppender indices_;
  std::vector<EdgeOffset> pending_;  ///< of indptr
  std::uint64_t num_started_ = 0;    ///< rows whose start is known: so much of indptr
  std::uint64_t num_entries_ = 0, self_loops_ = 0, duplicates_ = 0;
};

}  // namespace salient
