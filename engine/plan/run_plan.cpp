// engine/plan/run_plan.cpp - see run_plan.h.
#include "engine/plan/run_plan.h"

#include <utility>

#include "engine/comm/agreement.h"

namespace salient {
namespace {

RunPlan plan_in(Precision precision, const RunRequest& request, const Dataset& dataset, const DataPlan& data) {
  const auto batches = [&](Purpose purpose, ResidentSpec spec) {
    spec.numerics.precision = precision;
    return plan_batches({.purpose = purpose,
                         .spec = std::move(spec),
                         .dataset = dataset,
                         .data = data.residency,
                         .asked = request.step});
  };
  RunPlan plan{.data = data,
               .training = batches(Purpose::kTraining, request.training),
               .evaluation = batches(Purpose::kEvaluation, request.evaluation)};
  if (!plan.training.is_resident()) {
    plan.evaluation.kind = StepKind::kEager;
    plan.evaluation.why = "training steps are eager";
  }
  return plan;
}

}  // namespace

RunPlan resolve(const RunRequest& request, const Dataset& dataset, const DataPlan& data) {
  if (request.precision) return plan_in(*request.precision, request, dataset, data);
  RunPlan in_bf16 = plan_in(Precision::kBf16, request, dataset, data);
  return in_bf16.training.is_resident() ? in_bf16 : plan_in(Precision::kFp32, request, dataset, data);
}

RunPlan resolve(const RunRequest& request, const Dataset& dataset, const DataPlan& data, Communicator& comm) {
  RunPlan plan = resolve(request, dataset, data);
  if (request.precision || on_all_ranks(comm, plan.precision() == Precision::kBf16)) return plan;
  return plan_in(Precision::kFp32, request, dataset, data);
}

}  // namespace salient
