// tests/store/index_permutation_test.cpp - a permutation and its inverse, spread evenly.
#include "store/index_permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace salient {
namespace {

TEST(IndexPermutation, GoesThereAndBackForEverySize) {
  for (const std::uint64_t size : {1U, 2U, 3U, 5U, 16U, 100U, 1000U, 4097U}) {
    const IndexPermutation permutation(size, {{3, 4}}, 5);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(permutation(i), size);
      ASSERT_EQ(permutation.inverse(permutation(i)), i);
      seen.insert(permutation(i));
    }
    EXPECT_EQ(seen.size(), size);
  }
  const IndexPermutation large(5'000'000'000, {{3, 4}}, 5);
  for (std::uint64_t i = 4'999'999'000; i < 5'000'000'000; ++i) ASSERT_EQ(large.inverse(large(i)), i);
}

// 64 x 64 cells of (block of i, block of its image): chi-square with 63 x 63 degrees of freedom, mean 3969, deviation
// 89; and the same for the images of neighbours, which must not stay neighbours. Keys are fixed: it cannot flake.
TEST(IndexPermutation, ScattersEvenly) {
  constexpr std::uint64_t kSize = 1 << 18, kCells = 64;
  const IndexPermutation permutation(kSize, {{1, 2}}, 3);
  std::vector<double> by_place(kCells * kCells), by_step(kCells * kCells);
  for (std::uint64_t i = 0; i < kSize; ++i) {
    const std::uint64_t image = permutation(i), next = permutation((i + 1) % kSize);
    by_place[i * kCells / kSize * kCells + image * kCells / kSize] += 1;
    by_step[image * kCells / kSize * kCells + next * kCells / kSize] += 1;
  }
  const double expected = static_cast<double>(kSize) / (kCells * kCells);
  for (const auto& cells : {by_place, by_step}) {
    double chi_square = 0;
    for (const double seen : cells) chi_square += (seen - expected) * (seen - expected) / expected;
    EXPECT_NEAR(chi_square, 3969, 5 * 89);
  }
}

}  // namespace
}  // namespace salient
