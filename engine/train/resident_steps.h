// engine/train/resident_steps.h - steps that stay on the GPU: models/resident, where the run allows it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/plan/run_plan.h"
#include "engine/train/eager_steps.h"
#include "engine/train/gradient_steps.h"
#include "store/dataset.h"

namespace salient {

/// GPU memory that they take beside graph and features, in bytes. Only for a plan that has them.
/// @param num_ranks  that share a global batch
std::int64_t resident_steps_bytes(const RunPlan& plan, const Dataset& dataset, int num_ranks);

/// Likewise. Blocks: allocates, and times matrix products for a second at most.
/// @throws Error{kDeviceMemory}
std::unique_ptr<GradientSteps> make_resident_steps(const StepParts& parts);

}  // namespace salient
