// engine/train/training_run.cpp - see training_run.h.
#include "engine/train/training_run.h"

#include <utility>

#include "engine/plan/graph_types_of.h"
#include "models/describe/costs.h"

namespace salient {

LoaderOptions loader_options_of(const TrainOptions& options, SamplingRule rule, const TrainingRun& run) {
  return {.rule = std::move(rule),
          .time = options.batches.time.rule(),
          .degrees = degrees_for(reads_degrees(options.model)),
          .entries = entry_parts_for(options.model, run.dataset),
          .num_workers = options.machine.workers,
          .num_slots = options.machine.slots,
          .to_device = run.device.is_cuda(),
          .data = run.data.view()};
}

}  // namespace salient
