// engine/links/candidate_softmax.cpp - see candidate_softmax.h.
#include "engine/links/candidate_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

/// What a query knows of its scores so far.
struct RunningSum {
  float largest = -std::numeric_limits<float>::infinity();
  double sum = 0;        ///< of exp(score - largest)
  double score_sum = 0;  ///< for label smoothing
  float target = 0;      ///< its score

  void add(std::span<const float> scores) {
    const float block_largest = *std::ranges::max_element(scores);
    if (block_largest > largest) {
      sum *= std::exp(static_cast<double>(largest) - block_largest);
      largest = block_largest;
    }
    for (const float score : scores) sum += std::exp(score - largest);
    for (const float score : scores) score_sum += score;
  }
};

/// One pass over the candidates of a batch.
class FullSoftmax {
 public:
  FullSoftmax(const SoftmaxProblem& problem, std::int64_t max_scores)
      : problem_(problem),
        num_queries_(std::ssize(problem.targets)),
        block_(std::clamp<std::int64_t>(max_scores / std::max<std::int64_t>(num_queries_, 1), 16,
                                        std::max<std::int64_t>(problem.num_candidates, 16))),
        scores_(static_cast<std::size_t>(num_queries_ * std::min(block_, problem.num_candidates))),
        sums_(problem.targets.size()) {}

  double run(float* query_gradients, float* candidate_gradients) {
    const std::int64_t num_candidates = problem_.num_candidates;
    for (std::int64_t first = 0; first < num_candidates; first += block_) forward(first);
    double loss = 0;
    const double smoothing = problem_.label_smoothing;
    for (const RunningSum& sum : sums_) {
      const double log_sum = sum.largest + std::log(sum.sum);
      const double mean_score = sum.score_sum / static_cast<double>(num_candidates);
      loss += log_sum - (1 - smoothing) * sum.target - smoothing * mean_score;
    }
    std::fill_n(query_gradients, num_queries_ * problem_.width, 0.F);
    for (std::int64_t first = 0; first < num_candidates; first += block_) {
      if (block_ < num_candidates) compute_scores(first);  // else they are still there
      backward(first, query_gradients, candidate_gradients);
    }
    return loss;
  }

 private:
  std::int64_t count_from(std::int64_t first) const { return std::min(block_, problem_.num_candidates - first); }
  MatrixView queries() const { return {problem_.queries, problem_.width}; }
  MatrixView candidates(std::int64_t first) const {
    return {problem_.candidates + first * problem_.width, problem_.width};
  }
  std::span<float> scores_of(std::int64_t query, std::int64_t count) {
    return {scores_.data() + query * count, static_cast<std::size_t>(count)};
  }

  void compute_scores(std::int64_t first) {
    const std::int64_t count = count_from(first);
    pair_scores(problem_.kind, {num_queries_, count, problem_.width}, queries(), candidates(first), scores_.data(),
                count);
  }

  void forward(std::int64_t first) {
    compute_scores(first);
    const std::int64_t count = count_from(first);
    for_each_item(num_queries_, 8, [&](std::int64_t q) {
      const std::span<const float> scores = scores_of(q, count);
      RunningSum& sum = sums_[static_cast<std::size_t>(q)];
      sum.add(scores);
      const std::int64_t target = std::int64_t{problem_.targets[static_cast<std::size_t>(q)]} - first;
      if (target >= 0 && target < count) sum.target = scores[static_cast<std::size_t>(target)];
    });
  }

  /// Scores become what the gradient has of them, of distances divided by the distance.
  void weigh(std::int64_t first, std::int64_t count) {
    const float smoothing = problem_.label_smoothing, share = 1 / static_cast<float>(num_queries_);
    const float spread = smoothing / static_cast<float>(problem_.num_candidates);
    for_each_item(num_queries_, 8, [&](std::int64_t q) {
      const RunningSum& sum = sums_[static_cast<std::size_t>(q)];
      const auto scale = static_cast<float>(1 / sum.sum);
      const std::int64_t target = std::int64_t{problem_.targets[static_cast<std::size_t>(q)]} - first;
      const std::span<float> scores = scores_of(q, count);
      for (std::int64_t c = 0; c < count; ++c) {
        float& score = scores[static_cast<std::size_t>(c)];
        const float distance = -score;
        score = (std::exp(score - sum.largest) * scale - spread - (c == target ? 1 - smoothing : 0.F)) * share;
        if (problem_.kind == PairScore::kDistance) score = distance > 0 ? score / distance : 0;
      }
    });
  }

