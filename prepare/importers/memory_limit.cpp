// prepare/importers/memory_limit.cpp - see memory_limit.h.
#include "prepare/importers/memory_limit.h"

#include "core/error.h"
#include "core/host/machine.h"
#include "core/number_text.h"

namespace salient {

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
