// engine/train/resident_obstacle.cpp - which runs resident_steps.h serves.
#include <algorithm>

#include "core/error.h"
#include "engine/infer/repeated_rows.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"
#include "sampler/seed_order.h"

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

/// The batches of rank 0, whose share is the largest of all.
ResidentSpec training_spec(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const SeedRange share = rank_share(dataset.train.size(), global_batch_of(options, num_ranks), 0, 0, num_ranks);
  return {.model = options.model,
          .fanouts = options.batches.fanout,
          .with_replacement = options.batches.with_replacement,
          .max_seeds = std::max<std::size_t>(1, share.count),
          .numerics = numerics_of(options)};
}

}  // namespace

std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks) {
  const std::string obstacle = obstacle_to_resident_batches(training_spec(options, dataset, num_ranks), dataset, data);
  if (!obstacle.empty()) return obstacle;
  if (options.model.kind != ModelKind::kSage && options.model.hidden_dim % 8 != 0)
    return "the width of the hidden layers is not a multiple of 8";
  return obstacle_of(options.model);
}

std::string reason_for_eager_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                   int num_ranks) {
  if (options.step == StepKind::kEager) return "asked for";
  const std::string obstacle = obstacle_to_resident_steps(options, dataset, data, num_ranks);
  if (!obstacle.empty() || options.step) return obstacle;
  const ModelKind kind = options.model.kind;
  if (numerics_of(options).precision == Precision::kFp32 && (kind == ModelKind::kGin || kind == ModelKind::kGatv2))
    return "in fp32 the products of " + name_of(kind) + " take the time, and resident steps have more of them";
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
  double others = precision_for(options, dataset, data, comm.size()) == Precision::kBf16 ? 0 : 1;
  comm.all_reduce_sum({&others, 1});
  return others == 0 ? Precision::kBf16 : Precision::kFp32;
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
