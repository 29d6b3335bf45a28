// engine/infer/node_scores.cpp - see node_scores.h.
#include "engine/infer/node_scores.h"

#include "engine/infer/average_precision.h"
#include "engine/infer/roc_auc.h"

namespace salient {
namespace {

/// Of a class that the run does not know (store/seen_by_run.h).
bool is_of_unknown_class(const Dataset& dataset, NodeId node) {
  return dataset.task == Task::kMultiClass && dataset.class_of(node) >= dataset.num_classes;
}

bool is_binary(const Dataset& dataset) { return dataset.task == Task::kMultiClass && dataset.num_classes == 2; }

}  // namespace

bool has_roc_auc(const Dataset& dataset) { return dataset.task == Task::kMultiLabel || is_binary(dataset); }

std::size_t num_binary_labels(const Dataset& dataset) { return static_cast<std::size_t>(dataset.label_type().width); }

std::vector<std::int8_t> binary_labels(const Dataset& dataset, std::span<const NodeId> nodes) {
  const std::size_t width = num_binary_labels(dataset);
  std::vector<std::int8_t> labels(width * nodes.size());
  const LabelTable table = dataset.label_table();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t t = 0; t < width; ++t)
      labels[t * nodes.size() + i] = dataset.task == Task::kMultiLabel
                                         ? table.flags[table.row_of(nodes[i]) * width + t]
                                         : static_cast<std::int8_t>(table.classes[table.row_of(nodes[i])]);
  return labels;
}

std::int64_t roc_auc_bytes(const Dataset& dataset, std::size_t num_nodes) {
  const std::size_t label_bytes = sizeof(float) + sizeof(std::int8_t), sorted_bytes = 2 * sizeof(double);
  return static_cast<std::int64_t>(num_nodes * (num_binary_labels(dataset) * label_bytes + sorted_bytes));
}

void NodeScores::add(NodeId node, std::span<const float> logits) {
  if (dataset_.label_table().num_known(node) == 0 || is_of_unknown_class(dataset_, node)) return;
  kept_.push_back(node);
  if (is_binary(dataset_))
    scores_.push_back(logits[1] - logits[0]);  // how far the second class is ahead
  else
    scores_.insert(scores_.end(), logits.begin(), logits.end());
}

void NodeScores::add_to(Figures& figures) const {
  const std::size_t width = num_binary_labels(dataset_);
  std::vector<float> columns(scores_.size());
  for (std::size_t i = 0; i < kept_.size(); ++i)
    for (std::size_t t = 0; t < width; ++t) columns[t * kept_.size() + i] = scores_[i * width + t];
  const std::vector<std::int8_t> labels = binary_labels(dataset_, kept_);
  figures[Metric::kRocAuc] = mean_roc_auc(columns, labels, width);
  figures[Metric::kAveragePrecision] = mean_average_precision(columns, labels, width);
}

}  // namespace salient
