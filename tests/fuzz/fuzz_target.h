// tests/fuzz/fuzz_target.h - what a fuzz target consists of: one function to run, and inputs to start from.
//
// A target is built twice. The replay, part of ctest, runs the seeds and every neighbour of them: all prefixes, all
// single-byte changes of a few kinds. With -DSALIENT_FUZZ=ON (clang) libFuzzer searches without end; see
// tests/fuzz/CMakeLists.txt.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

/// Runs the code under test. Bad input may end in Error{kBadData}, which the target catches; everything else is a
/// finding: any other exception, a crash, a broken claim.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace salient::fuzz {

/// Sound inputs of this target, small.
std::vector<std::string> seeds();

inline void claim(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken claim: %s\n", what);
  std::abort();
}

/// Runs `action`; false when it ended in Error{kBadData} with a message of one line.
template <class Action>
bool succeeds(Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    claim(error.kind() == ErrorKind::kBadData, "bad input is kBadData");
    claim(std::string_view(error.what()).find('\n') == std::string_view::npos, "a message is one line");
    return false;
  }
}

/// A file in memory, for code that opens paths.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    claim(descriptor_ >= 0 && ::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "memory files can be made");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace salient::fuzz
