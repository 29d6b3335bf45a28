// engine/device/placed_data.cpp - see placed_data.h.
#include "engine/device/placed_data.h"

#include "core/error.h"

namespace salient {
namespace {

/// @param option  what it is called
bool is_on_device(const std::string& choice, const std::string& option, std::int64_t bytes, std::int64_t reserved,
                  const ComputeDevice& device) {
  const auto memory = device.memory();
  if (choice == "device" && !memory) fail(ErrorKind::kNoDevice, option + " device needs a GPU, and there is none");
  if (choice == "auto") return memory && bytes <= (memory->free_bytes - reserved) / 2;
  return choice == "device";
}

}  // namespace

ResidentData place_data(const std::string& features, const std::string& sampler, const Dataset& dataset,
                        const ComputeDevice& device, std::int64_t reserved) {
  DataResidency residency;
  const auto feature_bytes = static_cast<std::int64_t>(dataset.features.num_rows * dataset.features.row_bytes);
  if (is_on_device(features, "--features", feature_bytes, reserved, device)) residency.features = Residency::kDevice;
  if (is_on_device(sampler, "--sampler", dataset.graph.num_bytes(), reserved, device))
    residency.graph = GraphResidency::kDevice;
  return ResidentData(dataset, residency);
}

}  // namespace salient
