// prepare/formats/inflate_stream.h - a byte range of a file as a stream: stored, deflated or gzip.
//
// By hand over zlib: see input_file.h.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prepare/formats/input_file.h"

namespace salient {

enum class Encoding {
  kStored,
  kDeflate,  ///< raw, as in zip; the range must end with the compressed data
  kGzip,     ///< any number of members, as pigz and bgzip write; checksums are tested; nothing may follow
};

/// Threads: one at a time; several streams may share an InputFile.
/// Memory:  one input block and zlib's window, whatever the size of the data.
class InflateStream {
 public:
  /// @param file           must outlive the stream
  /// @param begin, length  the range of the file, in bytes
  InflateStream(const InputFile& file, std::uint64_t begin, std::uint64_t length, Encoding encoding);
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;  // zlib's state points back to z_stream
  InflateStream& operator=(const InflateStream&) = delete;

  /// Fills `out`; fewer bytes only at the end of the data.
  ///
  /// @throws Error{kBadData} for data that end early, are damaged, or are followed by others; Error{kIo}.
  std::size_t read(std::span<std::byte> out);

  /// How much of the range was read from the file, for progress bars.
  std::uint64_t bytes_consumed() const { return next_ - begin_; }

 private:
  std::size_t read_stored(std::span<std::byte> out);
  bool refill();
  void end_member();
  [[noreturn]] void fail_here(const std::string& what) const;

  const InputFile& file_;
  const std::uint64_t begin_, end_;
  std::uint64_t next_;  ///< first byte of the file not read yet
  const Encoding encoding_;
  std::vector<std::byte> input_;
  z_stream zlib_{};
  bool inside_member_ = true;
  bool finished_ = false;
};

}  // namespace salient
