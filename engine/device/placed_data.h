// engine/device/placed_data.h - what of a data set stands in GPU memory while a model is applied to it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/device/compute_device.h"
#include "loaders/resident_data.h"
#include "store/dataset.h"

namespace salient {

/// --features and --sampler: "host", "device", or "auto", the device if it takes half of the free memory at most.
///
/// @param reserved  bytes of GPU memory that something else needs
/// @throws Error{kNoDevice} for "device" without a GPU; Error{kDeviceMemory}.
ResidentData place_data(const std::string& features, const std::string& sampler, const Dataset& dataset,
                        const ComputeDevice& device, std::int64_t reserved = 0);

}  // namespace salient
