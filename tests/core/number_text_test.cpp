// tests/core/number_text_test.cpp - numbers as people read them.
#include "core/number_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace salient {
namespace {

TEST(NumberText, FixedHasThatManyDecimals) {
  EXPECT_EQ(fixed(0.83124, 4), "0.8312");
  EXPECT_EQ(fixed(-2, 0), "-2");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 2), "nan");
  EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 2).size(), 312U);
}

TEST(NumberText, GigabytesAreDecimalAndRounded) {
  EXPECT_EQ(gigabytes(std::int64_t{1'254'000'000}), "1.25 GB");
  EXPECT_EQ(gigabytes(std::uint64_t{28'431'349'736}, 1), "28.4 GB");
  EXPECT_EQ(gigabytes(0), "0.00 GB");
}

TEST(NumberText, WhatIsNeededIsRoundedUp) {
  EXPECT_EQ(gigabytes_needed(std::uint64_t{1'250'000'001}), "1.26 GB");
  EXPECT_EQ(gigabytes_needed(std::int64_t{1'250'000'000}), "1.25 GB");
  EXPECT_EQ(gigabytes_needed(1), "0.01 GB");
}

}  // namespace
}  // namespace salient
