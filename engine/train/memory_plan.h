// engine/train/memory_plan.h - what a run will need, known before it is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

struct MemoryPlan {
  struct Line {
    std::string what;
    std::int64_t host_bytes = 0;
    std::int64_t device_bytes = 0;
  };
  std::vector<Line> lines{};
  std::int64_t host_bytes = 0, device_bytes = 0;          ///< sums, file mappings left out
  std::int64_t host_available = 0, device_available = 0;  ///< now; device 0 on a CPU
  std::size_t cached_rows = 0;                            ///< with Residency::kCached
};

/// Sets options.machine.features and sampler to what they mean on this machine, and options.cached_rows to how many fit.
/// None is the device if everything else fits beside it; where only one of features and graph fits, the features have
/// it; where neither all features nor the graph beside them do, the graph has it, and as many feature rows as are left
/// room for, if they are worth it. Said in one line at log level info where there is a GPU.
/// @param options            resolved for the machine, but for these.
/// @param free_device_bytes  of GPU memory; nullopt on a CPU
/// @param num_ranks          that share a global batch
/// @return           the plan of the run so resolved.
/// @throws Error{kNoDevice} for kDevice or kCached without a GPU.
MemoryPlan choose_places(TrainOptions& options, const Dataset& dataset, std::optional<std::int64_t> free_device_bytes,
                         int num_ranks);

/// Samples a few batches of the run itself, since their size depends on the graph; allocates nothing lasting.
/// @param options  resolved, but for cached_rows. The others as above.
MemoryPlan plan_memory(const TrainOptions& options, const Dataset& dataset,
                       std::optional<std::int64_t> free_device_bytes, int num_ranks);

/// The plan as a table.
std::string to_text(const MemoryPlan& plan);

/// @throws Error{kHostMemory} or Error{kDeviceMemory}.
void check(const MemoryPlan& plan);

}  // namespace salient
