// tests/core/files/value_rules_test.cpp - ids, classes and masks of every type of numbers, at the ends of each.
#include "core/files/value_rules.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

template <class T>
NpyHeader header_of(char kind) {
  return {.kind = kind, .item_bytes = sizeof(T), .shape = {2}};
}

/// The ids of two values; the first position is 10.
template <class T>
std::vector<std::uint64_t> ids(char kind, std::array<T, 2> values) {
  std::vector<std::uint64_t> out(2);
  convert_to_ids(header_of<T>(kind), reinterpret_cast<const std::byte*>(values.data()), 2, 10, "e.npy", out.data());
  return out;
}

using Ids = std::vector<std::uint64_t>;

TEST(Ids, OfIntegersAreThemselves) {
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63) + 11;
  EXPECT_EQ(ids<std::uint64_t>('u', {kLarge, ~std::uint64_t{0}}), (Ids{kLarge, ~std::uint64_t{0}}));
  EXPECT_EQ(ids<std::int64_t>('i', {0, INT64_MAX}), (Ids{0, INT64_MAX}));
  EXPECT_EQ(ids<std::uint8_t>('u', {0, 255}), (Ids{0, 255}));
  EXPECT_COMPLAINT(ids<std::int64_t>('i', {5, -9}), 65, "e.npy: item 11 is -9, which is negative");
  EXPECT_COMPLAINT(ids<std::int8_t>('i', {-128, 3}), 65, "e.npy: item 10 is -128, which is negative");
  EXPECT_COMPLAINT(ids<std::uint8_t>('b', {0, 1}), 65, "e.npy: holds bools");
}

TEST(Ids, OfFloatsAreTakenWhileTheyAreExact) {
  EXPECT_EQ(ids<float>('f', {0, 16777215}), (Ids{0, 16777215}));
  EXPECT_COMPLAINT(ids<float>('f', {0, 16777216}), 65,
                   "item 11 is 16777216, and float32 skips whole numbers from 2^24");
  EXPECT_EQ(ids<double>('f', {-0.0, 9007199254740991}), (Ids{0, 9007199254740991}));
  EXPECT_COMPLAINT(ids<double>('f', {0, 9007199254740992}), 65, "and float64 skips whole numbers from 2^53");
  EXPECT_EQ(ids<std::uint16_t>('f', {0x67FF, 0x3C00}), (Ids{2047, 1}));
  EXPECT_COMPLAINT(ids<std::uint16_t>('f', {0x6800, 0}), 65, "item 10 is 2048, and float16 skips whole numbers");
  EXPECT_COMPLAINT(ids<double>('f', {1.5, 0}), 65, "item 10 is 1.5, which is no whole number");
  EXPECT_COMPLAINT(ids<float>('f', {0.1F, 0}), 65, "item 10 is 0.1, which is no whole number");
  EXPECT_COMPLAINT(ids<double>('f', {0, -2}), 65, "item 11 is -2, which is negative");
  EXPECT_COMPLAINT(ids<double>('f', {kNan, 0}), 65, "is nan, which is no whole number");
  EXPECT_COMPLAINT(ids<double>('f', {kInfinity, 0}), 65, "is inf, which is no whole number");
}

TEST(Labels, AreWholeNumbersOrNone) {
  std::int32_t label = 7;
  for (const double none : {-1.0, kNan}) EXPECT_TRUE(label_from(none, label) == nullptr && label == -1);
  EXPECT_TRUE(label_from(1.0, label) == nullptr && label == 1);
  EXPECT_TRUE(label_from(kLabelLimit - 1, label) == nullptr && label == kLabelLimit - 1);
  for (const double bad : {1.5, -100.0, -0.5, double{kLabelLimit}, kInfinity, -kInfinity})
    EXPECT_NE(label_from(bad, label), nullptr) << bad;
  std::int8_t flag = 7;
  for (const double none : {-1.0, kNan}) EXPECT_TRUE(flag_from(none, flag) == nullptr && flag == -1);
  EXPECT_TRUE(flag_from(1, flag) == nullptr && flag == 1);
  for (const double bad : {2.0, 0.5, -2.0, kInfinity}) EXPECT_NE(flag_from(bad, flag), nullptr) << bad;
  bool is_in = false;
  EXPECT_TRUE(mask_of(1, is_in) == nullptr && is_in);
  EXPECT_TRUE(mask_of(0, is_in) == nullptr && !is_in);
  for (const std::int64_t bad : {2, 255, -1}) EXPECT_NE(mask_of(bad, is_in), nullptr) << bad;
}

TEST(Ids, BehindTheLastHaveAHint) {
  EXPECT_EQ(no_node(7, 5), "the graph has nodes 0 to 4");
  EXPECT_EQ(no_node(5, 5), "the graph has nodes 0 to 4, which count from 0; do the ids count from 1?");
}

}  // namespace
}  // namespace salient
