// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "core/error.h"
#include "engine/infer/repeated_rows.h"
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

ResidentSpec training_spec(const TrainOptions& options, const Dataset& dataset) {
  return {.model = options.model,
          .fanouts = options.batches.fanout,
          .with_replacement = options.batches.with_replacement,
          .max_seeds = std::clamp(dataset.train.size(), std::size_t{1}, global_batch_of(options, /*num_ranks=*/1)),
          .numerics = numerics_of(options)};
}

}  // namespace

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  const std::string obstacle = obstacle_to_resident_batches(training_spec(options, dataset), dataset, data);
  if (!obstacle.empty()) return obstacle;
  if (options.model.kind != ModelKind::kSage && options.model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  return obstacle_of(options.model);
}

std::string reason_for_eager_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  if (options.step == StepKind::kEager) return "asked for";
  const std::string obstacle = obstacle_to_resident_steps(options, dataset, data);
  if (!obstacle.empty() || options.step) return obstacle;
  const ModelKind kind = options.model.kind;
  if (options.precision == Precision::kFp32 && (kind == ModelKind::kGin || kind == ModelKind::kGatv2))
    return "in fp32 the products of " + name_of(kind) + " take the time, and resident steps have more of them";
  return cost_of_repeated_rows(training_spec(options, dataset), dataset, Gradients::kAll);
}

bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data) {
  const std::string reason = reason_for_eager_steps(options, dataset, data);
  if (options.step == StepKind::kResident && !reason.empty()) fail(ErrorKind::kUsage, "resident steps: " + reason);
  return reason.empty();
}

ResidentSpec evaluation_spec(const TrainOptions& options, const Dataset& dataset) {
  const std::size_t most = std::max({dataset.valid.size(), dataset.test.size(), std::size_t{1}});
  return {.model = options.model,
          .fanouts = options.evaluation.fanout,
          .with_replacement = options.batches.with_replacement,
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
