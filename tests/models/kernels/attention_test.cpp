// tests/models/kernels/attention_test.cpp - attention and its gradients equal the double-precision reference, for any thread count.
#include "models/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/attention_case.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::AttentionCase;
using test::AttentionResult;

AttentionResult run_on_host(const AttentionCase& c) {
  AttentionResult r(c);
  const HopEdges hop = c.hop.edges();
  gat_logits(hop, c.shape.heads, c.slope, c.score_src.data(), c.score_dst.data(), r.weights.data());
  slot_softmax(hop, c.shape.heads, r.weights.data());
  slot_sum(hop, c.shape, r.weights.data(), c.h.data(), r.out.data());
  slot_sum_backward(hop, c.shape, r.weights.data(), c.h.data(), c.grad_out.data(), r.grad_slots.data(),
                    r.grad_h.data());
  slot_softmax_backward(hop, c.shape.heads, r.weights.data(), r.grad_slots.data());
  gat_logits_backward(hop, c.shape.heads, c.slope, c.score_src.data(), c.score_dst.data(), r.grad_slots.data(),
                      r.grad_src.data(), r.grad_dst.data());
  return r;
}

TEST(Attention, EqualsTheReference) {
  for (const AttentionCase& c : test::attention_cases()) test::expect_close_to_reference(run_on_host(c), c);
}

TEST(Attention, WeightsOfARowSumToOneAndAnEntryThatIsTheRowIsEmpty) {
  const test::OwnedHop hop{2, 3, {0, 3, 3}, {0, 1, 2}};  // row 0 names itself; row 1 has no entries
  const std::vector<float> src{1, 2, 3}, dst{0.5f, 0.5f};
  std::vector<float> slots(5);
  gat_logits(hop.edges(), 1, 0.2f, src.data(), dst.data(), slots.data());
  slot_softmax(hop.edges(), 1, slots.data());
  EXPECT_EQ(slots[0], 0);
  EXPECT_FLOAT_EQ(slots[1] + slots[2] + slots[3], 1);
  EXPECT_FLOAT_EQ(slots[1] / slots[3], std::exp(1.0f));  // scores 2.5 and 1.5
  EXPECT_EQ(slots[4], 1);
}

TEST(Attention, LargeScoresDoNotOverflow) {
  const test::OwnedHop hop{1, 2, {0, 1}, {1}};
  const std::vector<float> src{1e4f, 1.0001e4f}, dst{0};
  std::vector<float> slots(2);
  gat_logits(hop.edges(), 1, 0.2f, src.data(), dst.data(), slots.data());
  slot_softmax(hop.edges(), 1, slots.data());
  EXPECT_NEAR(slots[0], 1 / (1 + std::exp(-1.0)), 1e-6);
}

test::Gatv2Result run_on_host(const test::Gatv2Case& c) {
  test::Gatv2Result r(c);
  gatv2_logits(c.hop.edges(), c.shape, c.slope, c.z_src.data(), c.z_dst.data(), c.att.data(), r.logits.data());
  gatv2_logits_backward(c.hop.edges(), c.shape, c.slope, c.z_src.data(), c.z_dst.data(), c.att.data(),
                        c.grad_logits.data(), r.grad_src.data(), r.grad_dst.data(), r.grad_att.data());
  return r;
}

TEST(Gatv2Logits, EqualTheReference) {
  for (const test::Gatv2Case& c : test::gatv2_cases()) test::expect_close_to_reference(run_on_host(c), c);
}

TEST(Gatv2Logits, DoNotDependOnTheNumberOfThreads) {
  const test::Gatv2Case c(test::random_hop(3000, 4000, 15, 3), {2, 20}, 9);
  test::Gatv2Result first(c);
  test::with_threads(1, [&] { first = run_on_host(c); });
  for (const int threads : {2, 4}) {
    test::Gatv2Result other(c);
    test::with_threads(threads, [&] { other = run_on_host(c); });
    EXPECT_EQ(other.logits, first.logits);
    EXPECT_EQ(other.grad_src, first.grad_src);
    EXPECT_EQ(other.grad_dst, first.grad_dst);
    EXPECT_EQ(other.grad_att, first.grad_att);
  }
}

TEST(Attention, DoesNotDependOnTheNumberOfThreads) {
  const AttentionCase c(test::random_hop(3000, 4000, 15, 3), {2, 20}, 9);
  AttentionResult first(c);
  test::with_threads(1, [&] { first = run_on_host(c); });
  for (const int threads : {2, 4}) {
    AttentionResult other(c);
    test::with_threads(threads, [&] { other = run_on_host(c); });
    EXPECT_EQ(other.out, first.out);
    EXPECT_EQ(other.grad_h, first.grad_h);
    EXPECT_EQ(other.grad_src, first.grad_src);
    EXPECT_EQ(other.grad_dst, first.grad_dst);
  }
}

}  // namespace
}  // namespace salient