  void backward(std::int64_t first, float* query_gradients, float* candidate_gradients) {
    const std::int64_t count = count_from(first), width = problem_.width;
    weigh(first, count);
    const MatrixView weights{scores_.data(), count}, turned{scores_.data(), 1, count};
    float* const here = candidate_gradients + first * width;
    ordered_product({num_queries_, width, count}, weights, candidates(first), query_gradients, width, /*adds=*/true);
    ordered_product({count, width, num_queries_}, turned, queries(), here, width);
    if (problem_.kind == PairScore::kDot) return;
    // -|q - c| has the gradient (c - q) / |q - c| to q, and (q - c) / |q - c| to c: the products above, less these.
    for_each_item(num_queries_, 8, [&](std::int64_t q) {
      float sum = 0;
      for (const float weight : scores_of(q, count)) sum += weight;
      for (std::int64_t k = 0; k < width; ++k) query_gradients[q * width + k] -= sum * problem_.queries[q * width + k];
    });
    for_each_item(count, 64, [&](std::int64_t c) {
      float sum = 0;
      for (std::int64_t q = 0; q < num_queries_; ++q) sum += scores_[static_cast<std::size_t>(q * count + c)];
      for (std::int64_t k = 0; k < width; ++k) here[c * width + k] -= sum * candidates(first).at(c, k);
    });
  }

  const SoftmaxProblem& problem_;
  const std::int64_t num_queries_, block_;
  std::vector<float> scores_;
  std::vector<RunningSum> sums_;
};

/// A dot product in eight partial sums, for scores that are compared with no others.
float lane_dot(const float* a, const float* b, std::int64_t width) {
  constexpr std::int64_t kLanes = 8;
  float sums[kLanes] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= width; k += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  for (; k < width; ++k) sums[k % kLanes] += a[k] * b[k];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

float lane_distance(const float* a, const float* b, std::int64_t width) {
  constexpr std::int64_t kLanes = 8;
  float sums[kLanes] = {};
  for (std::int64_t k = 0; k < width; ++k) {
    const float difference = a[k] - b[k];
    sums[k % kLanes] += difference * difference;
  }
  return std::sqrt(((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])));
}

float score_of(PairScore kind, const float* a, const float* b, std::int64_t width) {
  return kind == PairScore::kDot ? lane_dot(a, b, width) : -lane_distance(a, b, width);
}

}  // namespace

double full_softmax(const SoftmaxProblem& problem, float* query_gradients, float* candidate_gradients,
                    std::int64_t max_scores) {
  return FullSoftmax(problem, max_scores).run(query_gradients, candidate_gradients);
}

