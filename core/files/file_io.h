// core/files/file_io.h - reading and writing whole files: errors that carry errno's text, checksums, fsync.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/descriptor.h"

struct XXH3_state_s;

namespace salient {

/// Size and XXH3-64 of a file's bytes; `xxhsum -H3 FILE` prints the same 16 digits.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint64_t xxh3 = 0;
  bool operator==(const FileDigest&) const = default;
};

std::string to_hex(std::uint64_t value);  ///< 16 lower-case digits

/// For a system call that just failed on `path`, as "PATH: cannot ACTION: errno's text". @throws Error{kIo}, always.
[[noreturn]] void fail_with_errno(const std::filesystem::path& path, std::string_view action);

/// The same for a file that could not be opened to be read.
/// @throws Error{kNoInput} if nothing is there, else Error{kIo}.
[[noreturn]] void fail_to_open(const std::filesystem::path& path);

/// The whole file. @throws as open_to_read(); Error{kBadData} if it is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes = std::uint64_t{64} << 20);

/// Of bytes in memory.
FileDigest digest_of(std::span<const std::byte> bytes);

/// Of a file, of the bytes that it has when it is opened.
/// @param max_bytes  a larger file is not read, and has the checksum 0: its size alone says that it is another one
/// @throws as open_to_read()
FileDigest digest_file(const std::filesystem::path& path,
                       std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

/// Makes a rename or a new file inside `directory` survive a power failure. @throws Error{kIo}.
void fsync_directory(const std::filesystem::path& directory);

/// Writes all of them at the descriptor's position. @param path  named in errors. @throws Error{kIo}.
void write_all(const std::filesystem::path& path, const Descriptor& file, std::span<const std::byte> bytes);

/// Replaces the first bytes of a file and fsyncs it. @throws Error{kIo}.
void overwrite_start(const std::filesystem::path& path, std::string_view bytes);

/// A new file, written front to back through a buffer and hashed on the way. Owns its descriptor.
///
/// Durable only once close() has returned; the destructor abandons an unfinished file silently.
/// @throws Error{kIo} from every member (disk full, file exists, ...).
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t bytes_written() const { return bytes_; }
  FileDigest close();  ///< flushes, fsyncs, closes

 private:
  void flush();

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t buffered_ = 0;
  XXH3_state_s* hash_ = nullptr;
};

/// A new file with this content, fsynced. @throws Error{kIo}.
FileDigest write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace salient
