// core/files/is_there.cpp - see is_there.h.
#include "core/files/is_there.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "core/files/file_io.h"

namespace salient {

bool is_there(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) fail_with_errno(path, "open");
  return false;
}

std::string text_if_there(const std::filesystem::path& path) {
  return is_there(path) ? read_text_file(path, std::uint64_t{4} << 30) : "";
}

}  // namespace salient
