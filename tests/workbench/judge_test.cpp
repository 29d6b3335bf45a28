// tests/workbench/judge_test.cpp - the bound of one element lets terms in tf32 pass where sums are long; the root mean
// square of errors does not. A sum in f32 is within the bound in any order, whatever its terms.
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

/// A mean over each row's entries in f32, entry by entry; backward: its gradient.
Outputs mean_in_order(const Problem& problem, bool is_backward) {
  const auto width = static_cast<std::size_t>(problem.dim("width"));
  const std::size_t x = problem.index_of(is_backward ? "grad_out" : "x"), y = problem.num_buffers() - 1;
  const std::size_t indptr = problem.index_of("indptr"), indices = problem.index_of("indices");
  std::vector<float> sums(problem.elements(y), 0.0f);
  for (std::size_t row = 0; row + 1 < problem.elements(indptr); ++row) {
    const auto begin = static_cast<std::size_t>(problem.at(indptr, row));
    const auto end = static_cast<std::size_t>(problem.at(indptr, row + 1));
    const auto degree = static_cast<float>(end - begin);
    for (std::size_t e = begin; e < end; ++e) {
      const auto source = static_cast<std::size_t>(problem.at(indices, e));
      const std::size_t from = is_backward ? row : source, to = is_backward ? source : row;
      for (std::size_t j = 0; j < width; ++j)
        sums[to * width + j] += static_cast<float>(problem.at(x, from * width + j)) / (is_backward ? degree : 1.0f);
    }
    if (!is_backward && end > begin)
      for (std::size_t j = 0; j < width; ++j) sums[row * width + j] /= degree;
  }
  Outputs outputs(problem.num_buffers());
  outputs[y].resize(problem.bytes(y));
  std::memcpy(outputs[y].data(), sums.data(), outputs[y].size());
  return outputs;
}

TEST(JudgeNumbers, RoundingsOfEqualTermsDoNotCancelAndHaveNoMean) {
  // found among hidden shapes: a start kernel with 11 units of 8 where all indices are equal
  const Case given = load_case(test::cases_folder(), "typed_mean_sum");
  bool has_seen_repetition = false;
  for (const IndexPattern indices : {IndexPattern::kEqual, IndexPattern::kPowerLaw, IndexPattern::kUniform})
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Variables dims{{"rows", 2},
                           {"relations", 1},
                           {"sources", indices == IndexPattern::kUniform ? 2 : 300},
                           {"edges", 4000},
                           {"width", 4}};
      const Problem problem(given, {ShapeSet::kHidden, dims, {ValuePattern::kZeroMean, indices}, seed});
      has_seen_repetition = has_seen_repetition || repetition_of_indices(problem) > 1000;
      const auto found = judge_numbers(problem, mean_in_order(problem, false), seed);
      EXPECT_FALSE(found.has_value()) << found->reason;
    }
  EXPECT_TRUE(has_seen_repetition);
  const Problem spread(
      given,
      {ShapeSet::kHidden, {{"rows", 9}, {"relations", 1}, {"sources", 5000}, {"edges", 5000}, {"width", 4}}, {}, 1});
  EXPECT_LT(repetition_of_indices(spread), 3) << "there a mean is looked at";
}

TEST(JudgeNumbers, RoundingsToTheSameSideAreWithinTheBound) {
  // found among hidden shapes: sums whose last terms are equal and small lose nearly half of a last place each
  const Pattern pattern{ValuePattern::kPositive, IndexPattern::kSorted};
  const auto verdict_of = [&](const char* name, const Variables& dims, std::uint64_t seed) {
    const Case given = load_case(test::cases_folder(), name);
    const Problem problem(given, {ShapeSet::kHidden, dims, pattern, seed});
    const auto found = judge_numbers(problem, mean_in_order(problem, given.name != "gather_mean"), seed);
    return found ? found->reason : "accepted";
  };
  EXPECT_EQ(verdict_of("segment_mean_backward", {{"rows", 6}, {"sources", 4}, {"edges", 1484}, {"width", 55}},
                       7309490879800731740),
            "accepted");
  EXPECT_EQ(
      verdict_of("gather_mean", {{"rows", 15}, {"sources", 2}, {"edges", 2079}, {"width", 24}}, 2752119154520599109),
      "accepted");
}

}  // namespace
}  // namespace salient::workbench
