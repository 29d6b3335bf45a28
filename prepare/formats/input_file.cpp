// prepare/formats/input_file.cpp - open, pread and their complaints
#include "prepare/formats/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace salient {

namespace {

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const char* what, int error) {
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  fail(is_missing ? ErrorKind::kNoInput : ErrorKind::kIo,
       path.string() + ": " + what + ": " + std::generic_category().message(error));
}

}  // namespace

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno(path_, "cannot be opened", errno);
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);  // a throwing constructor has no destructor
  if (error != 0) fail_with_errno(path_, "cannot be examined", error);
  fail(ErrorKind::kNoInput, path_.string() + ": is not a regular file");
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path_, "read failed", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace salient
