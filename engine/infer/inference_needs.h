// engine/infer/inference_needs.h - the memory that an inference takes beside the model, known before it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/device/data_plan.h"
#include "engine/infer/exact_plan.h"
#include "loaders/batch_loader.h"
#include "models/describe/model_options.h"
#include "store/dataset.h"

namespace salient {

/// Sampled inference: what is sampled, by what.
struct SampledShape {
  const LoaderOptions& loader;
  std::span<const NodeId> nodes{};
  std::size_t batch_size = 0;
  std::uint32_t seed = 0;
  ModelOptions model{};
  std::optional<std::int64_t> resident_bytes{};  ///< of resident predictions, where the run may take them
};

/// Samples a few batches; allocates nothing lasting.
RunNeeds needs_of_sampled_inference(const Dataset& dataset, const SampledShape& shape);

/// @param plan     of these options
/// @param on_gpu   the model computes there
RunNeeds needs_of_exact_inference(const Dataset& dataset, const ExactPlan& plan, const ExactOptions& options,
                                  bool on_gpu);

}  // namespace salient
