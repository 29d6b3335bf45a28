// core/files/mapped_file.cpp - see mapped_file.h.
#include "core/files/mapped_file.h"

#include <sys/mman.h>

#include <utility>

#include "core/files/file_io.h"
#include "core/files/open_to_read.h"

namespace salient {

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const FileToRead opened = open_to_read(path);
  size_ = static_cast<std::size_t>(opened.bytes);
  if (size_ == 0) return;  // an empty file cannot be mapped, and need not be
  void* const memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, opened.file.get(), 0);
  if (memory == MAP_FAILED) fail_with_errno(path, "read");
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) (void)munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), name_(std::move(other.name_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(name_, other.name_);
  return *this;
}

}  // namespace salient
