// tests/core/philox_test.cpp - known answers, so that host, device and later versions keep producing the same runs.
#include "core/philox.h"

#include <gtest/gtest.h>

namespace salient {
namespace {

// The three philox4x32-10 vectors published with Random123 (Salmon et al., SC 2011): zeros, ones, digits of pi.
TEST(Philox, MatchesThePublishedVectors) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({{0, 0}}, {{0, 0, 0, 0}}), (PhiloxBlock{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  EXPECT_EQ(philox4x32({{kOnes, kOnes}}, {{kOnes, kOnes, kOnes, kOnes}}),
            (PhiloxBlock{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  EXPECT_EQ(philox4x32({{0xa4093822, 0x299f31d0}}, {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}),
            (PhiloxBlock{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

}  // namespace
}  // namespace salient
