// engine/train/run_model.cpp - see run_model.h.
#include "engine/train/run_model.h"

#include "core/version.h"
#include "engine/plan/fanouts_of.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/score.h"

namespace salient {

ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset) {
  ModelOptions model = fitted_to(options.model, dataset);
  model.seed = options.seed;
  return model;
}

SamplingRule training_rule(const TrainOptions& options, const Dataset& dataset) {
  return with_fanouts_of({options.batches.fanout, options.batches.draw}, options.batches.fanout_of, dataset.types);
}

SamplingRule evaluation_rule(const TrainOptions& options, const Dataset& dataset) {
  return with_fanouts_of({options.evaluation.fanout, options.batches.draw}, options.batches.fanout_of, dataset.types);
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
