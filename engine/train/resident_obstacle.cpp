// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "core/error.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"

namespace salient {

namespace {

/// What of the model's options no resident step computes.
std::string obstacle_of(const ModelOptions& model) {
  const bool is_attention = model.kind == ModelKind::kGat || model.kind == ModelKind::kGatv2;
  if (model.kind == ModelKind::kSageRi) return {};  // it fixes these
  if (model.kind == ModelKind::kSage && model.aggr != Aggregation::kMean)
    return "the model takes the maximum over neighbours";
  if (model.norm != NormKind::kNone || model.residual || model.jk != JumpingKnowledge::kNone)
    return "the model has norms, residual connections or jumping knowledge between its layers";
  if (is_attention && model.heads != 1) return "the model has several attention heads";
  return {};
}

/// Repeated rows cost products their time twice, and in f32 products bound the steps of these models: on dense graphs
/// eager steps are as fast (docs/BENCHMARKS.md).
bool gains_nothing(const TrainOptions& options) {
  const ModelKind kind = options.model.kind;
  return options.precision == Precision::kFp32 && (kind == ModelKind::kGin || kind == ModelKind::kGatv2);
}

}  // namespace

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  const ResidentSpec spec{.model = options.model,
                          .fanouts = options.batches.fanout,
                          .max_seeds = global_batch_of(options, /*num_ranks=*/1)};
  const std::string obstacle = obstacle_to_resident_batches(spec, dataset, data);
  if (!obstacle.empty()) return obstacle;
  if (options.model.kind != ModelKind::kSage && options.model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  return obstacle_of(options.model);
}

bool may_take_resident_steps(const TrainOptions& options) {
  return options.step ? options.step == StepKind::kResident : !gains_nothing(options);
}

bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  if (!may_take_resident_steps(options)) return false;
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
