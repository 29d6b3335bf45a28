// engine/train/run_model.cpp - see run_model.h.
#include "engine/train/run_model.h"

#include "core/version.h"
#include "engine/train/score.h"

namespace salient {

ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset) {
  ModelOptions model = options.model;
  model.seed = options.seed;
  model.in_dim = dataset.feature_dim;
  model.num_classes = dataset.num_classes;
  return model;
}

Numerics numerics_of(const TrainOptions& options) {
  return {.precision = options.precision.value_or(Precision::kFp32),
          .gradient_order = options.deterministic ? GradientOrder::kFixed : GradientOrder::kAny};
}

CheckpointIdentity checkpoint_identity(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  return {.dataset_name = dataset.name,
          .dataset_fingerprint = dataset.fingerprint,
          .model_config = model_config_json(model_options_of(options, dataset), dataset.task),
          .metric = name_of(metric_for(options.evaluation.metric, dataset)),
          .seed = options.seed,
          .world_size = num_ranks,
          .global_batch_size = static_cast<std::int64_t>(global_batch_of(options, num_ranks)),
          .program_version = kVersion,
          .schema = dataset.schema()};
}

}  // namespace salient
