// core/files/mapped_file.h - a file's bytes as read-only memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace salient {

/// Owns one read-only mapping. Moves, never copies. The file must not shrink meanwhile: reading past its end then kills
/// the process (SIGBUS), as it does for every program that maps files.
class MappedFile {
 public:
  /// @throws as open_to_read(); Error{kIo} with errno's text if it cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& name() const { return name_; }  ///< the path, for messages

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string name_;
};

}  // namespace salient
