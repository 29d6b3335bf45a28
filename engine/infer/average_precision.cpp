// engine/infer/average_precision.cpp - see average_precision.h.
#include "engine/infer/average_precision.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace salient {

std::optional<double> average_precision(std::span<const float> scores, std::span<const std::int8_t> labels) {
  std::vector<std::pair<float, std::int8_t>> nodes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0 && labels[i] != 1) continue;
    if (std::isnan(scores[i])) return std::nullopt;
    nodes.emplace_back(scores[i], labels[i]);
  }
  std::ranges::sort(nodes, std::ranges::greater(), [](const auto& node) { return node.first; });
  double positives = 0, sum = 0;
  for (std::size_t i = 0; i < nodes.size();) {
    const float score = nodes[i].first;
    double tied = 0;
    for (; i < nodes.size() && nodes[i].first == score; ++i) tied += nodes[i].second;
    positives += tied;
    sum += tied * positives / static_cast<double>(i);
  }
  if (positives == 0) return std::nullopt;
  return sum / positives;
}

std::optional<double> mean_average_precision(std::span<const float> scores, std::span<const std::int8_t> labels,
                                             std::size_t num_labels) {
  const std::size_t num_nodes = labels.size() / num_labels;
  std::vector<std::optional<double>> of_label(num_labels);
  oneapi::tbb::parallel_for(std::size_t{0}, num_labels, [&](std::size_t t) {
    of_label[t] = average_precision(scores.subspan(t * num_nodes, num_nodes), labels.subspan(t * num_nodes, num_nodes));
  });
  double sum = 0, count = 0;
  for (std::size_t t = 0; t < num_labels; ++t) {
    const auto column = labels.subspan(t * num_nodes, num_nodes);
    if (std::ranges::count(column, 1) == 0) continue;
    if (!of_label[t]) return std::nullopt;
    sum += *of_label[t];
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace salient
