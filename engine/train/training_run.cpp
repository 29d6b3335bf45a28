// engine/train/training_run.cpp - see training_run.h.
#include "engine/train/training_run.h"

#include <utility>

#include "models/describe/costs.h"

namespace salient {

LoaderOptions loader_options_of(const TrainOptions& options, SamplingRule rule, const TrainingRun& run) {
  return {.rule = std::move(rule),
          .time = options.batches.time.rule(),
          .degrees = degrees_for(reads_degrees(options.model)),
          .num_workers = options.machine.workers,
          .num_slots = options.machine.slots,
          .to_device = run.device.is_cuda(),
          .data = run.data.view()};
}

}  // namespace salient
