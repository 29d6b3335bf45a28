// core/files/open_to_read.cpp - see open_to_read.h.
#include "core/files/open_to_read.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {
namespace {

/// Of no file. @throws Error{kBadData}, always
[[noreturn]] void refuse(const std::filesystem::path& path, mode_t mode) {
  const char* const kind = S_ISDIR(mode)    ? "a folder, not a file"
                           : S_ISFIFO(mode) ? "a pipe, not a file; write what it gives to a file, and name that"
                           : S_ISSOCK(mode) ? "a socket, not a file"
                                            : "a device, not a file";
  fail(ErrorKind::kBadData, path.string() + ": is " + kind);
}

}  // namespace

FileToRead open_to_read(const std::filesystem::path& path) {
  struct stat status {};  // before it is opened, too, which does things to some devices
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) refuse(path, status.st_mode);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) fail_to_open(path);
  if (fstat(file.get(), &status) != 0) fail_with_errno(path, "read");
  if (!S_ISREG(status.st_mode)) refuse(path, status.st_mode);
  return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

void refuse_pipe(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) refuse(path, status.st_mode);
}

}  // namespace salient
