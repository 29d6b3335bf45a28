// tests/core/memory_size_test.cpp - no amount that is allowed becomes 0 bytes, or more than an integer holds.
#include "core/memory_size.h"

#include <gtest/gtest.h>

#include <limits>

namespace salient {
namespace {

TEST(MemorySize, IsZeroOrAtLeastAByte) {
  EXPECT_TRUE(are_gigabytes(0));
  EXPECT_EQ(bytes_of(0), 0);
  for (const double gb : {1e-9, 1.4e-9, 0.06, 3.5, 1e6}) {
    EXPECT_TRUE(are_gigabytes(gb)) << gb;
    EXPECT_GE(bytes_of(gb), 1) << gb;
  }
  EXPECT_EQ(bytes_of(4.1), 4'100'000'000) << "not a byte less, as 4.1 is in binary";
  EXPECT_EQ(bytes_of(1e6), 1'000'000'000'000'000);
  for (const double gb : {-1.0, -1e-300, 1e-300, 9.99e-10, 1.1e6, std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(are_gigabytes(gb)) << gb;
}

}  // namespace
}  // namespace salient
