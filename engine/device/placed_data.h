// engine/device/placed_data.h - what of a data set stands in GPU memory while a model is applied to it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/device/compute_device.h"
#include "loaders/residency.h"
#include "loaders/resident_data.h"
#include "store/dataset.h"

namespace salient {

/// None: in GPU memory if it takes half of what is free at most.
///
/// @param reserved  bytes of GPU memory that something else needs
/// @throws Error{kNoDevice} for kDevice without a GPU; Error{kDeviceMemory}.
ResidentData place_data(std::optional<Residency> features, std::optional<GraphResidency> sampler,
                        const Dataset& dataset, const ComputeDevice& device, std::int64_t reserved = 0);

}  // namespace salient
