// engine/infer/loader_predictions.h - predictions of any model: batches of a loader, LibTorch's operators and ours.
#pragma once

#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"
#include "loaders/batch_loader.h"

namespace salient {

class LoaderPredictions final : public Predictions {
 public:
  /// @param dataset, device  outlive this
  LoaderPredictions(const Dataset& dataset, const LoaderOptions& loading, const ComputeDevice& device)
      : device_(device), loader_(dataset, loading) {}

  void start(Model& model, std::vector<BatchRequest> requests) override;
  std::optional<PredictedBatch> next() override;
  void stop() override { loader_.stop(); }
  LoaderStats stats() const override { return loader_.stats(); }

 private:
  const ComputeDevice& device_;
  BatchLoader loader_;
  Model* model_ = nullptr;
};

}  // namespace salient
