// tests/workbench/judge_test.cpp - the bound of one element lets terms in tf32 pass where sums are long; the root mean
// square of errors does not.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/workbench/bench_support.h"
#include "workbench/referee/judge.h"

namespace salient::workbench {
namespace {

constexpr std::int64_t kRows = 4, kColumns = 16, kTerms = 4096;

float as_tf32(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

/// c = a b, every element by `dot` of its terms.
template <class Dot>
Outputs product(const Problem& problem, Dot dot) {
  std::vector<float> c;
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) {
      std::vector<std::pair<float, float>> factors;
      for (std::int64_t t = 0; t < kTerms; ++t)
        factors.emplace_back(problem.at(0, static_cast<std::size_t>(i * kTerms + t)),
                             problem.at(1, static_cast<std::size_t>(t * kColumns + j)));
      c.push_back(dot(factors));
    }
  Outputs outputs(3);
  outputs[2].resize(c.size() * sizeof(float));
  std::memcpy(outputs[2].data(), c.data(), outputs[2].size());
  return outputs;
}

using Factors = std::vector<std::pair<float, float>>;

float in_order(const Factors& factors) {
  float sum = 0;
  for (const auto& [a, b] : factors) sum += a * b;
  return sum;
}

float in_order_of_tf32(const Factors& factors) {
  float sum = 0;
  for (const auto& [a, b] : factors) sum += as_tf32(a) * as_tf32(b);
  return sum;
}

TEST(JudgeNumbers, RootMeanSquareTellsTf32FromF32InLongSums) {
  const Case given = load_case(test::cases_folder(), "matmul_f32");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ProblemSpec spec{ShapeSet::kPublic, {{"m", kRows}, {"n", kColumns}, {"k", kTerms}}, {}, seed};
    const Problem problem(given, spec);
    const auto right = judge_numbers(problem, product(problem, in_order), seed);
    EXPECT_FALSE(right.has_value()) << right->reason;
    const auto found = judge_numbers(problem, product(problem, in_order_of_tf32), seed);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->verdict, Verdict::kPrecision);
    EXPECT_NE(found->reason.find("root mean square of errors"), std::string::npos) << found->reason;
  }
}

TEST(JudgeNumbers, SumsWithoutCancellationHaveTheBoundOfOneElementAlone) {
  const Case given = load_case(test::cases_folder(), "matmul_f32");
  for (const ValuePattern values : {ValuePattern::kPositive, ValuePattern::kWide, ValuePattern::kEqual}) {
    const ProblemSpec spec{
        ShapeSet::kPublic, {{"m", kRows}, {"n", kColumns}, {"k", kTerms}}, {values, IndexPattern::kUniform}, 7};
    const Problem problem(given, spec);
    const auto right = judge_numbers(problem, product(problem, in_order), 7);
    EXPECT_FALSE(right.has_value()) << right->reason;
  }
}

}  // namespace
}  // namespace salient::workbench
