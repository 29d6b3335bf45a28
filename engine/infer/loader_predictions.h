// engine/infer/loader_predictions.h - predictions of any model: batches of a source, LibTorch's operators and ours.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"
#include "loaders/batch_loader.h"

namespace salient {

class LoaderPredictions final : public Predictions {
 public:
  /// @param device  outlives this
  LoaderPredictions(std::unique_ptr<BatchSource> source, const ComputeDevice& device)
      : device_(device), source_(std::move(source)) {}

  /// Of a loader. @param dataset, device  outlive this
  LoaderPredictions(const Dataset& dataset, const LoaderOptions& loading, const ComputeDevice& device)
      : LoaderPredictions(std::make_unique<BatchLoader>(dataset, loading), device) {}

  void start(Model& model, std::vector<BatchRequest> requests) override;
  std::optional<PredictedBatch> next() override;
  void stop() override { source_->stop(); }
  LoaderStats stats() const override { return source_->stats(); }

 private:
  const ComputeDevice& device_;
  std::unique_ptr<BatchSource> source_;
  Model* model_ = nullptr;
};

}  // namespace salient
