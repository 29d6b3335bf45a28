// prepare/importers/memory_limit.cpp - see memory_limit.h.
#include "prepare/importers/memory_limit.h"

#include <algorithm>

#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"

namespace salient {

int MemoryLimit::num_parsers(int num_threads) const {
  constexpr std::uint64_t kParser = std::uint64_t{24}
                                    << 20;  // two blocks of lines, and their numbers in growing arrays
  if (bytes_ == 0) return num_threads;
  const std::uint64_t wanted = static_cast<std::uint64_t>(num_threads > 0 ? num_threads : num_usable_cores());
  return static_cast<int>(std::clamp<std::uint64_t>(bytes_ / 4 / kParser, 1, wanted));
}

void MemoryLimit::check(std::uint64_t more, const std::string& what) const {
  constexpr std::uint64_t kBlocks = std::uint64_t{12} << 20;  // of readers and writers, and rounding to huge pages
  if (bytes_ == 0) return;
  const std::uint64_t needed = static_cast<std::uint64_t>(resident_bytes()) + more + kBlocks;
  if (needed > bytes_)
    fail(ErrorKind::kHostMemory,
         what + ": needs " + gigabytes_needed(needed) + " of memory, " + gigabytes(bytes_) + " are allowed",
         Topic::kPrepareMemory);
}

}  // namespace salient
