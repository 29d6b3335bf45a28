// store/part_files.cpp - see part_files.h.
#include "store/part_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/host/machine.h"
#include "store/part_rows_file.h"
#include "store/store_arrays.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// As to_hex() writes it; parts.json may hold anything.
bool is_checksum(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

fs::path finished_part_file(const fs::path& directory, const std::string& name, const std::string& checksum) {
  return directory / (name + "." + checksum);
}

/// The plain name of a file of parts; empty for other files.
std::string plain_name(const std::string& file) {
  constexpr std::string_view kEnd = ".npy";
  const std::size_t end = file.find(kEnd);
  if (end == std::string::npos) return {};
  std::string name = file.substr(0, end + kEnd.size());
  const bool is_whole = name.size() == file.size() || file[name.size()] == '.';
  return is_whole && (name == kOwnerArray.file || is_part_rows_file(name)) ? name : std::string();
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_with_errno(to, "rename a file to this name");
}

void remove_or_fail(const fs::path& path) {
  if (std::error_code error; !fs::remove(path, error) && error)
    fail(ErrorKind::kIo, path.string() + ": cannot remove: " + error.message());
}

}  // namespace

fs::path part_file(const fs::path& directory, const std::string& name, const std::string& checksum) {
  const fs::path finished = finished_part_file(directory, name, checksum);
  return is_checksum(checksum) && is_there(finished) ? finished : directory / name;
}

fs::path unfinished_part_file(const fs::path& directory, const std::string& name) {
  return directory / (name + ".tmp-" + host_name() + "-" + std::to_string(getpid()));
}

void finish_part_file(const fs::path& directory, const std::string& name, const std::string& checksum) {
  rename_or_fail(unfinished_part_file(directory, name), finished_part_file(directory, name, checksum));
}

void settle_part_files(const fs::path& directory, const Checksums& named) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (!plain_name(entry.path().filename().string()).empty()) found.push_back(entry.path());
  std::ranges::sort(found, std::greater<>());  // FILE.CHECKSUM before FILE
  for (const fs::path& path : found) {
    const std::string file = path.filename().string(), name = plain_name(file);
    const auto wanted = named.find(name);
    if (wanted != named.end() && file == name + "." + wanted->second)
      rename_or_fail(path, directory / name);
    else if (file != name || (wanted == named.end() && !named.empty()))
      remove_or_fail(path);
  }
}

}  // namespace salient
