// tests/sampler/draws_test.cpp - the draws that every sampler must agree on.
#include "sampler/draws.h"

#include <gtest/gtest.h>

namespace salient {
namespace {

constexpr BatchKey kKey{.seed = 7, .epoch = 3, .batch = 11};

std::uint32_t word(std::uint32_t dst, std::uint32_t hop, std::uint32_t block, int at) {
  return philox4x32({{7, 3}}, {{dst, hop, 11, block}}).word[at];
}

TEST(Draws, AreTheDocumentedWordsScaledToTheBound) {
  Draws draws(kKey, 2, 99);
  for (const std::uint32_t d : {0u, 1u, 2u, 3u, 4u, 9u, 2u, 5u})  // also out of order
    EXPECT_EQ(draws.below(d, 1000), (std::uint64_t{word(99, 2, d / 4, static_cast<int>(d % 4))} * 1000) >> 32);
}

TEST(Draws, AnyOfThemMayBeTheFirst) {
  for (const std::uint32_t d : {0u, 1u, 2u, 3u, 4u, 7u})
    EXPECT_EQ(Draws(kKey, 2, 99).below(d, 1000),
              (std::uint64_t{word(99, 2, d / 4, static_cast<int>(d % 4))} * 1000) >> 32);
}

// With bound 3 * 2^30, a quarter of all words is rejected; what remains must fill each third of the range equally.
TEST(Draws, RejectionKeepsThemUniform) {
  constexpr std::uint32_t kBound = 3u << 30, kDraws = 30'000;
  const auto expected = [](std::uint32_t dst) {
    std::uint64_t product = 0;
    for (std::uint32_t block = 0; static_cast<std::uint32_t>(product) < 1u << 30; block += 1u << 16)
      product = std::uint64_t{word(dst, 0, block, 0)} * kBound;
    return product >> 32;
  };
  double count[3] = {};
  for (std::uint32_t dst = 0; dst < kDraws; ++dst) {
    const std::uint32_t draw = Draws(kKey, 0, dst).below(0, kBound);
    ASSERT_EQ(draw, expected(dst));
    count[draw >> 30] += 1;
  }
  double chi_square = 0;
  for (const double n : count) chi_square += (n - kDraws / 3.0) * (n - kDraws / 3.0) / (kDraws / 3.0);
  EXPECT_LT(chi_square, 13.82);  // 99.9th percentile for 2 degrees of freedom; fixed keys, so no flakes
}

}  // namespace
}  // namespace salient
