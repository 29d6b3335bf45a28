// engine/train/run_model.cpp - see run_model.h.
#include "engine/train/run_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/version.h"
#include "engine/plan/fanouts_of.h"
#include "engine/plan/graph_types_of.h"
#include "engine/train/link_model.h"
#include "engine/train/score.h"
#include "engine/train/training_links.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

/// By OGB's rule hits@K of fewer than K negatives is 1, of which no epoch is the best.
void require_enough_negatives(Metric metric, const TrainOptions& options, const Dataset& dataset) {
  if (hits_of(metric) == 0 || dataset.links[kValidLinks].size() == 0 || ranks_all_nodes(options, dataset, kValidLinks))
    return;
  const GivenNegatives given = open_negatives(dataset, kValidLinks);
  const std::uint64_t count = given.num_pairs() > 0 ? given.num_pairs()
                              : given.of_link() > 0 ? std::max(given.num_destinations, given.num_sources)
                                                    : static_cast<std::uint64_t>(options.links.eval_negatives);
  if (count < hits_of(metric))
    fail(ErrorKind::kUsage, name_of(metric) + " of " + std::to_string(count) +
                                " negatives is 1 for every model: K is at most their number");
}

}  // namespace

ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset) {
  ModelOptions model = fitted_to(options.model, dataset);
  model.seed = options.seed;
  if (predicts_links(options)) model.num_classes = model.hidden_dim;
  return model;
}

std::size_t num_training_items(const TrainOptions& options, const Dataset& dataset) {
  return predicts_links(options) ? dataset.links[kTrainLinks].size() : dataset.train.size();
}

Metric metric_of_run(const TrainOptions& options, const Dataset& dataset) {
  const std::optional<Metric> wanted = options.evaluation.metric;
  if (!predicts_links(options)) return metric_for(wanted, dataset);
  constexpr std::array kOfLinks = {Metric::kMrr,       Metric::kHitsAt1,  Metric::kHitsAt3,
                                   Metric::kHitsAt10,  Metric::kHitsAt20, Metric::kHitsAt50,
                                   Metric::kHitsAt100, Metric::kRocAuc,   Metric::kAveragePrecision};
  if (wanted && std::ranges::find(kOfLinks, *wanted) == kOfLinks.end())
    fail(ErrorKind::kUsage, name_of(*wanted) +
                                " is no metric of links; mrr, hits_at_1, 3, 10, 20, 50 and 100, rocauc and "
                                "average_precision are");
  const bool is_area = wanted == Metric::kRocAuc || wanted == Metric::kAveragePrecision;
  if (is_area && dataset.types.is_typed())
    fail(ErrorKind::kUsage, name_of(*wanted) + " is of links without relations; those of " + dataset.name +
                                " are ranked: mrr and hits_at_1, 3, 10, 20, 50 and 100");
  if (wanted) require_enough_negatives(*wanted, options, dataset);
  return wanted.value_or(Metric::kMrr);
}

std::shared_ptr<Model> make_model_of_run(const TrainOptions& options, const Dataset& dataset,
                                         const Numerics& numerics) {
  const ModelOptions shape = model_options_of(options, dataset);
  std::shared_ptr<Model> model = make_model(shape, numerics);
  const auto num_relations = std::max<std::int64_t>(1, std::ssize(dataset.types.relations));
  if (predicts_links(options))
    add_decoder(*model, {options.links.decoder, shape.num_classes, num_relations, options.links.has_pair_features},
                options.seed);
  return model;
}

std::string model_config_of(const TrainOptions& options, const Dataset& dataset) {
  std::string config = model_config_json(model_options_of(options, dataset), dataset.task);
  if (predicts_links(options))  // an object's last fields
    config.insert(config.rfind('}'), ",\"decoder\":\"" + name_of(options.links.decoder) + "\"" +
                                         (options.links.has_pair_features ? ",\"pair_features\":true" : ""));
  return config;
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
          .model_config = model_config_of(options, dataset),
          .metric = name_of(metric_of_run(options, dataset)),
          .seed = options.seed,
          .world_size = num_ranks,
          .global_batch_size = static_cast<std::int64_t>(global_batch_of(options, num_ranks)),
          .program_version = kVersion,
          .schema = dataset.schema()};
}

}  // namespace salient
