// core/files/mapped_file.cpp - see mapped_file.h.
#include "core/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/files/file_io.h"
#include "core/host/descriptor.h"

namespace salient {

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait for its writer
  if (!file) fail_to_open(path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail_with_errno(path, "read");
  if (!S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : ENODEV;
    fail_with_errno(path, "read");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // an empty file cannot be mapped, and need not be
  void* const memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
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
