// apps/predictor_batches.cpp - see predictor_batches.h.
#include "apps/predictor_batches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/value_text.h"
#include "engine/infer/inference_needs.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/resident_predictions.h"
#include "engine/train/run_model.h"

namespace salient {
namespace {

constexpr std::size_t kProbedNodes = 1 << 16;

std::size_t batch_size_of(const PredictedWith& with) {
  return static_cast<std::size_t>(with.options.evaluation.batch_size);
}

ResidentSpec spec_of(const PredictedWith& with, const LoaderOptions& loading) {
  return {.model = with.options.model,
          .fanouts = loading.fanouts,
          .replacement = loading.replacement,
          .max_seeds = std::clamp<std::size_t>(with.dataset.num_nodes(), 1, batch_size_of(with)),
          .numerics = numerics_of(with.options)};
}

/// Why batches are not resident with this data in GPU memory; "" = they are. What is set up once serves for long, and
/// few requests fill a batch, so that nothing speaks against it where it is possible.
std::string reason_for_eager(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                             std::optional<StepKind> step) {
  return step == StepKind::kEager ? "asked for" : obstacle_to_resident(spec, dataset, data);
}

/// Evenly spread: nobody knows what will be asked for.
std::vector<NodeId> some_nodes(const Dataset& dataset) {
  const std::size_t stride = dataset.num_nodes() / kProbedNodes + 1;
  std::vector<NodeId> nodes;
  for (std::size_t node = 0; node < dataset.num_nodes(); node += stride) nodes.push_back(static_cast<NodeId>(node));
  return nodes;
}

ResidentData data_on_gpu(const RankPlace& place, const PredictedWith& with, const LoaderOptions& loading,
                         std::optional<StepKind> step) {
  const std::vector<NodeId> nodes = some_nodes(with.dataset);
  const ResidentSpec spec = spec_of(with, loading);
  const DataPlan plan = plan_data(place, {}, with.dataset, [&] {
    SampledShape shape{loading, nodes, batch_size_of(with), static_cast<std::uint32_t>(with.options.seed),
                       model_options_of(with.options, with.dataset)};
    const DataResidency all{.features = Residency::kDevice, .graph = GraphResidency::kDevice};
    if (reason_for_eager(spec, with.dataset, all, step).empty())
      shape.resident_bytes = resident_predictions_bytes(spec, with.dataset);
    return needs_of_sampled_inference(with.dataset, shape);
  });
  return make_resident(place, with.dataset, plan);
}

}  // namespace

PredictorBatches::PredictorBatches(const RankPlace& place, const PredictedWith& with, LoaderOptions loading,
                                   std::optional<StepKind> step) {
  if (place.device.is_cuda()) data_ = data_on_gpu(place, with, loading, step);
  loading.data = data_.view();
  const ResidentSpec spec = spec_of(with, loading);
  const std::string reason = reason_for_eager(spec, with.dataset, residency_of(loading.data), step);
  if (step == StepKind::kResident && !reason.empty()) fail(ErrorKind::kUsage, "resident predictions: " + reason);
  if (reason.empty()) {
    log_info("predictions are resident: sampling, gathering and arithmetic (" + name_of(spec.numerics.precision) +
             ") in one graph on the GPU");
    predictions_ = make_resident_predictions(spec, with.dataset, loading.data, place.device, with.model);
    return;
  }
  if (place.device.is_cuda()) log_info("predictions are eager: " + reason);
  predictions_ = std::make_unique<LoaderPredictions>(with.dataset, loading, place.device);
}

}  // namespace salient
