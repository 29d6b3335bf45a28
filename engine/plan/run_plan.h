// engine/plan/run_plan.h - a run, resolved: where its data is, how and in which precision its batches are computed.
#pragma once

#include <optional>

#include "engine/comm/communicator.h"
#include "engine/device/data_plan.h"
#include "engine/plan/batch_plan.h"
#include "store/dataset.h"

namespace salient {

/// What a training asks for.
struct RunRequest {
  std::optional<StepKind> step{};         ///< none: resident where that is possible and faster
  std::optional<Precision> precision{};   ///< none: bf16 where training steps in bf16 are resident, fp32 elsewhere
  ResidentSpec training{}, evaluation{};  ///< in any precision
};

/// A value: made once a run, before its model, and read by all that computes.
struct RunPlan {
  DataPlan data{};
  BatchPlan training{}, evaluation{};
  bool may_fuse_layers = true;  ///< false in a benchmark, see SageShape::may_fuse

  Precision precision() const { return training.spec.numerics.precision; }
};

/// For a rank alone. Depends on the arguments alone.
RunPlan resolve(const RunRequest& request, const Dataset& dataset, const DataPlan& data);

/// The same precision on all ranks, whose data may be in different places: gradients of two would be added up.
/// Collective.
RunPlan resolve(const RunRequest& request, const Dataset& dataset, const DataPlan& data, Communicator& comm);

}  // namespace salient
