// tests/models/kernels/segment_test.cpp - neighbour sums equal their references bit for bit, for any width.
#include "models/kernels/segment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/kernels/simd.h"
#include "tests/support/hops.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::OwnedHop;
using test::random_hop;
using test::random_values;

constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();  // shows what was not written

std::vector<Half> to_half(const std::vector<float>& values) {
  std::vector<Half> halves(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) halves[i].bits = float_to_half(values[i]);
  return halves;
}

std::vector<OwnedHop> hops() {
  std::vector<OwnedHop> all{OwnedHop{0, 0}, OwnedHop{0, 5}, random_hop(1, 1, 1, 1), random_hop(7, 9, 3, 2)};
  all.push_back(random_hop(300, 1000, 25, 3));
  all.push_back(random_hop(50, 60, 900, 4));  // hubs
  return all;
}

constexpr std::int64_t kWidths[] = {0, 1, 3, 7, 8, 9, 16, 31, 40, 47, 64, 100, 128, 172, 257};
constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean};

/// The sum and the mean, without and with `weights`.
std::vector<Reduction> reductions(const std::vector<float>& weights) {
  std::vector<Reduction> all;
  for (const Reduce reduce : kReductions) all.insert(all.end(), {Reduction(reduce), {reduce, weights.data()}});
  return all;
}

template <class T>
void expect_forward_equals_reference(const OwnedHop& hop, const Reduction& reduce, const std::vector<T>& x,
                                     std::int64_t width) {
  const auto count = static_cast<std::size_t>(hop.num_dst * width);
  std::vector<float> expected(count), actual(count, kPoison);
  segment_reduce_reference(hop.edges(), reduce, x.data(), width, expected.data());
  segment_reduce(hop.edges(), reduce, x.data(), width, actual.data());
  ASSERT_EQ(actual, expected) << hop.num_dst << " rows, " << width << " columns";
}

TEST(SegmentReduce, EqualsTheReference) {
  for (const OwnedHop& hop : hops()) {
    const std::vector<float> weights = random_values(hop.num_src, 13);
    for (const std::int64_t width : kWidths)
      for (const Reduction& reduce : reductions(weights)) {
        const std::vector<float> x = random_values(hop.num_src * width, 5);
        expect_forward_equals_reference(hop, reduce, x, width);
        expect_forward_equals_reference(hop, reduce, to_half(x), width);
      }
  }
}

TEST(SegmentReduce, MultipliesEachEntryByTheWeightOfItsSource) {
  const OwnedHop hop{2, 3, {0, 2, 3}, {1, 2, 0}};
  const std::vector<float> x{1, 10, 2, 20, 6, 60}, weights{3, 0.5, -1};
  std::vector<float> out(4, kPoison), grad(6, kPoison);
  segment_reduce(hop.edges(), {Reduce::kMean, weights.data()}, x.data(), 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{(1.0f - 6) / 2, (10.0f - 60) / 2, 3, 30}));
  segment_reduce_backward(hop.edges(), {Reduce::kMean, weights.data()}, out.data(), 2, grad.data());
  EXPECT_EQ(grad, (std::vector<float>{9, 90, -0.625, -6.25, 1.25, 12.5}));
}

TEST(SegmentReduce, GivesTheMeanOfTheEntries) {
  const OwnedHop hop{3, 3, {0, 2, 2, 5}, {1, 2, 0, 0, 1}};
  const std::vector<float> x{1, 10, 2, 20, 6, 60};
  std::vector<float> out(6, kPoison);
  segment_reduce(hop.edges(), Reduce::kMean, x.data(), 2, out.data());
  EXPECT_EQ(out[0], 4);
  EXPECT_EQ(out[1], 40);
  EXPECT_EQ(out[2], 0);  // an empty row
  EXPECT_FLOAT_EQ(out[4], 4.0f / 3);
  segment_reduce(hop.edges(), Reduce::kSum, x.data(), 2, out.data());
  EXPECT_EQ(out[0], 8);
  EXPECT_EQ(out[5], 40);
}

TEST(SegmentReduceBackward, EqualsTheReference) {
  for (const OwnedHop& hop : hops()) {
    const std::vector<float> weights = random_values(hop.num_src, 13);
    for (const std::int64_t width : kWidths)
      for (const Reduction& reduce : reductions(weights)) {
        const std::vector<float> grad_out = random_values(hop.num_dst * width, 6);
        const auto count = static_cast<std::size_t>(hop.num_src * width);
        std::vector<float> expected(count), actual(count, kPoison);
        segment_reduce_backward_reference(hop.edges(), reduce, grad_out.data(), width, expected.data());
        segment_reduce_backward(hop.edges(), reduce, grad_out.data(), width, actual.data());
        ASSERT_EQ(actual, expected) << hop.num_dst << " rows, " << width << " columns";
      }
  }
}

