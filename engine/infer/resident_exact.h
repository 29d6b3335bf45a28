// engine/infer/resident_exact.h - exact inference that stays on the GPU, where model and data allow it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/infer/inference_round.h"
#include "engine/infer/model_on_ranks.h"
#include "engine/infer/resident_predictions.h"
#include "store/dataset.h"

namespace salient {

/// What prevents it, as a fact; "" = nothing. Depends on the arguments alone.
/// @param spec  its rule and seeds are not read
std::string obstacle_to_resident_exact(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks);

/// GPU memory that it takes beside graph and features, in bytes. Only without an obstacle.
std::int64_t resident_exact_bytes(const ResidentSpec& spec, const Dataset& dataset);

/// What is predicted.
struct ResidentExactRequest {
  std::span<const NodeId> nodes;        ///< predictions come in their order; their labels are counted
  bool may_overwrite_features = false;  ///< those on the GPU, when they have been read: nothing is to read them later
};

/// Without an obstacle. Every layer but the last is computed for all nodes of the graph; its results are f16.
/// @throws Error{kUsage, kHalfRange} if one is beyond the range of f16, before the results of its block are handed out
///
/// @param on_round  may be empty
/// Blocks until done. The model is left in evaluation mode.
/// Cost:    for each layer, one visit of every entry; reads entries x width x 2 bytes of GPU memory.
/// Oracle:  exact_inference(), within the rounding of f16.
/// @throws Error{kDeviceMemory}
InferenceCounts resident_exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, const ResidentView& data,
                                         const ResidentSpec& spec, const ResidentExactRequest& request,
                                         const OnRound& on_round = {});

}  // namespace salient
