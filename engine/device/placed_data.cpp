// engine/device/placed_data.cpp - see placed_data.h.
#include "engine/device/placed_data.h"

#include <string>

#include "core/error.h"

namespace salient {
namespace {

/// @param what  for messages
template <class Where>
bool is_on_device(std::optional<Where> choice, const char* what, std::int64_t bytes, std::int64_t reserved,
                  const ComputeDevice& device) {
  const auto memory = device.memory();
  if (choice == Where::kDevice && !memory)
    fail(ErrorKind::kNoDevice, std::string(what) + " in GPU memory: there is no GPU", Topic::kDevice);
  if (!choice) return memory && bytes <= (memory->free_bytes - reserved) / 2;
  return choice == Where::kDevice;
}

}  // namespace

ResidentData place_data(std::optional<Residency> features, std::optional<GraphResidency> sampler,
                        const Dataset& dataset, const ComputeDevice& device, std::int64_t reserved) {
  if (features == Residency::kCached)
    fail(ErrorKind::kUsage, "inference has no cache of feature rows", Topic::kDeviceFeatures);
  DataResidency residency;
  const auto feature_bytes = static_cast<std::int64_t>(dataset.features.num_rows * dataset.features.row_bytes);
  if (is_on_device(features, "features", feature_bytes, reserved, device)) residency.features = Residency::kDevice;
  if (is_on_device(sampler, "the graph", dataset.graph.num_bytes(), reserved, device))
    residency.graph = GraphResidency::kDevice;
  return ResidentData(dataset, residency);
}

}  // namespace salient
