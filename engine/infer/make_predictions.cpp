// engine/infer/make_predictions.cpp - see make_predictions.h.
#include "engine/infer/make_predictions.h"

#include "core/console/log.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/resident_predictions.h"
#include "engine/remote/partitioned_batches.h"

namespace salient {

std::unique_ptr<Predictions> make_predictions(const BatchPlan& plan, const PredictionParts& parts) {
  if (plan.is_resident())
    return make_resident_predictions(plan.spec, parts.dataset, parts.loading.data, parts.device, parts.model);
  return std::make_unique<LoaderPredictions>(make_batches(parts.dataset, parts.loading, parts.comm), parts.device);
}

std::unique_ptr<Predictions> make_predictions(const StepQuestion& question, const PredictionParts& parts) {
  const BatchPlan plan = plan_batches(question);
  require_asked("resident predictions", question.asked, plan);
  if (parts.comm.rank() == 0 && parts.device.is_cuda()) log_info(to_text("predictions", plan));
  return make_predictions(plan, parts);
}

}  // namespace salient
