// engine/infer/model_on_ranks.h - a model, the device it is on, and the ranks that apply it together.
#pragma once

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "models/model.h"

namespace salient {

/// The same model on every rank. A value of references: what they refer to outlives it.
struct ModelOnRanks {
  Model& model;  ///< on `device`
  const ComputeDevice& device;
  Communicator& comm;
};

}  // namespace salient
