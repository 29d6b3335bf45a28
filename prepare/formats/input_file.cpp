// prepare/formats/input_file.cpp - see input_file.h.
#include "prepare/formats/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {

InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // a pipe would wait for its writer
  if (!file_) fail_to_open(path_);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_with_errno(path_, "read");
  if (!S_ISREG(status.st_mode)) fail(ErrorKind::kNoInput, path_.string() + ": is not a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = ::pread(file_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path_, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace salient
