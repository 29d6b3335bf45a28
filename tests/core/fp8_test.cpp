// tests/core/fp8_test.cpp - fp8 conversion is exact one way, and rounds to nearest even the other.
#include "core/fp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace salient {
namespace {

constexpr std::uint8_t kLargest = 0x7E;

TEST(Fp8, NumbersAreThoseOfTheFormat) {
  for (int bits = 0; bits < 0x7F; ++bits) {
    const int exponent = bits >> 3, mantissa = bits & 7;
    const double value = exponent == 0 ? mantissa * std::ldexp(1, -9) : std::ldexp(1 + mantissa / 8.0, exponent - 7);
    ASSERT_EQ(fp8_to_float(static_cast<std::uint8_t>(bits)), value) << bits;
    ASSERT_EQ(fp8_to_float(static_cast<std::uint8_t>(bits | 0x80)), -value) << bits;
  }
  EXPECT_EQ(fp8_to_float(kLargest), kFp8Max);
  EXPECT_EQ(fp8_to_float(0x08), kFp8LeastNormal);
  EXPECT_TRUE(std::isnan(fp8_to_float(0x7F)) && std::isnan(fp8_to_float(0xFF)));
  EXPECT_TRUE(std::signbit(fp8_to_float(0x80)));
}

TEST(Fp8, EveryNumberSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto fp8 = static_cast<std::uint8_t>(bits);
    ASSERT_EQ(float_to_fp8(fp8_to_float(fp8)), fp8) << bits;
  }
}

TEST(Fp8, RoundsToTheNearestAndTiesToEven) {
  for (std::uint8_t bits = 0; bits < kLargest; ++bits) {
    const float low = fp8_to_float(bits), high = fp8_to_float(static_cast<std::uint8_t>(bits + 1)),
                tie = (low + high) / 2;
    const auto even = static_cast<std::uint8_t>(bits + bits % 2);
    ASSERT_EQ(float_to_fp8(tie), even) << tie;
    ASSERT_EQ(float_to_fp8(-tie), even | 0x80) << tie;
    ASSERT_EQ(float_to_fp8(std::nextafter(tie, 0.0F)), bits) << tie;
    ASSERT_EQ(float_to_fp8(std::nextafter(tie, 1e9F)), bits + 1) << tie;
  }
  EXPECT_EQ(float_to_fp8(1e-30F), 0);
  EXPECT_EQ(float_to_fp8(-1e-30F), 0x80);
}

TEST(Fp8, BeyondTheLargestStaysTheLargest) {
  for (const float value : {449.0F, 1e30F, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(float_to_fp8(value), kLargest);
    EXPECT_EQ(float_to_fp8(-value), kLargest | 0x80);
  }
  EXPECT_TRUE(is_fp8_nan(float_to_fp8(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Fp8, IsExactAsF16WithEveryScale) {
  std::vector<std::uint8_t> values;
  for (int bits = 0; bits < 256; ++bits)
    if (!is_fp8_nan(static_cast<std::uint8_t>(bits))) values.push_back(static_cast<std::uint8_t>(bits));
  int num_scales = 0;
  for (float scale = kLeastFp8Scale; scale <= kLargestFp8Scale; scale *= 2, ++num_scales) {
    ASSERT_TRUE(is_fp8_scale(scale));
    for (const std::size_t first : {0U, 1U, 7U}) {  // any alignment, and rests of any length
      std::vector<std::uint16_t> halves(values.size() - first);
      fp8_to_halves(values.data() + first, halves.size(), scale, halves.data());
      for (std::size_t i = 0; i < halves.size(); ++i) {
        ASSERT_EQ(half_to_float(halves[i]), fp8_to_float(values[first + i]) * scale) << int{values[first + i]};
        ASSERT_EQ(halves[i] >> 15, values[first + i] >> 7) << "also the sign of zero";
      }
    }
  }
  EXPECT_EQ(num_scales, 23);
  for (const float scale : {0.0F, 0x1p-16F, 0x1p8F, 0.75F, -1.0F, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_FALSE(is_fp8_scale(scale)) << scale;
}

}  // namespace
}  // namespace salient
