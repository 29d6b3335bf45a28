// tests/models/kernels/attention_test.cpp - attention and its gradients equal the double-precision reference.
#include <gtest/gtest.h>

#include <cmath>

#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gat_logits.h"
#include "tests/support/attention_case.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::AttentionCase;
using test::AttentionResult;

AttentionResult run_on_host(const AttentionCase& c) {
  AttentionResult r(c);
  const HopEdges hop = c.hop.edges();
  const AttentionTerms terms{c.shape, r.weights.data(), c.h.data()};
  gat_logits(hop, c.scores(), r.weights.data());
  edge_softmax(hop, c.shape.heads, r.weights.data());
  attention_sum(hop, terms, r.out.data());
  attention_sum_backward(hop, terms, c.grad_out.data(), {r.grad_edges.data(), r.grad_h.data()});
  edge_softmax_backward(hop, c.shape.heads, r.weights.data(), r.grad_edges.data());
  gat_logits_backward(hop, c.scores(), r.grad_edges.data(), {r.grad_src.data(), r.grad_dst.data()});
  return r;
}

TEST(Attention, EqualsTheReference) {
  for (const AttentionCase& c : test::attention_cases()) test::expect_close_to_reference(run_on_host(c), c);
}

TEST(Attention, WeightsOfARowSumToOneAndAnEntryThatIsTheRowIsMasked) {
  const test::OwnedHop hop{2, 3, {0, 3, 3}, {0, 1, 2}};  // row 0 names itself; row 1 has no entries
  const std::vector<float> src{1, 2, 3}, dst{0.5f, 0.5f};
  std::vector<float> weights(5);
  gat_logits(hop.edges(), {1, 0.2f, src.data(), dst.data()}, weights.data());
  edge_softmax(hop.edges(), 1, weights.data());
  EXPECT_EQ(weights[0], 0);
  EXPECT_FLOAT_EQ(weights[1] + weights[2] + weights[3], 1);
  EXPECT_FLOAT_EQ(weights[1] / weights[3], std::exp(1.0f));  // scores 2.5 and 1.5
  EXPECT_EQ(weights[4], 1);
}

TEST(Attention, LargeScoresDoNotOverflow) {
  const test::OwnedHop hop{1, 2, {0, 1}, {1}};
  const std::vector<float> src{1e4f, 1.0001e4f}, dst{0};
  std::vector<float> weights(2);
  gat_logits(hop.edges(), {1, 0.2f, src.data(), dst.data()}, weights.data());
  edge_softmax(hop.edges(), 1, weights.data());
  EXPECT_NEAR(weights[0], 1 / (1 + std::exp(-1.0)), 1e-6);
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
