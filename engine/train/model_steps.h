// engine/train/model_steps.h - resident steps of the models other than GraphSAGE: models/resident/model_step.h. In a
// CUDA build.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cuda/cuda.h"
#include "engine/train/eager_steps.h"

namespace salient {

/// As resident_steps_bytes() and make_resident_steps().
std::int64_t model_steps_bytes(const TrainOptions& options, const Dataset& dataset, int num_ranks);
std::unique_ptr<GradientSteps> make_model_steps(const StepParts& parts);

/// A copy of the classes in GPU memory.
DeviceArray<std::int32_t> upload_classes(const Dataset& dataset);

}  // namespace salient
