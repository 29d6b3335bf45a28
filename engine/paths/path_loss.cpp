// engine/paths/path_loss.cpp - see path_loss.h.
#include "engine/paths/path_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace salient {
namespace {

/// log(1 + e^x)
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Calls use(candidate) for the target and all that are not known, ascending.
template <class Use>
void for_each_candidate(std::size_t count, NodeId target, std::span<const NodeId> known, Use use) {
  auto next = known.begin();
  for (std::size_t v = 0; v < count; ++v) {
    const bool is_known = next != known.end() && *next == v;
    if (is_known) ++next;
    if (!is_known || v == target) use(v);
  }
}

/// The node of this rank among those that `known` does not have.
NodeId other_node(NodeId rank, std::span<const NodeId> known) {
  NodeId node = rank;
  for (std::size_t i = 0; i < known.size() && known[i] <= node; ++i) ++node;
  return node;
}

}  // namespace

double path_softmax_loss(std::span<const float> scores, NodeId target, std::span<const NodeId> known, float weight,
                         std::span<float> gradients) {
  float highest = scores[target];
  for_each_candidate(scores.size(), target, known, [&](std::size_t v) { highest = std::max(highest, scores[v]); });
  double sum = 0;
  std::ranges::fill(gradients, 0.F);
  for_each_candidate(scores.size(), target, known, [&](std::size_t v) {
    gradients[v] = std::exp(scores[v] - highest);
    sum += double{gradients[v]};
  });
  const auto scale = static_cast<float>(double{weight} / sum);
  for (float& gradient : gradients) gradient *= scale;
  gradients[target] -= weight;
  return std::log(sum) + double{highest} - double{scores[target]};
}

double path_bce_loss(std::span<const float> scores, NodeId target, std::span<const NodeId> negatives,
                     double temperature, float weight, std::span<float> gradients) {
  std::ranges::fill(gradients, 0.F);
  const double own = double{scores[target]};
  double loss = softplus(-own) / 2, sum = 0;
  gradients[target] = static_cast<float>(-double{weight} * sigmoid(-own) / 2);
  std::vector<double> shares(negatives.size(), 1.0);
  if (temperature > 0) {
    double highest = -std::numeric_limits<double>::infinity();
    for (const NodeId v : negatives) highest = std::max(highest, double{scores[v]});
    for (std::size_t j = 0; j < shares.size(); ++j)
      shares[j] = std::exp((double{scores[negatives[j]]} - highest) / temperature);
  }
  for (const double share : shares) sum += share;
  for (std::size_t j = 0; j < negatives.size(); ++j) {
    const double score = double{scores[negatives[j]]}, share = sum > 0 ? shares[j] / sum : 0;
    loss += share * softplus(score) / 2;
    gradients[negatives[j]] += static_cast<float>(double{weight} * share * sigmoid(score) / 2);
  }
  return loss;
}

std::vector<NodeId> path_negatives(Draws draws, std::uint32_t count, NodeId num_nodes, std::span<const NodeId> known) {
  constexpr std::uint32_t kTries = 16;  // of all nodes, before the others are counted
  const auto num_known = static_cast<NodeId>(known.size());
  if (num_known >= num_nodes) return {};
  const auto is_known = [&](NodeId node) { return std::ranges::binary_search(known, node); };
  std::vector<NodeId> negatives(count);
  for (std::uint32_t j = 0; j < count; ++j) {
    std::uint32_t tries = 0;
    do negatives[j] = draws.below(j + tries * count, num_nodes);
    while (is_known(negatives[j]) && ++tries < kTries);
    if (tries == kTries) negatives[j] = other_node(draws.below(j + kTries * count, num_nodes - num_known), known);
  }
  return negatives;
}

}  // namespace salient
