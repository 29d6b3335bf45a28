// engine/infer/sampled_inference.h - predictions from sampled neighbourhoods, through the training pipeline.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/infer/confusion_counter.h"
#include "engine/infer/inference_round.h"
#include "loaders/batch_loader.h"
#include "models/model.h"

namespace salient {

struct InferenceOptions {
  std::size_t batch_size = 1024;
  std::uint32_t seed = 1;           ///< the run's; neighbourhoods are the same in every epoch and in salient-infer
  std::string label = "inference";  ///< of the progress bar
  ConfusionCounter* confusion = nullptr;  ///< counts the predictions too
  std::function<bool()> must_stop{};  ///< asked after every round, with the same answer on all ranks: to return early
                                      ///< with what there is; may be empty
};

/// Predicts `nodes` batch by batch. Rank r takes batches r, r + size, ...; the counts are summed over ranks and equal
/// those of a single rank, because a batch's neighbourhood depends on its number, not on who computes it.
///
/// @param on_round  see there; may be empty
/// Blocks until done. Collective. The model is left in evaluation mode.
InferenceCounts sampled_inference(Model& model, BatchLoader& loader, std::span<const NodeId> nodes,
                                  const InferenceOptions& options, const ComputeDevice& device, Communicator& comm,
                                  const OnRound& on_round = {});

}  // namespace salient
