// tests/models/kernels/dropout_test.cpp - the mask is the stated function, equal to its reference, and uniform.
#include "models/kernels/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/hops.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::random_values;

std::vector<std::uint32_t> node_ids(std::int64_t rows) {
  std::vector<std::uint32_t> nodes(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<std::uint32_t>(i * 2654435761u);
  return nodes;
}

std::vector<float> dropped(const DropoutMask& mask, Activation activation, const std::vector<float>& x,
                           const std::vector<std::uint32_t>& nodes) {
  std::vector<float> out(x.size(), std::numeric_limits<float>::quiet_NaN());
  const auto rows = static_cast<std::int64_t>(nodes.size());
  const std::int64_t columns = rows == 0 ? 0 : static_cast<std::int64_t>(x.size()) / rows;
  dropout(mask, activation, {x.data(), nodes.data(), rows, columns}, {out.data()});
  return out;
}

TEST(Dropout, EqualsTheReference) {
  for (const std::int64_t rows : {0, 1, 5, 700})
    for (const std::int64_t columns : {0, 1, 7, 8, 9, 63, 64, 65, 100, 127, 129, 256, 300})
      for (const double p : {0.0, 0.1, 0.5, 1.0})
        for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
          const std::vector<float> x = random_values(rows * columns, 1);
          const auto nodes = node_ids(rows);
          const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
          std::vector<float> expected(x.size());
          dropout_reference(mask, activation, {x.data(), nodes.data(), rows, columns}, {expected.data()});
          ASSERT_EQ(dropped(mask, activation, x, nodes), expected) << rows << " x " << columns << ", p = " << p;
        }
}

TEST(Dropout, DrawsWhatTheHeaderSays) {
  const std::uint32_t node = 12345;
  for (const double p : {0.25, 0.5}) {
    const DropoutMask mask = DropoutMask::make(p, 3, 17, 2);
    for (std::uint32_t column = 0; column < 300; ++column) {
      const bool is_half = p == 0.5;
      const std::uint32_t block = is_half ? column / 128 : column / 8, tag = is_half ? 0x48414C46 : 0x44524F50;
      const PhiloxBlock draws = philox4x32({{3, 17}}, {{node, block, 2, tag}});
      const bool expected = is_half ? (draws.word[column % 128 / 32] >> column % 32 & 1) != 0
                                    : (draws.word[column % 8 / 2] >> column % 2 * 16 & 0xFFFF) >= 0x4000;
      ASSERT_EQ(is_kept(mask, node, column), expected) << p << ", " << column;
    }
  }
}

TEST(Dropout, TellsWhichValuesArePositive) {
  for (const std::int64_t columns : {1, 7, 8, 9, 64, 100})
    for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
      constexpr std::int64_t kRows = 33;
      const std::int64_t eights = (columns + 7) / 8;
      const std::vector<float> x = random_values(kRows * columns, 1);
      const auto nodes = node_ids(kRows);
      const NodeRows in{x.data(), nodes.data(), kRows, columns};
      const DropoutMask mask = DropoutMask::make(0.3, 3, 17, 2);
      std::vector<float> out(x.size());
      std::vector<std::uint8_t> bits(static_cast<std::size_t>(kRows * eights), 0xA5), expected(bits);
      dropout(mask, activation, in, {out.data(), bits.data()});
      dropout_reference(mask, activation, in, {out.data(), expected.data()});
      EXPECT_EQ(bits, expected) << columns;
      for (std::int64_t i = 0; i < kRows * columns; ++i) {
        const std::int64_t row = i / columns, c = i % columns;
        const bool is_set = (bits[static_cast<std::size_t>(row * eights + c / 8)] >> (c % 8) & 1) != 0;
        ASSERT_EQ(is_set, out[static_cast<std::size_t>(i)] > 0) << row << ", " << c;
      }
    }
}

TEST(Dropout, KeepsTheStatedShareAndTheMean) {
  constexpr std::int64_t kRows = 4000, kColumns = 100;
  const std::vector<float> ones(kRows * kColumns, 1.0f);
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto out = dropped(DropoutMask::make(p, 1, 2, 3), Activation::kNone, ones, node_ids(kRows));
    const double mean = std::accumulate(out.begin(), out.end(), 0.0) / static_cast<double>(out.size());
    const double deviation = std::sqrt(p / (1 - p) / static_cast<double>(out.size()));  // of the mean of a fair mask
    EXPECT_NEAR(mean, 1, 4 * deviation) << p;
  }
}

TEST(Dropout, MaskOfANodeDoesNotDependOnItsRowOrItsBatch) {
  const std::vector<float> ones(20 * 40, 1.0f);
  const auto nodes = node_ids(20);
  const std::vector<std::uint32_t> reversed(nodes.rbegin(), nodes.rend());
  const DropoutMask mask = DropoutMask::make(0.5, 1, 2, 3);
  const auto a = dropped(mask, Activation::kNone, ones, nodes), b = dropped(mask, Activation::kNone, ones, reversed);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_TRUE(std::equal(a.begin() + static_cast<long>(40 * i), a.begin() + static_cast<long>(40 * i + 40),
                           b.begin() + static_cast<long>(40 * (19 - i))));
}

TEST(Dropout, SeedStepAndLayerGiveOtherMasks) {
  const std::vector<float> ones(10 * 100, 1.0f);
  const auto mask_of = [&](std::uint32_t seed, std::uint32_t step, std::uint32_t layer) {
    return dropped(DropoutMask::make(0.5, seed, step, layer), Activation::kNone, ones, node_ids(10));
  };
  EXPECT_EQ(mask_of(1, 1, 1), mask_of(1, 1, 1));
  EXPECT_NE(mask_of(2, 1, 1), mask_of(1, 1, 1));
  EXPECT_NE(mask_of(1, 2, 1), mask_of(1, 1, 1));
  EXPECT_NE(mask_of(1, 1, 2), mask_of(1, 1, 1));
}

TEST(Dropout, DoesNotDependOnTheNumberOfThreads) {
  const auto x = random_values(3000 * 65, 4);
  const auto nodes = node_ids(3000);
  const DropoutMask mask = DropoutMask::make(0.3, 1, 2, 3);
  std::vector<float> first;
  for (const int threads : {1, 2, 4}) {
    std::vector<float> out;
    test::with_threads(threads, [&] { out = dropped(mask, Activation::kRelu, x, nodes); });
    if (threads == 1) first = out;
    EXPECT_EQ(out, first);
  }
}

TEST(ScaleWherePositive, IsTheGradientOfReluDropout) {
  const std::vector<std::uint8_t> bits{0b1010, 0b0001};
  const std::vector<float> grad{1, 3, 5, 7, 2, 4, 6, 8};
  std::vector<float> result(8);
  scale_where_positive({bits.data(), 2, 4}, grad.data(), 2, result.data());
  EXPECT_EQ(result, (std::vector<float>{0, 6, 0, 14, 4, 0, 0, 0}));
}

}  // namespace
}  // namespace salient
