// tests/sampler/race_test.cpp - how long an entry races: exact to a few units, and the same by vectors.
#include "sampler/race.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sampler/race_choice.h"

namespace salient {
namespace {

/// In units of the last place of the exact value.
double error_of(std::uint32_t x) {
  const double exact = -std::log1p(-(x + 0.5) * 0x1p-32);
  const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
  return std::abs(double{race_length(x)} - exact) / unit;
}

TEST(RaceLength, IsTheLogarithmToFourUnits) {
  constexpr std::uint32_t kStep = 421;  // 10^7 words
  double most = 0;
  for (std::uint64_t x = 0; x < std::uint64_t{1} << 32; x += kStep)
    most = std::max(most, error_of(static_cast<std::uint32_t>(x)));
  constexpr std::uint32_t kMiddle = 1U << 31;
  for (const std::uint32_t edge : {0U, kMiddle, 0xFFFFFFFFU - 2000U})
    for (std::uint32_t i = 0; i < 2000; ++i) most = std::max({most, error_of(edge + i), error_of(edge - 1000 + i)});
  EXPECT_LT(most, 4);
  EXPECT_GT(most, 0.5) << "the test sees errors";
}

TEST(RaceLength, IsAboveZeroAndFinite) {
  EXPECT_FLOAT_EQ(race_length(0), 0x1p-33F);
  EXPECT_FLOAT_EQ(race_length(0xFFFFFFFF), 33 * std::log(2.F));
  EXPECT_FLOAT_EQ(race_length(0x7FFFFFFF), std::log(2.F));
  EXPECT_FLOAT_EQ(race_length(0x80000000), std::log(2.F));
}

/// Written to be read: the places that finish first, in ascending order.
std::vector<NodeId> winners(const std::vector<float>& weights, std::uint32_t begin, std::uint32_t count, BatchKey key) {
  std::vector<std::pair<float, NodeId>> finishes;
  for (std::uint32_t place = begin; place < weights.size(); ++place)
    if (weights[place] > 0) finishes.emplace_back(race_length(race_word(key, 3, 77, place)) / weights[place], place);
  std::sort(finishes.begin(), finishes.end());
  std::vector<NodeId> places;
  for (std::uint32_t i = 0; i < count; ++i) places.push_back(finishes[i].second);
  std::sort(places.begin(), places.end());
  return places;
}

// Every length and begin of a row that begins or ends inside a chunk of 32, and a long one, bit for bit.
TEST(RaceChoice, KeepsTheFirstToFinish) {
  RaceChoice choice;
  for (const std::uint32_t size : {1U, 5U, 31U, 32U, 33U, 64U, 100U, 5000U}) {
    std::vector<float> weights;
    std::vector<NodeId> row;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t word = philox4x32({{1, 1}}, {{i, size, 0, 0}}).word[0];
      weights.push_back(word % 5 == 0 ? 0.F : std::ldexp(1.F, static_cast<int>(word % 9)) + static_cast<float>(i % 7));
      row.push_back(i);
    }
    for (const std::uint32_t begin : {0U, 1U, 4U, 30U, 37U}) {
      if (begin >= size) continue;
      const std::uint32_t drawable = num_drawable(std::span(weights).subspan(begin), 0xFFFFFFFF);
      for (const std::uint32_t count : {1U, 2U, 15U, 40U, 1000U}) {
        const std::uint32_t kept = std::min(count, drawable);
        EXPECT_EQ(num_drawable(std::span(weights).subspan(begin), count), kept);
        if (kept == 0) continue;
        const BatchKey key{.seed = size, .epoch = begin, .batch = count};
        std::vector<const NodeId*> picked(kept);
        choice.pick({row.data(), weights.data(), begin, size}, kept, {key, 3, 77}, picked.data());
        std::vector<NodeId> found;
        for (const NodeId* entry : picked) found.push_back(*entry);
        ASSERT_EQ(found, winners(weights, begin, kept, key)) << size << " from " << begin << " keeps " << kept;
      }
    }
  }
}

TEST(RaceChoice, WeightsOfTheWholeRangeRace) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min(), kMost = std::numeric_limits<float>::max();
  const std::vector<float> weights{0.F, -0.F, kLeast, 1e-30F, 0.F, 1e30F, kMost};
  const std::vector<NodeId> row{0, 1, 2, 3, 4, 5, 6};
  RaceChoice choice;
  std::vector<const NodeId*> picked(4);
  for (std::uint32_t batch = 0; batch < 1000; ++batch) {
    choice.pick({row.data(), weights.data(), 0, 7}, 4, {{1, 1, batch}, 0, 9}, picked.data());
    EXPECT_EQ(std::vector<NodeId>({*picked[0], *picked[1], *picked[2], *picked[3]}), (std::vector<NodeId>{2, 3, 5, 6}));
    choice.pick({row.data(), weights.data(), 0, 7}, 1, {{1, 1, batch}, 0, 9}, picked.data());
    EXPECT_GE(*picked[0], 5U) << "1e-30 never beats 1e30";
  }
}

}  // namespace
}  // namespace salient
