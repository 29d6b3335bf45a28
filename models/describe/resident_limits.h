// models/describe/resident_limits.h - what steps and predictions that stay on the GPU (models/resident) compute.
#pragma once

#include <cstdint>
#include <string>

#include "models/describe/model_options.h"

namespace salient {

inline constexpr int kMaxResidentFanout = 32;
inline constexpr int kMaxResidentLayers = 8;
inline constexpr std::int64_t kMaxResidentGatv2Width = 2048;
inline constexpr std::int64_t kMaxResidentLayerNormWidth = 2048;

/// Ranks, and gradients of a step, that are summed in the memory of peers (resident/peer_sums.h). More gradients NCCL
/// sums faster than words of 8 bytes travel, and these words have memory for each rank.
inline constexpr int kMaxSummingRanks = 8;
inline constexpr std::int64_t kMaxSummedValues = std::int64_t{2} << 20;

/// GraphSAGE with nothing between its layers but ReLU and dropout, which reads no features of edges: it has steps,
/// predictions and exact inference of its own (models/resident/sage_step.h, sage_forward.h, models/exact), all other
/// models are step programs (model_step.h).
/// @param options  with the data set's widths: edge_dim is one
bool is_plain_sage(const ModelOptions& options);

/// What of the model nothing resident computes, as a fact; "" = nothing.
///
/// Kinds that have steps are named here, and their operations compared with what those steps compute: another kind is
/// eager until it has kernels.
/// Oracle: tests/models/describe/resident_limits_test.cpp decides by the options.
std::string resident_obstacle(const ModelOptions& options);

}  // namespace salient
