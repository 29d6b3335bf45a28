// engine/device/machine_options.h - where a run computes, and what it takes of the machine, as a user may choose it.
#pragma once

#include <optional>

#include "core/device_kind.h"
#include "loaders/residency.h"

namespace salient {

/// None and 0 mean: what suits the machine.
struct MachineOptions {
  std::optional<DeviceKind> device{};
  std::optional<Residency> features{};
  double cache_gb = 0;                           ///< GPU memory for the rows of Residency::kCached; 0 = what is left
  CachePolicy cache_policy = CachePolicy::kVip;  ///< which rows those are, and those of the graph
  std::optional<GraphResidency> sampler{};
  double graph_gb = 0;  ///< GPU memory for the graph; 0 = for all of it, or what is left
  int workers = 0;      ///< threads that prepare batches
  int threads = 0;      ///< of the dense layers on a CPU
  int slots = 0;        ///< batches in flight

  bool operator==(const MachineOptions&) const = default;
};

}  // namespace salient
