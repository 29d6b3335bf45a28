// prepare/formats/zip_writer.h - a zip64 file of large deflated members, each made block by block in parallel.
//
// By hand: libzip and libarchive compress a member on one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/file_io.h"
#include "prepare/formats/zip_archive.h"

namespace salient {

/// Always writes zip64 fields; sizes are behind each member and in the directory, as in a zip written to a pipe.
class ZipWriter {
 public:
  /// @throws Error{kIo}, here and below
  explicit ZipWriter(const std::filesystem::path& path) : path_(path), file_(path) {}

  /// Appends block number b to `bytes`, which is empty.
  using MakeBlock = std::function<void(std::uint64_t b, std::string& bytes)>;

  /// The member's content is the blocks 0, 1, ... num_blocks - 1, one after another.
  ///
  /// @param make_block  called in any order on any threads of the caller's arena, once for each block
  /// Determinism:  a function of the blocks, whatever the number of threads.
  /// Memory:       two to four blocks per thread.
  void add(const std::string& name, std::uint64_t num_blocks, const MakeBlock& make_block);
  void add(const std::string& name, const std::string& content);

  std::uint64_t bytes_written() const { return file_.bytes_written(); }
  void close();  ///< the directory; fsyncs

 private:
  std::filesystem::path path_;
  OutputFile file_;
  std::vector<ZipMember> members_;
};

/// One gzip member. For small texts.
std::string gzip_compressed(const std::string& text);

}  // namespace salient
