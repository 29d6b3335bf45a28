// engine/apps/placement.cpp - see placement.h.
#include "engine/apps/placement.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "engine/core/log.h"
#include "engine/core/machine.h"

namespace salient {
namespace {

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

std::string device_text(const ComputeDevice& device, int local_rank) {
  if (!device.is_cuda()) return "cpu";
  const auto memory = device.memory();
  return device.name() + " #" +
         std::to_string(
             static_cast<int>(device.torch_device().index() < 0 ? local_rank : device.torch_device().index())) +
         (memory ? ", " + gigabytes(memory->free_bytes) + " free" : "");
}

}  // namespace

void log_placement(Communicator& comm, const Launch& launch, const ComputeDevice& device, const TrainOptions& options) {
  if (comm.size() == 1) return;
  char row[256];
  (void)std::snprintf(row, sizeof row, "%-20.64s %-34.100s %5d %7d  %s", launch.host.c_str(),
                      device_text(device, launch.local_rank).c_str(), launch.cores, options.workers,
                      gigabytes(available_host_bytes()).c_str());
  const std::vector<std::string> rows = comm.gather(row);
  const std::vector<std::string> problems = comm.gather(affinity_problem(launch));
  if (comm.rank() != 0) return;
  log_info("rank  host                 device                             cores workers  free memory of host");
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const std::string number = std::to_string(rank);
    log_info(std::string(4 - std::min<std::size_t>(4, number.size()), ' ') + number + "  " + rows[rank]);
  }
  for (const std::string& problem : problems) {
    if (problem.empty()) continue;
    log_warning(problem);
    break;
  }
}

}  // namespace salient
