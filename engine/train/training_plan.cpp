// engine/train/training_plan.cpp - see training_plan.h.
#include "engine/train/training_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/train/run_model.h"
#include "engine/train/training_needs.h"

namespace salient {

RunRequest request_of(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const bool is_of_links = predicts_links(options);
  const std::size_t most_scored =
      is_of_links ? dataset.num_nodes() : std::max({dataset.valid.size(), dataset.test.size(), std::size_t{1}});
  const std::size_t num_items = num_training_items(options, dataset),
                    share = largest_share(options, num_items, num_ranks);
  const std::size_t of_item = is_of_links ? 2 + static_cast<std::size_t>(options.links.rule.negatives) : 1;
  std::optional<LinkSpec> links;
  if (is_of_links)
    links = {options.links.rule, options.links.decoder, options.links.loss,
             std::max<std::size_t>(1, std::min(num_items, global_batch_of(options, num_ranks)))};
  const auto batches = [&](SamplingRule rule, std::size_t max_seeds) {
    return ResidentSpec{options.model, std::move(rule), options.batches.time.rule(),
                        links,         max_seeds,       numerics_of(options)};
  };
  return {.step = options.step,
          .precision = options.precision,
          .training = batches(training_rule(options, dataset), of_item * std::max<std::size_t>(1, share)),
          .evaluation = batches(evaluation_rule(options, dataset),
                                std::min(static_cast<std::size_t>(options.evaluation.batch_size), most_scored))};
}

RunPlan plan_training(const RankPlace& place, const TrainOptions& options, const Dataset& dataset) {
  const int num_ranks = place.comm.size();
  const DataPlan data = plan_data(place, request_of(options.machine), dataset, [&] {
    return needs_of_training(options, dataset, place.device.is_cuda(), num_ranks);
  });
  return resolve(request_of(options, dataset, num_ranks), dataset, data, place.comm);
}

RunPlan plan_training(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                      Communicator& comm) {
  return resolve(request_of(options, dataset, comm.size()), dataset, {.residency = data}, comm);
}

}  // namespace salient
