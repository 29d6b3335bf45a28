// engine/infer/host_matrix.h - a matrix that all ranks of a host share, in memory or in a file that is mapped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

struct HostMatrixSpec {
  std::size_t rows = 0, row_bytes = 0;
  std::optional<std::filesystem::path> scratch{};  ///< folder for the file; none = in memory
};

/// [rows, row_bytes], once per host: the first rank of a host makes it, the others map the same pages, and each writes
/// rows of its own. It has no name in any folder, so nothing remains of it when its ranks have ended, even by SIGKILL.
class HostMatrix {
 public:
  /// Collective. @param launch  of run_ranks(): MPI knows which ranks share memory; host names may be equal by chance.
  /// @throws RankError{kHostMemory, kIo} when there is no room: all of it is allocated here.
  HostMatrix(const HostMatrixSpec& spec, Communicator& comm, const Launch& launch);

  std::size_t rows() const { return rows_; }
  std::size_t row_bytes() const { return row_bytes_; }
  std::byte* row(std::size_t i) const { return data_.get() + i * row_bytes_; }

  /// After the last write. Where the file is larger than the memory that is free, a fault reads one page from now on,
  /// not those around it. @return whether that is so: rows are for gather_paged_rows()
  bool end_writing() const;

  /// Starts to read the rows [first, first + count) of a file, which are used in order.
  void will_read(std::size_t first, std::size_t count) const;

 private:
  std::size_t rows_, row_bytes_;
  bool is_file_;
  std::shared_ptr<std::byte> data_;  // null if there are no rows
};

}  // namespace salient
