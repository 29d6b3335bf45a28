// core/files/mapped_file.cpp - see mapped_file.h.
#include "core/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/files/file_io.h"

namespace salient {

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_open(path);
  struct stat status {};
  bool ok = fstat(descriptor, &status) == 0;
  if (ok && !S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : ENODEV;
    ok = false;
  }
  size_ = ok ? static_cast<std::size_t>(status.st_size) : 0;
  if (size_ > 0) {  // an empty file cannot be mapped, and need not be
    void* memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    ok = memory != MAP_FAILED;
    if (ok) data_ = static_cast<const std::byte*>(memory);
  }
  const int code = errno;
  (void)close(descriptor);
  errno = code;
  if (!ok) fail_with_errno(path, "read");
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
