// tests/core/half_test.cpp - f16 conversion is exact one way, and rounds to nearest even the other.
#include "core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace salient {
namespace {

bool is_nan(std::uint16_t half) { return (half & 0x7C00) == 0x7C00 && (half & 0x3FF) != 0; }

TEST(Half, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(half_to_float_reference(half))) << bits;
    ASSERT_EQ(float_to_half(value), is_nan(half) ? half | 0x200 : half);
  }
}

TEST(Half, RoundingEqualsTheReferenceAroundEveryHalf) {
  std::vector<float> values{0.0F,
                            -0.0F,
                            65519.99F,
                            65520.0F,
                            1e30F,
                            -1e30F,
                            1e-30F,
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {  // the tie above each half, and its two neighbours
    const float low = half_to_float(static_cast<std::uint16_t>(bits));
    const float tie = bits + 1 < 0x7C00 ? (low + half_to_float(static_cast<std::uint16_t>(bits + 1))) / 2 : 65520.0F;
    for (const float value : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 1e9F), -tie}) values.push_back(value);
  }
  std::vector<std::uint16_t> halves(values.size());
  floats_to_halves(values.data(), values.size(), halves.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(halves[i], float_to_half_reference(values[i])) << values[i];
    ASSERT_EQ(halves[i], float_to_half(values[i])) << values[i];
  }
}

static_assert(float_to_half_reference(kHalfMax) == 0x7BFF && float_to_half_reference(65520.0F) == 0x7C00);
static_assert(float_to_half_reference(1.0F + 0x1p-11F) == 0x3C00, "a tie goes to even");
static_assert(float_to_half_reference(1.0F + 0x3p-11F) == 0x3C02, "a tie goes to even");

}  // namespace
}  // namespace salient
