// prepare/formats/zip_archive.h - the members of a zip file (npz), each as a stream that checks itself.
//
// The central directory alone is trusted. Local headers repeat sizes in ways that differ between NumPy's versions, so
// only the two lengths that lead to the data are taken from there. Names are compared, they never become paths.
//
// By hand: a libzip archive serves one thread at a time, and neither repeated names nor impossible sizes are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/formats/inflate_stream.h"
#include "prepare/formats/input_file.h"

namespace salient {

// In place of a number: it follows in ZIP64's fields.
inline constexpr std::uint32_t kFull32 = 0xFFFFFFFF;
inline constexpr std::uint16_t kFull16 = 0xFFFF;

struct ZipMember {
  std::string name{};
  std::uint64_t size = 0;  ///< inflated; at most 1100 times compressed_size, which deflate cannot reach
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;  ///< of the local header
  std::uint32_t crc32 = 0;
  int method = 0;  ///< 0 stored, 8 deflated; others are listed but cannot be read
  bool is_encrypted = false;
};

/// zip and zip64, with or without a comment.
class ZipArchive {
 public:
  /// @throws Error{kNoInput}, Error{kIo}; Error{kBadData} for what is no zip file or has a damaged directory.
  explicit ZipArchive(const std::filesystem::path& path);

  const std::vector<ZipMember>& members() const { return members_; }
  const ZipMember* find(std::string_view name) const;  ///< nullptr when there is none
  const InputFile& file() const { return file_; }

  /// Where the member's own bytes begin. @throws Error{kBadData} when they do not lie within the file.
  std::uint64_t data_offset(const ZipMember& member) const;

 private:
  struct Directory {
    std::uint64_t offset = 0, bytes = 0, entries = 0;
  };
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  ZipMember read_entry(std::string_view& entries) const;
  [[noreturn]] void fail_here(const std::string& rule) const;

  InputFile file_;
  std::uint64_t data_end_ = 0;  ///< no member reaches further
  std::vector<ZipMember> members_;
};

/// One member front to back. Several streams, also of one member, may run at the same time.
class ZipMemberStream {
 public:
  /// @param archive, member  must outlive the stream
  /// @throws Error{kBadData} for compression methods other than stored and deflated, and for encryption.
  ZipMemberStream(const ZipArchive& archive, const ZipMember& member);

  /// Fills `out`; fewer bytes only at the end of the member. CRC-32 and size are checked with the last byte.
  ///
  /// @throws Error{kBadData} naming the file and the member; Error{kIo}.
  std::size_t read(std::span<std::byte> out);

  std::uint64_t bytes_left() const { return member_.size - done_; }
  std::uint64_t bytes_consumed() const { return stream_.bytes_consumed(); }  ///< compressed, for progress bars
  std::string name() const;                                                  ///< "data.npz: edge_index.npy"

 private:
  const ZipArchive& archive_;
  const ZipMember& member_;
  InflateStream stream_;
  std::uint64_t done_ = 0;
  std::uint32_t crc32_ = 0;
};

}  // namespace salient
