// models/num_parameters.h - how many parameters a model has, without making it.
#pragma once

#include <cstdint>

#include "models/model_options.h"

namespace salient {

/// Numbers that training changes; buffers are not counted.
/// @param options  make_model() would take them
/// Oracle: the sum over make_model(options)->parameters()
std::int64_t num_parameters(const ModelOptions& options);

}  // namespace salient
