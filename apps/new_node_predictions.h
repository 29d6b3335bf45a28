// apps/new_node_predictions.h - predictions of nodes that the data set lacks, batch by batch, on one thread.
#pragma once

#include <vector>

#include "apps/new_node_batch.h"
#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"

namespace salient {

/// Seeds are places in the list of new nodes. The model is applied eagerly; the host samples and gathers.
class NewNodePredictions final : public Predictions {
 public:
  /// All but the rule and degrees outlives this.
  /// @param unlabelled  unlabelled_nodes(), as many as there are in `nodes`
  /// @param sampling    but for its key
  NewNodePredictions(const Dataset& dataset, const NewNodes& nodes, const Dataset& unlabelled,
                     const NewNodeBatch::Sampling& sampling, const ComputeDevice& device)
      : dataset_(dataset), nodes_(nodes), unlabelled_(unlabelled), sampling_(sampling), device_(device) {}

  void start(Model& model, std::vector<BatchRequest> requests) override;
  std::optional<PredictedBatch> next() override;
  void stop() override { requests_.clear(); }
  LoaderStats stats() const override { return {}; }

 private:
  const Dataset& dataset_;
  const NewNodes& nodes_;
  const Dataset& unlabelled_;
  NewNodeBatch::Sampling sampling_;
  const ComputeDevice& device_;
  Model* model_ = nullptr;
  std::vector<BatchRequest> requests_{};
  std::size_t next_ = 0;
};

}  // namespace salient
