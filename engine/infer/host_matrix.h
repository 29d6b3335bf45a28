// engine/infer/host_matrix.h - a matrix that all ranks of a host share, in memory or in a file that is mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace salient {

enum class MatrixPlace : std::uint8_t { kMemory, kFile };

/// f32 [rows, width], mapped once per host: one rank makes it, the others of the host map the same pages, and each writes
/// rows of its own. It has no name in any folder, so nothing is left behind, however the ranks end.
class HostMatrix {
 public:
  /// Collective.
  /// @param scratch  folder for kFile.
  /// @param host     ranks that say the same share one mapping.
  /// @throws RankError{kHostMemory, kIo} when there is no room: it is all taken here, never later.
  HostMatrix(std::size_t rows, std::size_t width, MatrixPlace place, const std::filesystem::path& scratch,
             Communicator& comm, const std::string& host);
  ~HostMatrix();
  HostMatrix(const HostMatrix&) = delete;
  HostMatrix& operator=(const HostMatrix&) = delete;

  std::size_t rows() const { return rows_; }
  std::size_t width() const { return width_; }
  float* row(std::size_t i) const { return data_ + i * width_; }

  /// For each rank, the lowest rank of its host: who shares a mapping.
  std::span<const int> group_of() const { return group_of_; }

 private:
  void map(int descriptor);

  std::size_t rows_, width_, bytes_;
  float* data_ = nullptr;
  std::vector<int> group_of_;
};

}  // namespace salient
