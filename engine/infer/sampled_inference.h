// engine/infer/sampled_inference.h - predictions from sampled neighbourhoods, through the training pipeline.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/comm/communicator.h"
#include "loaders/batch_loader.h"
#include "models/compute_device.h"
#include "models/model.h"

namespace salient {

struct InferenceCounts {
  std::int64_t nodes = 0;     ///< predicted
  std::int64_t labelled = 0;  ///< of these, with a known label
  std::int64_t correct = 0;   ///< of these, predicted right
  double seconds = 0;

  double accuracy() const { return labelled == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(labelled); }
};

struct InferenceOptions {
  std::size_t batch_size = 1024;
  std::uint32_t seed = 1;           ///< the run's; neighbourhoods are the same in every epoch and in salient-infer
  std::string label = "inference";  ///< of the progress bar
  const std::atomic<int>* stop = nullptr;  ///< not 0 = return early with what there is
};

/// Predicts `nodes` batch by batch. Rank r takes batches r, r + size, ...; the counts are summed over ranks and equal
/// those of a single rank, because a batch's neighbourhood depends on its number, not on who computes it.
///
/// @param on_logits  called with (position of the batch's first node in `nodes`, logits [S, C] on the compute device);
///                   may be empty. It may wait for the device; nothing else does until the end.
/// Blocks until done. Collective. The model is left in evaluation mode.
InferenceCounts sampled_inference(Model& model, BatchLoader& loader, std::span<const NodeId> nodes,
                                  const InferenceOptions& options, const ComputeDevice& device, Communicator& comm,
                                  const std::function<void(std::size_t, const at::Tensor&)>& on_logits = {});

}  // namespace salient
