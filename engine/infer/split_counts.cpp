// engine/infer/split_counts.cpp - see split_counts.h.
#include "engine/infer/split_counts.h"

#include "core/error.h"

namespace salient {

SplitCounts::SplitCounts(const Dataset& dataset, std::span<const NodeId> nodes)
    : dataset_(dataset),
      nodes_(nodes),
      split_of_(dataset.num_nodes(), 0),
      parts_{Part(dataset), Part(dataset), Part(dataset)} {
  const std::array parts = {dataset.test, dataset.valid, dataset.train};
  for (std::size_t s = 0; s < parts.size(); ++s)
    for (const NodeId node : parts[s]) split_of_[node] = static_cast<std::uint8_t>(1 + s);
}

void SplitCounts::add(std::span<const float> logits, std::span<const std::int32_t> classes) {
  const auto width = static_cast<std::size_t>(dataset_.num_classes);
  const std::size_t num_rows = logits.size() / width;
  require(num_seen_ + num_rows <= nodes_.size(), "no more rows than nodes");
  for (std::size_t i = 0; i < num_rows; ++i) {
    const NodeId node = nodes_[num_seen_++];
    if (split_of_[node] == 0) continue;
    Part& part = parts_[split_of_[node] - std::size_t{1}];
    const std::span<const float> row = logits.subspan(i * width, width);
    const std::int32_t best = classes[i * (classes.size() / num_rows)];
    count(part.counts, node, row, best);
    part.figures.add(node, row, best);
  }
}

void SplitCounts::count(InferenceCounts& counts, NodeId node, std::span<const float> row, std::int32_t best) const {
  ++counts.nodes;
  if (dataset_.task == Task::kRegression) {
    counts.labelled += dataset_.label_table().num_known(node);
    return;
  }
  if (dataset_.task == Task::kMultiClass) {
    const std::int32_t known = dataset_.class_of(node);
    if (known < 0) return;
    ++counts.labelled;
    counts.correct += known == best ? 1 : 0;
    return;
  }
  for (std::size_t t = 0; t < row.size(); ++t) {
    const std::int8_t flag = dataset_.multi_labels[(node - dataset_.first_target()) * row.size() + t];
    if (flag < 0) continue;
    const bool is_predicted = row[t] > 0;
    ++counts.labelled;
    counts.correct += (flag == 1) == is_predicted ? 1 : 0;
    counts.positives += flag;
    counts.predicted_positives += is_predicted ? 1 : 0;
    counts.true_positives += flag == 1 && is_predicted ? 1 : 0;
  }
}

}  // namespace salient
