// tests/support/real_data.h - where the real graphs are that are too big, or not ours, to be committed.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace salient::test {

inline constexpr const char* kNoRealData = "no real graphs: set SALIENT_TEST_DATA, or have them in ../shared/data";

/// SALIENT_TEST_DATA, else the nearest shared/data beside a folder above the working directory (tests run inside the
/// build tree); empty when there is none.
inline std::filesystem::path real_data_or_empty() {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv("SALIENT_TEST_DATA"))  // NOLINT(concurrency-mt-unsafe): no thread sets it
    return fs::is_directory(set) ? fs::path(set) : fs::path();
  for (fs::path folder = fs::current_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::is_directory(folder.parent_path() / "shared/data")) return folder.parent_path() / "shared/data";
  return {};
}

}  // namespace salient::test
