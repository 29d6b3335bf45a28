// engine/infer/resident_model.h - models, data and specs of the engine as models/resident takes them. In a CUDA build.
#pragma once

#include <span>
#include <vector>

#include "engine/infer/resident_predictions.h"
#include "loaders/batch_source.h"
#include "models/resident/sage_layers.h"

namespace salient {

/// With the model's dropout, for training.
SageShape sage_shape_of(const ResidentSpec& spec, const Dataset& dataset);

/// Of batches that stay on the GPU: sampled, never copied.
LoaderStats loader_stats_of(std::span<const BatchRequest> batches, const SageCounts& counts);

/// @param data  has graph and features in GPU memory
SageData sage_data_of(const Dataset& dataset, const ResidentView& data);

/// The parameters of a GraphSAGE model on the GPU, and their gradients where they have some.
std::vector<SageWeights> sage_weights_of(const Model& model);

}  // namespace salient
