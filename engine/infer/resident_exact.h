// engine/infer/resident_exact.h - exact inference that stays on the GPU, where model and data allow it.
#pragma once

#include <cstdint>
#include <span>

#include "engine/infer/inference_round.h"
#include "engine/infer/model_on_ranks.h"
#include "engine/plan/batch_plan.h"
#include "store/dataset.h"

namespace salient {

/// GPU memory that it takes beside graph and features, in bytes. Only where plan_batches() takes it.
std::int64_t resident_exact_bytes(const ResidentSpec& spec, const Dataset& dataset);

/// What is predicted.
struct ResidentExactRequest {
  std::span<const NodeId> nodes;        ///< predictions come in their order; their labels are counted
  bool may_overwrite_features = false;  ///< those on the GPU, when they have been read: nothing is to read them later
};

/// Likewise. Every layer but the last is computed for all nodes of the graph; its results are f16.
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
