// tests/sampler/draw_lanes_test.cpp - eight destinations at a time have the draws of one by one.
#include "sampler/draw_lanes.h"

#include <gtest/gtest.h>

namespace salient {
namespace {

constexpr BatchKey kKey{.seed = 7, .epoch = 3, .batch = 11};

TEST(DrawLanes, AreTheDrawsOfEightDestinations) {
  const NodeId dst[DrawLanes::kLanes] = {0, 1, 99, 0xFFFFFFFE, 7, 7, 1u << 31, 12345};
  DrawLanes lanes;
  for (const std::uint32_t num_draws : {1u, 5u, 15u, 64u, 100u}) {
    lanes.fill(kKey, 3, dst, num_draws);
    for (std::size_t lane = 0; lane < DrawLanes::kLanes; ++lane)
      for (std::uint32_t d = 0; d < num_draws; ++d)
        for (const std::uint32_t bound : {1u, 2u, 29u, 100'000u, 3u << 30}) {  // the last: a quarter is rejected
          Draws one_by_one(kKey, 3, dst[lane]), expected(kKey, 3, dst[lane]);
          ASSERT_EQ(lanes.below(lane, d, bound, one_by_one), expected.below(d, bound)) << lane << ' ' << d;
        }
  }
}

TEST(DrawLanes, HaveTheSharedNumbersOfEightNeighbours) {
  const NodeId neighbors[DrawLanes::kLanes] = {0, 1, 99, 0xFFFFFFFE, 7, 7, 1u << 31, 12345};
  std::uint32_t numbers[DrawLanes::kLanes];
  DrawLanes::shared_numbers(kKey, 3, neighbors, numbers);
  for (std::size_t lane = 0; lane < DrawLanes::kLanes; ++lane)
    EXPECT_EQ(numbers[lane], shared_number(kKey, 3, neighbors[lane])) << lane;
}

}  // namespace
}  // namespace salient
