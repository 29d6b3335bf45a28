// tests/support/attention_case.h - inputs and results of the attention kernels, for the host's and the device's tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "models/kernels/attention_reference.h"
#include "tests/support/hops.h"

namespace salient::test {

struct AttentionCase {
  AttentionCase(OwnedHop owned, Heads heads, std::uint32_t seed)
      : hop(std::move(owned)),
        shape(heads),
        score_src(random_values(hop.num_src * shape.heads, seed)),
        score_dst(random_values(hop.num_dst * shape.heads, seed + 1)),
        h(random_values(hop.num_src * shape.width(), seed + 2)),
        grad_out(random_values(hop.num_dst * shape.width(), seed + 3)) {}

  std::int64_t num_edges() const {
    return num_attention_edges(static_cast<std::int64_t>(hop.indices.size()), hop.num_dst);
  }

  GatScores scores() const { return {shape.heads, slope, score_src.data(), score_dst.data()}; }

  OwnedHop hop;
  Heads shape;
  float slope = 0.2f;
  std::vector<float> score_src, score_dst, h, grad_out;
};

/// Poisoned until written.
struct AttentionResult {
  explicit AttentionResult(const AttentionCase& c)
      : weights(poison(c.num_edges() * c.shape.heads)),
        out(poison(c.hop.num_dst * c.shape.width())),
        grad_edges(poison(c.num_edges() * c.shape.heads)),
        grad_h(poison(c.hop.num_src * c.shape.width())),
        grad_src(poison(c.hop.num_src * c.shape.heads)),
        grad_dst(poison(c.hop.num_dst * c.shape.heads)) {}

  static std::vector<float> poison(std::int64_t count) {
    return std::vector<float>(static_cast<std::size_t>(count), NAN);
  }
  std::vector<float> weights, out, grad_edges, grad_h, grad_src, grad_dst;
};

inline std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> cases;
  for (const Heads shape : {Heads{1, 1}, Heads{1, 47}, Heads{1, 256}, Heads{3, 5}, Heads{4, 16}, Heads{2, 64}})
    for (const OwnedHop& hop : {OwnedHop{0, 5}, random_hop(1, 1, 1, 1), random_hop(20, 22, 9, 2),
                                random_hop(300, 1000, 25, 3), random_hop(30, 40, 300, 4)})
      cases.emplace_back(hop, shape, 5);
  return cases;
}

inline void expect_near_all(const std::vector<float>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 2e-4 * (1 + std::abs(expected[i]))) << what << " at " << i;
}

inline void expect_close_to_reference(const AttentionResult& r, const AttentionCase& c) {
  const AttentionReference expected =
      attention_reference(c.hop.edges(), c.scores(), c.shape.channels, c.h.data(), c.grad_out.data());
  const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                     std::to_string(c.hop.num_dst) + " rows, " + std::to_string(c.shape.heads) +
                                         " heads of " + std::to_string(c.shape.channels));
  expect_near_all(r.weights, expected.weights, "weights");
  expect_near_all(r.out, expected.out, "out");
  expect_near_all(r.grad_h, expected.grad_h, "grad_h");
  expect_near_all(r.grad_src, expected.grad_src, "grad_src");
  expect_near_all(r.grad_dst, expected.grad_dst, "grad_dst");
}

/// Inputs of GATv2's logits, and their results, poisoned until written; grad_att in parts.
struct Gatv2Case {
  Gatv2Case(const OwnedHop& owned, Heads heads, std::uint32_t seed)
      : hop(owned),
        shape(heads),
        z_src(random_values(hop.num_src * shape.width(), seed)),
        z_dst(random_values(hop.num_dst * shape.width(), seed + 1)),
        att(random_values(shape.width(), seed + 2)),
        grad_logits(random_values(num_edges() * shape.heads, seed + 3)) {}

  std::int64_t num_edges() const {
    return num_attention_edges(static_cast<std::int64_t>(hop.indices.size()), hop.num_dst);
  }

  Gatv2Inputs inputs() const { return {shape, slope, z_src.data(), z_dst.data(), att.data()}; }

  OwnedHop hop;
  Heads shape;
  float slope = 0.2f;
  std::vector<float> z_src, z_dst, att, grad_logits;
};

struct Gatv2Result {
  explicit Gatv2Result(const Gatv2Case& c)
      : logits(AttentionResult::poison(c.num_edges() * c.shape.heads)),
        grad_src(AttentionResult::poison(c.hop.num_src * c.shape.width())),
        grad_dst(AttentionResult::poison(c.hop.num_dst * c.shape.width())),
        grad_att(AttentionResult::poison(num_parts(c.hop.num_dst) * c.shape.width())) {}
  std::vector<float> logits, grad_src, grad_dst, grad_att;
};

inline std::vector<Gatv2Case> gatv2_cases() {
  std::vector<Gatv2Case> cases;
  for (const AttentionCase& c : attention_cases()) cases.emplace_back(c.hop, c.shape, 6);
  return cases;
}

inline void expect_close_to_reference(const Gatv2Result& r, const Gatv2Case& c) {
  const Gatv2Reference expected = gatv2_reference(c.hop.edges(), c.inputs(), c.grad_logits.data());
  const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                     std::to_string(c.hop.num_dst) + " rows, " + std::to_string(c.shape.heads) +
                                         " heads of " + std::to_string(c.shape.channels));
  ASSERT_EQ(r.logits.size(), expected.logits.size());
  for (std::size_t i = 0; i < r.logits.size(); ++i)
    if (std::isinf(expected.logits[i]))
      ASSERT_EQ(r.logits[i], expected.logits[i]);
    else
      ASSERT_NEAR(r.logits[i], expected.logits[i], 2e-4 * (10 + std::abs(expected.logits[i]))) << "at " << i;
  expect_near_all(r.grad_src, expected.grad_src, "grad_src");
  expect_near_all(r.grad_dst, expected.grad_dst, "grad_dst");
  std::vector<float> grad_att(c.att.size());
  for (std::size_t i = 0; i < r.grad_att.size(); ++i) grad_att[i % grad_att.size()] += r.grad_att[i];
  for (std::size_t i = 0; i < grad_att.size(); ++i)  // a sum over all edges
    ASSERT_NEAR(grad_att[i], expected.grad_att[i], 2e-5 * static_cast<double>(10 + c.num_edges()))
        << "grad_att at " << i;
}

}  // namespace salient::test
