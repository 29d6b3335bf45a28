// engine/infer/resident_predictions.h - predictions that stay on the GPU, where model, fanouts and data allow it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"
#include "engine/plan/batch_plan.h"
#include "loaders/residency.h"
#include "models/model.h"
#include "store/dataset.h"

namespace salient {

/// GPU memory that predictions take beside graph and features, in bytes. Only for a spec that plan_batches() takes.
std::int64_t resident_predictions_bytes(const ResidentSpec& spec, const Dataset& dataset);

/// Likewise. Blocks: allocates, and times matrix products for a fraction of a second. They hand out no
/// layers, only logits; the host is a few batches ahead of the GPU at most.
///
/// @param dataset, device  outlive the result   @param data  of the data set; what it refers to outlives the result
/// @param model  on the device, of the kind that start() is called with; another one's tensors make it allocate again
/// @throws Error{kDeviceMemory}
std::unique_ptr<Predictions> make_resident_predictions(const ResidentSpec& spec, const Dataset& dataset,
                                                       const ResidentView& data, const ComputeDevice& device,
                                                       const Model& model);

}  // namespace salient
