// tests/engine/links/candidate_softmax_test.cpp - losses and gradients in blocks = those of the definition.
#include "engine/links/candidate_softmax.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <random>

namespace salient {
namespace {

using Floats = std::vector<float>;

struct Case {
  Case(PairScore kind, std::int64_t num_queries, std::int64_t num_candidates, std::int64_t width, float smoothing = 0) {
    std::mt19937 random(11);
    std::normal_distribution<float> normal(0, 0.7F);
    for (std::int64_t i = 0; i < num_queries * width; ++i) queries.push_back(normal(random));
    for (std::int64_t i = 0; i < num_candidates * width; ++i) candidates.push_back(normal(random));
    for (std::int64_t i = 0; i < num_queries; ++i)
      targets.push_back(static_cast<NodeId>(random() % static_cast<std::uint32_t>(num_candidates)));
    problem = {.kind = kind,
               .width = width,
               .candidates = candidates.data(),
               .num_candidates = num_candidates,
               .queries = queries.data(),
               .targets = targets,
               .label_smoothing = smoothing};
  }
  Case(const Case&) = delete;

  Floats queries{}, candidates{};
  std::vector<NodeId> targets{};
  SoftmaxProblem problem{};
};

struct Result {
  double loss = 0;
  Floats to_queries{}, to_candidates{};
};

template <class Softmax>
Result result_of(const Case& given, Softmax softmax) {
  Result result{.to_queries = Floats(given.queries.size(), 9.F), .to_candidates = Floats(given.candidates.size(), 9.F)};
  result.loss = softmax(given.problem, result.to_queries.data(), result.to_candidates.data());
  return result;
}
Result full(const Case& given, std::int64_t max_scores = kMaxScores) {
  return result_of(given, [&](const SoftmaxProblem& problem, float* to_queries, float* to_candidates) {
    return full_softmax(problem, to_queries, to_candidates, max_scores);
  });
}

void expect_near(const Floats& found, const Floats& expected, float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(CandidateSoftmax, BlocksGiveTheDefinitionsLossAndGradients) {
  for (const PairScore kind : {PairScore::kDot, PairScore::kDistance})
    for (const float smoothing : {0.F, 0.1F}) {
      const Case given(kind, 9, 70, 12, smoothing);
      const Result expected = result_of(given, full_softmax_reference);
      for (const std::int64_t max_scores : {std::int64_t{1}, std::int64_t{9 * 30}, kMaxScores}) {
        const Result found = full(given, max_scores);
        EXPECT_NEAR(found.loss, expected.loss, 1e-4);
        expect_near(found.to_queries, expected.to_queries, 1e-5F);
        expect_near(found.to_candidates, expected.to_candidates, 1e-5F);
      }
    }
}

TEST(CandidateSoftmax, ThreadsChangeNothing) {
  const Case given(PairScore::kDistance, 40, 300, 24);
  const auto with = [&](int threads) { return oneapi::tbb::task_arena(threads).execute([&] { return full(given); }); };
  const Result one = with(1), four = with(4);
  EXPECT_EQ(one.loss, four.loss);
  EXPECT_EQ(one.to_queries, four.to_queries);
  EXPECT_EQ(one.to_candidates, four.to_candidates);
}

/// With the other candidates as negatives, each once, a sampled loss is the full one.
TEST(CandidateSoftmax, AllOthersAsNegativesAreAllCandidates) {
  for (const PairScore kind : {PairScore::kDot, PairScore::kDistance}) {
    const Case given(kind, 6, 8, 13, 0.05F);
    std::vector<NodeId> negatives;
    for (const NodeId target : given.targets)
      for (NodeId c = 0; c < 8; ++c)
        if (c != target) negatives.push_back(c);
    const Result expected = result_of(given, full_softmax_reference);
    Result found{.to_queries = Floats(given.queries.size()), .to_candidates = Floats(given.candidates.size())};
    Floats weights(6 * 8);
    found.loss = sampled_softmax(given.problem, negatives, weights.data(), found.to_queries.data());
    for (std::size_t q = 0; q < 6; ++q)
      for (std::size_t j = 0; j < 8; ++j) {
        const std::size_t c = j == 0 ? given.targets[q] : negatives[q * 7 + j - 1];
        add_candidate_gradient(kind, 13, weights[q * 8 + j], given.queries.data() + q * 13,
                               given.candidates.data() + c * 13, found.to_candidates.data() + c * 13);
      }
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    expect_near(found.to_queries, expected.to_queries, 1e-6F);
    expect_near(found.to_candidates, expected.to_candidates, 1e-6F);
  }
}

TEST(CandidateSoftmax, ADistanceOfZeroHasNoGradient) {
  Case given(PairScore::kDistance, 1, 3, 4);
  std::copy_n(given.candidates.begin() + 4 * given.targets[0], 4, given.queries.begin());
  for (const float value : full(given).to_queries) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace salient
