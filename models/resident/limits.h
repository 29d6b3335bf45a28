// models/resident/limits.h - which draws a tree on the GPU samples. Without CUDA, so that those who choose can ask.
#pragma once

#include "sampler/sampling_rule.h"

namespace salient {

/// Whether SampledTree has this draw (pick.cuh). Others are for batches that the samplers make.
constexpr bool has_tree_draw(Draw draw) { return draw == Draw::kUniform || draw == Draw::kWithReplacement; }

}  // namespace salient
