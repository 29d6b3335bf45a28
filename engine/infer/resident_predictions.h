// engine/infer/resident_predictions.h - predictions that stay on the GPU, where model, fanouts and data allow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"
#include "loaders/residency.h"
#include "models/describe/model_options.h"
#include "models/model.h"
#include "models/numerics.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

/// A model and the batches that it sees, in training or in inference.
struct ResidentSpec {
  ModelOptions model{};  ///< but for in_dim and num_classes, which are the data set's
  SamplingRule rule{};
  std::size_t max_seeds = 1;  ///< of a batch on this rank
  Numerics numerics{};
};

/// The model with the data set's widths.
ModelOptions model_of(const ResidentSpec& spec, const Dataset& dataset);

/// What prevents batches that stay on the GPU, of training or prediction, as a fact; "" = nothing. Depends on the
/// arguments alone.
std::string obstacle_to_resident(const ResidentSpec& spec, const Dataset& dataset, const DataResidency& data);

/// Which data is in GPU memory, as obstacle_to_resident() asks.
DataResidency residency_of(const ResidentView& data);

/// GPU memory that predictions take beside graph and features, in bytes. Only without an obstacle.
std::int64_t resident_predictions_bytes(const ResidentSpec& spec, const Dataset& dataset);

/// Without an obstacle. Blocks: allocates, and times matrix products for a fraction of a second. They hand out no
/// layers, only logits; the host is a few batches ahead of the GPU at most.
///
/// @param dataset, device  outlive the result   @param data  of the data set; what it refers to outlives the result
/// @param model  on the device, of the kind that start() is called with; another one's tensors make it allocate again
/// @throws Error{kDeviceMemory}
std::unique_ptr<Predictions> make_resident_predictions(const ResidentSpec& spec, const Dataset& dataset,
                                                       const ResidentView& data, const ComputeDevice& device,
                                                       const Model& model);

/// Whether this build can.
bool has_resident_predictions();

}  // namespace salient
