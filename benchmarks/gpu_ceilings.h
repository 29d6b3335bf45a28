// benchmarks/gpu_ceilings.h - what this GPU does at most, measured: what a step's parts are compared with.
#pragma once

#include <optional>

#include "engine/device/compute_device.h"
#include "models/describe/model_options.h"

namespace salient {

struct GpuCeilings {
  double bytes_per_second;       ///< read and written by a copy of 256 MiB within GPU memory
  double operations_per_second;  ///< of torch's product of two matrices of 8192 x 8192
};

/// The best of some runs, half a second in all; the product in this precision. None where the GPU's memory has no room.
/// @param device  a GPU
std::optional<GpuCeilings> measure_gpu_ceilings(const ComputeDevice& device, Precision precision);

}  // namespace salient
