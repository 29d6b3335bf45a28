// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "core/error.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"

namespace salient {

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  return obstacle_to_resident({.model = options.model,
                               .fanouts = options.batches.fanout,
                               .max_seeds = global_batch_of(options, /*num_ranks=*/1)},
                              dataset, data);
}

bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  if (options.step == StepKind::kEager) return false;
  const std::string obstacle = obstacle_to_resident_steps(options, dataset, data);
  if (options.step && !obstacle.empty()) fail(ErrorKind::kUsage, "resident steps: " + obstacle);
  return obstacle.empty();
}

ResidentSpec evaluation_spec(const TrainOptions& options, const Dataset& dataset) {
  const std::size_t most = std::max({dataset.valid.size(), dataset.test.size(), std::size_t{1}});
  return {.model = options.model,
          .fanouts = options.evaluation.fanout,
          .with_replacement = options.batches.with_replacement,
          .max_seeds = std::min(static_cast<std::size_t>(options.evaluation.batch_size), most),
          .numerics = numerics_of(options)};
}

std::string obstacle_to_resident_evaluation(const TrainOptions& options, const Dataset& dataset) {
  return obstacle_to_resident(evaluation_spec(options, dataset), dataset,
                              {.features = Residency::kDevice, .graph = GraphResidency::kDevice});
}

}  // namespace salient
