// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/infer/repeated_rows.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"
#include "sampler/seed_order.h"

namespace salient {

ResidentSpec training_spec(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  return {.model = options.model,
          .rule = training_rule(options),
          .max_seeds = std::max<std::size_t>(1, largest_share(options, dataset.train.size(), num_ranks)),
          .numerics = numerics_of(options)};
}

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks) {
  return obstacle_to_resident(training_spec(options, dataset, num_ranks), dataset, data);
}

std::string reason_for_eager_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                   int num_ranks) {
  if (options.step == StepKind::kEager) return "asked for";
  const std::string obstacle = obstacle_to_resident_steps(options, dataset, data, num_ranks);
  if (!obstacle.empty() || options.step) return obstacle;
  return cost_of_repeated_rows(training_spec(options, dataset, num_ranks), dataset, Gradients::kAll);
}

Precision precision_for(const TrainOptions& options, const Dataset& dataset, const DataResidency& data, int num_ranks) {
  if (options.precision) return *options.precision;
  TrainOptions in_bf16 = options;
  in_bf16.precision = Precision::kBf16;
  return reason_for_eager_steps(in_bf16, dataset, data, num_ranks).empty() ? Precision::kBf16 : Precision::kFp32;
}

Precision precision_on_all_ranks(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                 Communicator& comm) {
  if (options.precision) return *options.precision;
  const bool is_bf16 = precision_for(options, dataset, data, comm.size()) == Precision::kBf16;
  return on_all_ranks(comm, is_bf16) ? Precision::kBf16 : Precision::kFp32;
}

bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                          int num_ranks) {
  const std::string reason = reason_for_eager_steps(options, dataset, data, num_ranks);
  if (options.step == StepKind::kResident && !reason.empty()) fail(ErrorKind::kUsage, "resident steps: " + reason);
  return reason.empty();
}

ResidentSpec evaluation_spec(const TrainOptions& options, const Dataset& dataset) {
  const std::size_t most = std::max({dataset.valid.size(), dataset.test.size(), std::size_t{1}});
  return {.model = options.model,
          .rule = evaluation_rule(options),
          .max_seeds = std::min(static_cast<std::size_t>(options.evaluation.batch_size), most),
          .numerics = numerics_of(options)};
}

std::string reason_for_eager_evaluation(const TrainOptions& options, const Dataset& dataset) {
  const ResidentSpec spec = evaluation_spec(options, dataset);
  const std::string obstacle =
      obstacle_to_resident(spec, dataset, {.features = Residency::kDevice, .graph = GraphResidency::kDevice});
  if (!obstacle.empty() || options.step) return obstacle;
  return cost_of_repeated_rows(spec, dataset, Gradients::kNone);
}

}  // namespace salient
