// prepare/formats/input_file.h - a file opened for reading at any offset; its errors name it.
//
// By hand, with inflate_stream.h: zlib's gzread takes what follows the gzip data for text, and reports a file that was
// cut off only when it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/host/descriptor.h"

namespace salient {

/// Threads: any number may read at the same time; there is no file position.
class InputFile {
 public:
  /// @throws as open_to_read()
  explicit InputFile(std::filesystem::path path);
  InputFile(const InputFile&) = delete;  // streams refer to it
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `out` from `offset` on; fewer bytes only at the end of the file.
  ///
  /// @return number of bytes read            @throws Error{kIo}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  const std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace salient