double full_softmax_reference(const SoftmaxProblem& problem, float* query_gradients, float* candidate_gradients) {
  const std::int64_t width = problem.width, num_queries = std::ssize(problem.targets);
  std::vector<double> to_queries(static_cast<std::size_t>(num_queries * width)),
      to_candidates(static_cast<std::size_t>(problem.num_candidates * width));
  double loss = 0;
  for (std::int64_t q = 0; q < num_queries; ++q) {
    const float* query = problem.queries + q * width;
    std::vector<double> scores, distances;
    double sum = 0;
    for (std::int64_t c = 0; c < problem.num_candidates; ++c) {
      double score = 0, squares = 0;
      for (std::int64_t k = 0; k < width; ++k) {
        const double x = query[k], y = problem.candidates[c * width + k];
        score += x * y;
        squares += (x - y) * (x - y);
      }
      distances.push_back(std::sqrt(squares));
      scores.push_back(problem.kind == PairScore::kDot ? score : -distances.back());
      sum += std::exp(scores.back());
    }
    for (std::int64_t c = 0; c < problem.num_candidates; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const bool is_target = problem.targets[static_cast<std::size_t>(q)] == at;
      const double label = problem.label_smoothing / static_cast<double>(problem.num_candidates) +
                           (is_target ? 1 - problem.label_smoothing : 0);
      loss -= label * (scores[at] - std::log(sum));
      const double weight = (std::exp(scores[at]) / sum - label) / static_cast<double>(num_queries);
      for (std::int64_t k = 0; k < width; ++k) {
        const double x = query[k], y = problem.candidates[c * width + k];
        const double far = distances[at] > 0 ? (y - x) / distances[at] : 0;
        to_queries[static_cast<std::size_t>(q * width + k)] += weight * (problem.kind == PairScore::kDot ? y : far);
        to_candidates[static_cast<std::size_t>(c * width + k)] += weight * (problem.kind == PairScore::kDot ? x : -far);
      }
    }
  }
  std::ranges::transform(to_queries, query_gradients, [](double x) { return static_cast<float>(x); });
  std::ranges::transform(to_candidates, candidate_gradients, [](double x) { return static_cast<float>(x); });
  return loss;
}

double sampled_softmax(const SoftmaxProblem& problem, std::span<const NodeId> negatives, float* weights,
                       float* query_gradients) {
  const std::int64_t width = problem.width, num_queries = std::ssize(problem.targets);
  const std::int64_t num_negatives = std::ssize(negatives) / std::max<std::int64_t>(num_queries, 1);
  std::vector<double> losses(problem.targets.size());
  for_each_item(num_queries, 8, [&](std::int64_t q) {
    const float* query = problem.queries + q * width;
    const std::span<float> scores(weights + q * (1 + num_negatives), static_cast<std::size_t>(1 + num_negatives));
    const auto candidate = [&](std::int64_t j) {
      const NodeId node = j == 0 ? problem.targets[static_cast<std::size_t>(q)]
                                 : negatives[static_cast<std::size_t>(q * num_negatives + j - 1)];
      return problem.candidates + std::int64_t{node} * width;
    };
    for (std::int64_t j = 0; j <= num_negatives; ++j)
      scores[static_cast<std::size_t>(j)] = score_of(problem.kind, query, candidate(j), width);
    RunningSum sum;
    sum.add(scores);
    const float own = scores[0], smoothing = problem.label_smoothing;
    const float spread = smoothing / static_cast<float>(1 + num_negatives);
    losses[static_cast<std::size_t>(q)] = sum.largest + std::log(sum.sum) - (1.0 - smoothing) * own -
                                          smoothing * sum.score_sum / static_cast<double>(1 + num_negatives);
    float* const gradient = query_gradients + q * width;
    std::fill_n(gradient, width, 0.F);
    for (std::int64_t j = 0; j <= num_negatives; ++j) {
      float& weight = scores[static_cast<std::size_t>(j)];
      const float distance = -weight;
      weight =
          (static_cast<float>(std::exp(weight - sum.largest) / sum.sum) - spread - (j == 0 ? 1 - smoothing : 0.F)) /
          static_cast<float>(num_queries);
      if (problem.kind == PairScore::kDistance) weight = distance > 0 ? weight / distance : 0;
      add_candidate_gradient(problem.kind, width, weight, candidate(j), query, gradient);  // the two are alike
    }
  });
  double loss = 0;
  for (const double one : losses) loss += one;
  return loss;
}

void add_candidate_gradient(PairScore kind, std::int64_t width, float weight, const float* query,
                            const float* candidate, float* gradient) {
  if (kind == PairScore::kDot)
    for (std::int64_t k = 0; k < width; ++k) gradient[k] += weight * query[k];
  else
    for (std::int64_t k = 0; k < width; ++k) gradient[k] += weight * (query[k] - candidate[k]);
}

}  // namespace salient
