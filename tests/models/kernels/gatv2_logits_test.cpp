// tests/models/kernels/gatv2_logits_test.cpp - GATv2's logits and their gradients equal the double-precision reference.
#include "models/kernels/gatv2_logits.h"

#include <gtest/gtest.h>

#include "tests/support/attention_case.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

test::Gatv2Result run_on_host(const test::Gatv2Case& c) {
  test::Gatv2Result r(c);
  gatv2_logits(c.hop.edges(), c.inputs(), r.logits.data());
  gatv2_logits_backward(c.hop.edges(), c.inputs(), c.grad_logits.data(),
                        {r.grad_src.data(), r.grad_dst.data(), r.grad_att.data()});
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

}  // namespace
}  // namespace salient
