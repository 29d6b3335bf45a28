// engine/infer/sampled_inference.h - predictions from sampled neighbourhoods, batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/infer/inference_round.h"
#include "engine/infer/model_on_ranks.h"
#include "engine/infer/prediction_tally.h"
#include "engine/infer/predictions.h"
#include "engine/infer/target_unit.h"
#include "sampler/draws.h"

namespace salient {

struct InferenceOptions {
  std::size_t batch_size = 1024;
  std::uint32_t seed = 1;             ///< of the neighbourhoods, which are the same in every epoch
  std::string label = "inference";    ///< of the progress bar
  PredictionTally* tally = nullptr;   ///< counts the predictions too
  TargetUnit unit{};                  ///< of the data set: what rounds and counts have
  std::function<bool()> must_stop{};  ///< asked after every round; must answer alike on all ranks. true: inference
                                      ///< ends with the counts so far. May be empty
};

/// What the neighbourhoods of batch number `batch` are drawn with.
BatchKey inference_key(std::uint32_t seed, std::size_t batch);

/// Predicts `nodes` batch by batch. Rank r takes batches r, r + size, ...; the counts are summed over ranks and equal
/// those of a single rank, because a batch's neighbourhood depends on its number, not on the rank that computes it.
///
/// @param predictions  of the model's data set, on its device
/// @param on_round     called in every round; may be empty
/// Blocks until done. Collective. The model is left in evaluation mode.
InferenceCounts sampled_inference(const ModelOnRanks& ranks, Predictions& predictions, std::span<const NodeId> nodes,
                                  const InferenceOptions& options, const OnRound& on_round = {});

}  // namespace salient
