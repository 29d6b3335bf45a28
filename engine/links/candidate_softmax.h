// engine/links/candidate_softmax.h - cross entropy of links among their candidates, and its gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/rank/ordered_product.h"

namespace salient {

/// Queries and the rows that they are scored with.
struct SoftmaxProblem {
  PairScore kind = PairScore::kDot;
  std::int64_t width = 0;
  const float* candidates = nullptr;  ///< [num_candidates, width]
  std::int64_t num_candidates = 0;
  const float* queries = nullptr;  ///< [targets, width]
  std::span<const NodeId> targets{};
  float label_smoothing = 0;  ///< share of a target's weight that all candidates share
};

/// All candidates, in blocks: with at most so many scores at a time the rest is computed anew in the backward pass.
inline constexpr std::int64_t kMaxScores = std::int64_t{16} << 20;

/// Sets the gradients of the mean of the losses, to the query rows [targets, width] and to all candidates'.
/// @return the losses' sum; not finite where a score is not
/// Determinism: equal bits for any number of threads; another max_scores may round losses differently.
/// Runs on the caller's oneTBB arena. Oracle: full_softmax_reference()
double full_softmax(const SoftmaxProblem& problem, float* query_gradients, float* candidate_gradients,
                    std::int64_t max_scores = kMaxScores);

/// The same in f64, an element at a time.
double full_softmax_reference(const SoftmaxProblem& problem, float* query_gradients, float* candidate_gradients);

/// The target and K negatives as candidates. A negative that is the target counts as any other.
/// @param negatives        [targets, K]
/// @param weights          [targets, 1 + K] set: what the gradient of the mean of the losses has of each score, the
///                         target's first; of kDistance divided by the distance
/// @param query_gradients  [targets, width] set
/// @return as full_softmax()
double sampled_softmax(const SoftmaxProblem& problem, std::span<const NodeId> negatives, float* weights,
                       float* query_gradients);

/// Adds to `gradient` what a candidate gets from one query by its weight of sampled_softmax().
void add_candidate_gradient(PairScore kind, std::int64_t width, float weight, const float* query,
                            const float* candidate, float* gradient);

}  // namespace salient
