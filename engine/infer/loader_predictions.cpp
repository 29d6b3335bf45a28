// engine/infer/loader_predictions.cpp - see loader_predictions.h.
#include "engine/infer/loader_predictions.h"

#include <utility>

#include "models/batch_view.h"

namespace salient {

void LoaderPredictions::start(Model& model, std::vector<BatchRequest> requests) {
  model_ = &model;
  source_->start(std::move(requests));
}

std::optional<PredictedBatch> LoaderPredictions::next() {
  const Batch* const batch = source_->next(device_.stream());
  if (batch == nullptr) return std::nullopt;
  PredictedBatch predicted{.round = {.num_nodes = batch->layout.num_seeds}};
  if (predicted.round.num_nodes > 0) {
    const BatchView view = view_of(*batch, device_.torch_device().index());
    predicted.round.layers = model_->layers(view, {});
    predicted.round.logits = model_->head(predicted.round.layers, {});
    predicted.labels = view.y;
  }
  return predicted;
}

}  // namespace salient
