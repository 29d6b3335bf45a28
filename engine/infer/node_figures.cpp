// engine/infer/node_figures.cpp - see node_figures.h.
#include "engine/infer/node_figures.h"

#include <cmath>

namespace salient {

NodeFigures::NodeFigures(const Dataset& dataset) : dataset_(dataset) {
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  if (has_roc_auc(dataset)) scores_.emplace(dataset);
  switch (dataset.task) {
    case Task::kMultiClass: tally_ = ClassTally(width); break;
    case Task::kMultiLabel: break;
    case Task::kRegression: values_.resize(width); break;
  }
}

void NodeFigures::add(NodeId node, std::span<const float> logits, std::int32_t best) {
  if (scores_) scores_->add(node, logits);
  switch (dataset_.task) {
    case Task::kMultiClass: {
      const std::int32_t label = dataset_.class_of(node);
      if (label >= 0 && label < dataset_.num_classes) tally_.add(label, best);
      break;
    }
    case Task::kMultiLabel: break;
    case Task::kRegression:
      for (std::size_t t = 0; t < values_.size(); ++t)
        if (const float known = dataset_.targets[(node - dataset_.first_target()) * values_.size() + t];
            !std::isnan(known))
          values_[t].add(known, logits[t], dataset_.target_scales[t]);
      break;
  }
}

Figures NodeFigures::figures() const {
  Figures figures;
  if (scores_) scores_->add_to(figures);
  add_class_figures(tally_, figures);
  add_value_figures(values_, figures);
  return figures;
}

}  // namespace salient
