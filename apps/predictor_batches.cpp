// apps/predictor_batches.cpp - see predictor_batches.h.
#include "apps/predictor_batches.h"

#include <algorithm>
#include <cstddef>

#include "core/console/log.h"
#include "core/error.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/make_predictions.h"
#include "engine/infer/resident_predictions.h"

namespace salient {
namespace {

/// With all data in GPU memory.
StepQuestion question_of(const PredictedWith& with, const LoaderOptions& loading, std::optional<StepKind> step) {
  const auto batch_size = static_cast<std::size_t>(with.options.evaluation.batch_size);
  return {.purpose = Purpose::kServing,
          .spec = {.model = with.options.model,
                   .rule = loading.rule,
                   .time = loading.time,
                   .links = predicts_links(with.options) ? std::optional(LinkSpec{}) : std::nullopt,
                   .max_seeds = std::clamp<std::size_t>(with.dataset.num_nodes(), 1, batch_size),
                   .numerics = with.numerics},
          .dataset = with.dataset,
          .data = kAllOnDevice,
          .asked = step};
}

/// Features and graph, or a part of it, in GPU memory if they fit there beside resident batches, else on the host.
ResidentData data_for_resident(const RankPlace& place, const Dataset& dataset, const ResidentSpec& spec) {
  const RunNeeds needs{
      .others = {libraries_line(/*on_gpu=*/true), {"resident batches", 0, resident_predictions_bytes(spec, dataset)}},
      .resident_edges = model_of(spec, dataset).edge_dim > 0};
  const DataPlan plan = plan_residency({}, dataset, needs, free_memory(place.device, /*ranks_on_host=*/1));
  if (plan.residency.features != kAllOnDevice.features || plan.residency.graph != kAllOnDevice.graph) return {};
  log_info(summary_of(plan, dataset));
  return make_resident(place, dataset, plan);
}

}  // namespace

PredictorBatches::PredictorBatches(const RankPlace& place, const PredictedWith& with, LoaderOptions loading,
                                   std::optional<StepKind> step) {
  if (step == StepKind::kResident && !place.device.is_cuda())
    fail(ErrorKind::kNoDevice, "resident predictions were asked for, and there is no GPU");
  StepQuestion question = question_of(with, loading, step);
  if (plan_batches(question).is_resident()) {
    if (place.device.is_cuda()) data_ = data_for_resident(place, with.dataset, question.spec);
    loading.data = data_.view();
    question.data = residency_of(loading.data);
  }
  if (plan_batches(question).is_resident())
    make_eager_ = [&dataset = with.dataset, &device = place.device, loading]() mutable {
      loading.data = {};  // on the host
      return std::make_unique<LoaderPredictions>(dataset, loading, device);
    };
  predictions_ = make_predictions(question, {with.dataset, loading, place.device, place.comm, with.model});
}

Predictions& PredictorBatches::eager() {
  if (!make_eager_) return *predictions_;
  if (!eager_) eager_ = make_eager_();
  return *eager_;
}

}  // namespace salient
