// engine/infer/roc_auc.cpp - see roc_auc.h.
#include "engine/infer/roc_auc.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace salient {

std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::int8_t> labels) {
  struct Scored {
    float score;
    std::int8_t label;
  };
  std::vector<Scored> nodes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0 && labels[i] != 1) continue;
    if (std::isnan(scores[i])) return std::nullopt;
    nodes.push_back({scores[i], labels[i]});
  }
  std::ranges::sort(nodes, {}, &Scored::score);
  std::int64_t positives = 0, negatives = 0;
  double twice_won = 0;  // twice the number of pairs that the node of class 1 wins: whole, and exact below 2^53
  for (std::size_t i = 0; i < nodes.size();) {
    std::array<std::int64_t, 2> tied{};
    const float score = nodes[i].score;
    for (; i < nodes.size() && nodes[i].score == score; ++i) ++tied[static_cast<std::size_t>(nodes[i].label)];
    twice_won += static_cast<double>(tied[1] * (2 * negatives + tied[0]));
    negatives += tied[0];
    positives += tied[1];
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  return twice_won / 2 / static_cast<double>(positives) / static_cast<double>(negatives);
}

std::optional<double> roc_auc_reference(std::span<const float> scores, std::span<const std::int8_t> labels) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      if (std::isnan(scores[i]) || std::isnan(scores[j])) return std::nullopt;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      ++pairs;
    }
  if (pairs == 0) return std::nullopt;
  return won / pairs;
}

std::optional<double> mean_roc_auc(std::span<const float> scores, std::span<const std::int8_t> labels,
                                   std::size_t num_labels) {
  const std::size_t num_nodes = labels.size() / num_labels;
  std::vector<std::optional<double>> auc_of(num_labels);
  std::vector<std::uint8_t> counts(num_labels, 0);
  oneapi::tbb::parallel_for(std::size_t{0}, num_labels, [&](std::size_t t) {
    const auto column = labels.subspan(t * num_nodes, num_nodes);
    if (std::ranges::count(column, 0) == 0 || std::ranges::count(column, 1) == 0) return;
    counts[t] = 1;
    auc_of[t] = roc_auc(scores.subspan(t * num_nodes, num_nodes), column);
  });
  double sum = 0, count = 0;
  for (std::size_t t = 0; t < num_labels; ++t) {
    if (counts[t] == 0) continue;
    if (!auc_of[t]) return std::nullopt;
    sum += *auc_of[t];
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace salient
