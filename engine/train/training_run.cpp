// engine/train/training_run.cpp - see training_run.h.
#include "engine/train/training_run.h"

#include "models/describe/costs.h"

namespace salient {

LoaderOptions loader_options_of(const TrainOptions& options, const std::vector<int>& fanouts, const TrainingRun& run) {
  return {.fanouts = fanouts,
          .replacement = options.batches.replacement(),
          .degrees = degrees_for(reads_degrees(options.model)),
          .num_workers = options.machine.workers,
          .num_slots = options.machine.slots,
          .to_device = run.device.is_cuda(),
          .data = run.data.view()};
}

}  // namespace salient