template <class T>
void expect_max_equals_reference(const OwnedHop& hop, const std::vector<T>& x, std::int64_t width) {
  const auto count = static_cast<std::size_t>(hop.num_dst * width);
  std::vector<float> expected(count), actual(count, kPoison);
  std::vector<LocalId> expected_winner(count), winner(count, -7);
  segment_max_reference(hop.edges(), x.data(), width, expected.data(), expected_winner.data());
  segment_max(hop.edges(), x.data(), width, actual.data(), winner.data());
  ASSERT_EQ(actual, expected) << hop.num_dst << " rows, " << width << " columns";
  ASSERT_EQ(winner, expected_winner) << hop.num_dst << " rows, " << width << " columns";
}

TEST(SegmentMax, EqualsTheReferenceAndSoDoesItsGradient) {
  for (const OwnedHop& hop : hops())
    for (const std::int64_t width : kWidths) {
      std::vector<float> x = random_values(hop.num_src * width, 5);
      for (float& value : x) value = std::round(value * 4) / 4;  // many ties
      expect_max_equals_reference(hop, x, width);
      expect_max_equals_reference(hop, to_half(x), width);
      const std::vector<float> grad_out = random_values(hop.num_dst * width, 6);
      std::vector<float> out(grad_out.size()), expected(x.size()), actual(x.size(), kPoison);
      std::vector<LocalId> winner(grad_out.size());
      segment_max(hop.edges(), x.data(), width, out.data(), winner.data());
      segment_max_backward_reference(hop.edges(), winner.data(), grad_out.data(), width, expected.data());
      segment_max_backward(hop.edges(), winner.data(), grad_out.data(), width, actual.data());
      ASSERT_EQ(actual, expected) << hop.num_dst << " rows, " << width << " columns";
    }
}

TEST(SegmentMax, GivesTheLargestEntryAndNamesTheFirstThatHasIt) {
  const OwnedHop hop{3, 3, {0, 2, 2, 5}, {1, 2, 0, 0, 1}};
  const std::vector<float> x{-1, 10, -2, 20, -6, 20};
  std::vector<float> out(6, kPoison);
  std::vector<LocalId> winner(6);
  segment_max(hop.edges(), x.data(), 2, out.data(), winner.data());
  EXPECT_EQ(out, (std::vector<float>{-2, 20, 0, 0, -1, 20}));
  EXPECT_EQ(winner, (std::vector<LocalId>{0, 0, -1, -1, 2, 4}));
}

// The operator is linear, so <forward(x), g> = <x, backward(g)> for all x and g: this ties the two references together.
TEST(SegmentReduceBackward, IsTheTransposeOfForward) {
  const OwnedHop hop = random_hop(40, 70, 6, 7);
  constexpr std::int64_t kWidth = 5;
  const std::vector<float> weights = random_values(hop.num_src, 13);
  for (const Reduction& reduce : reductions(weights)) {
    const std::vector<float> x = random_values(hop.num_src * kWidth, 8), grad = random_values(hop.num_dst * kWidth, 9);
    std::vector<float> out(grad.size()), grad_x(x.size());
    segment_reduce_reference(hop.edges(), reduce, x.data(), kWidth, out.data());
    segment_reduce_backward_reference(hop.edges(), reduce, grad.data(), kWidth, grad_x.data());
    double left = 0, right = 0;
    for (std::size_t i = 0; i < out.size(); ++i) left += double{out[i]} * grad[i];
    for (std::size_t i = 0; i < x.size(); ++i) right += double{x[i]} * grad_x[i];
    EXPECT_NEAR(left, right, 1e-4);
  }
}

TEST(SegmentReduce, DoesNotDependOnTheNumberOfThreads) {
  const OwnedHop hop = random_hop(5000, 3000, 20, 10);
  constexpr std::int64_t kWidth = 72;
  const std::vector<float> x = random_values(hop.num_src * kWidth, 11), grad = random_values(hop.num_dst * kWidth, 12);
  std::vector<float> first_out, first_grad;
  for (const int threads : {1, 2, 4}) {
    std::vector<float> out(grad.size(), kPoison), grad_x(x.size(), kPoison);
    test::with_threads(threads, [&] {
      segment_reduce(hop.edges(), Reduce::kMean, x.data(), kWidth, out.data());
      segment_reduce_backward(hop.edges(), Reduce::kMean, grad.data(), kWidth, grad_x.data());
    });
    if (threads == 1) first_out = out, first_grad = grad_x;
    EXPECT_EQ(out, first_out) << threads << " threads";
    EXPECT_EQ(grad_x, first_grad) << threads << " threads";
  }
}

}  // namespace
}  // namespace salient
