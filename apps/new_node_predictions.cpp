// apps/new_node_predictions.cpp - see new_node_predictions.h.
#include "apps/new_node_predictions.h"

#include <utility>

#include "engine/infer/node_labels.h"

namespace salient {

void NewNodePredictions::start(Model& model, std::vector<BatchRequest> requests) {
  model_ = &model;
  requests_ = std::move(requests);
  next_ = 0;
}

std::optional<PredictedBatch> NewNodePredictions::next() {
  if (next_ >= requests_.size()) return std::nullopt;
  const BatchRequest& request = requests_[next_++];
  PredictedBatch predicted{.round = {.num_nodes = std::ssize(request.seeds)}};
  if (request.seeds.empty()) return predicted;
  sampling_.key = request.key;
  const NewNodeBatch batch(dataset_, nodes_, request.seeds, sampling_);
  predicted.round.layers = model_->layers(batch.view(device_.torch_device()), {});
  predicted.round.logits = model_->head(predicted.round.layers, {});
  predicted.labels =
      labels_of(unlabelled_.label_table(), request.seeds, LabelMemory::kPageable).to(device_.torch_device());
  return predicted;
}

}  // namespace salient
