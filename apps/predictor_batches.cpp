// apps/predictor_batches.cpp - see predictor_batches.h.
#include "apps/predictor_batches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/value_text.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/resident_predictions.h"
#include "engine/train/run_model.h"

namespace salient {
namespace {

std::size_t batch_size_of(const PredictedWith& with) {
  return static_cast<std::size_t>(with.options.evaluation.batch_size);
}

ResidentSpec spec_of(const PredictedWith& with, const LoaderOptions& loading) {
  return {.model = with.options.model,
          .rule = loading.rule,
          .max_seeds = std::clamp<std::size_t>(with.dataset.num_nodes(), 1, batch_size_of(with)),
          .numerics = numerics_of(with.options)};
}

/// What resident batches need.
constexpr DataResidency kOnGpu{.features = Residency::kDevice, .graph = GraphResidency::kDevice};

/// Why batches are not resident with this data; "" = they are.
std::string reason_for_eager(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data,
                             std::optional<StepKind> step) {
  return step == StepKind::kEager ? "asked for" : obstacle_to_resident(spec, dataset, data);
}

/// Features and graph, or a part of it, in GPU memory if they fit there beside resident batches, else on the host.
ResidentData data_for_resident(const RankPlace& place, const Dataset& dataset, const ResidentSpec& spec) {
  const RunNeeds needs{
      .others = {libraries_line(/*on_gpu=*/true), {"resident batches", 0, resident_predictions_bytes(spec, dataset)}}};
  const DataPlan plan = plan_residency({}, dataset, needs, free_memory(place.device, /*ranks_on_host=*/1));
  if (plan.residency.features != kOnGpu.features || plan.residency.graph != kOnGpu.graph) return {};
  log_info(summary_of(plan, dataset));
  return make_resident(place, dataset, plan);
}

}  // namespace

PredictorBatches::PredictorBatches(const RankPlace& place, const PredictedWith& with, LoaderOptions loading,
                                   std::optional<StepKind> step) {
  if (step == StepKind::kResident && !place.device.is_cuda())
    fail(ErrorKind::kNoDevice, "resident predictions were asked for, and there is no GPU");
  const ResidentSpec spec = spec_of(with, loading);
  std::string reason = reason_for_eager(spec, with.dataset, kOnGpu, step);
  if (reason.empty() && place.device.is_cuda()) data_ = data_for_resident(place, with.dataset, spec);
  loading.data = data_.view();
  if (reason.empty()) reason = reason_for_eager(spec, with.dataset, residency_of(loading.data), step);
  if (step == StepKind::kResident && !reason.empty()) fail(ErrorKind::kUsage, "resident predictions: " + reason);
  if (reason.empty()) {
    log_info("predictions are resident: sampling, gathering and arithmetic (" + name_of(spec.numerics.precision) +
             ") in one graph on the GPU");
    predictions_ = make_resident_predictions(spec, with.dataset, loading.data, place.device, with.model);
    make_eager_ = [&dataset = with.dataset, &device = place.device, loading]() mutable {
      loading.data = {};  // on the host
      return std::make_unique<LoaderPredictions>(dataset, loading, device);
    };
    return;
  }
  if (place.device.is_cuda()) log_info("predictions are eager: " + reason);
  predictions_ = std::make_unique<LoaderPredictions>(with.dataset, loading, place.device);
}

Predictions& PredictorBatches::eager() {
  if (!make_eager_) return *predictions_;
  if (!eager_) eager_ = make_eager_();
  return *eager_;
}

}  // namespace salient
