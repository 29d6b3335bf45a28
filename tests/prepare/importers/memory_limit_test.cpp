// tests/prepare/importers/memory_limit_test.cpp - what is refused, and how many threads a limit leaves.
#include "prepare/importers/memory_limit.h"

#include <gtest/gtest.h>

#include "core/host/machine.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::uint64_t kMB = 1'000'000;

TEST(MemoryLimit, CountsWhatIsResident) {
  const auto now = static_cast<std::uint64_t>(resident_bytes());
  const MemoryLimit limit(now + 100 * kMB);
  EXPECT_NO_THROW(limit.check(50 * kMB, "a table"));
  EXPECT_COMPLAINT(limit.check(100 * kMB, "a table"), ErrorKind::kHostMemory, "a table: needs 0.");
  EXPECT_NO_THROW(MemoryLimit().check(UINT64_MAX / 2, "no limit"));
}

TEST(MemoryLimit, LeavesAsManyParsersAsItsQuarterHolds) {
  EXPECT_EQ(MemoryLimit().num_parsers(64), 64);
  EXPECT_EQ(MemoryLimit().num_parsers(0), 0);
  EXPECT_EQ(MemoryLimit(1000 * kMB).num_parsers(64), 9);
  EXPECT_EQ(MemoryLimit(1000 * kMB).num_parsers(4), 4);
  EXPECT_EQ(MemoryLimit(30 * kMB).num_parsers(4), 1);
  EXPECT_EQ(MemoryLimit(30 * kMB).num_parsers(0), 1);
}

}  // namespace
}  // namespace salient
