// engine/infer/resident_model.h - models, data and specs of the engine as models/resident takes them. In a CUDA build.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/plan/batch_plan.h"
#include "loaders/batch_source.h"
#include "models/model.h"
#include "models/resident/model_step.h"
#include "models/resident/sage_layers.h"

namespace salient {

/// With the model's dropout, for training.
SageShape sage_shape_of(const ResidentSpec& spec, const Dataset& dataset);

/// Of the models but is_plain_sage(), with the model's dropout.
ModelStepShape model_step_shape_of(const ResidentSpec& spec, const Dataset& dataset, StepUse use);

/// Parameters and buffers of a model on the GPU by their names, with the gradients of those that have some.
std::map<std::string, StepTensor> step_tensors_of(const Model& model);

/// Of batches that stay on the GPU: sampled, never copied.
LoaderStats loader_stats_of(std::span<const BatchRequest> batches, const StepCounts& counts);

/// @param data  has graph and features in GPU memory
StepInputs sage_data_of(const Dataset& dataset, const ResidentView& data);

/// The parameters of a GraphSAGE model on the GPU, and their gradients where they have some.
std::vector<SageWeights> sage_weights_of(const Model& model);

}  // namespace salient
