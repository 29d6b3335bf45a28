// engine/device/gpu_links.cpp - see gpu_links.h.
#include "engine/device/gpu_links.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/agreement.h"
#include "engine/comm/host_share.h"

namespace salient {
namespace {

/// The first text of a rank that is not empty, on all ranks. Collective.
std::string first_of_all(Communicator& comm, const std::string& text) {
  for (std::string& found : gather_on_all(comm, text))
    if (!found.empty()) return std::move(found);
  return "";
}

}  // namespace

PeerReach reach_of_all_gpus(Communicator& comm, const ComputeDevice& device) {
  std::string own;
  together(comm, [&] { own = device.is_cuda() ? name_of_current_gpu() : ""; });
  const std::vector<std::string> gpus = gather_on_all(comm, own);
  if (std::ranges::find(gpus, "") != gpus.end()) return {};
  PeerReach mine;
  together(comm, [&] { mine = reach_of_current_gpu(gpus); });
  return {.obstacle = first_of_all(comm, mine.obstacle), .slow_link = first_of_all(comm, mine.slow_link)};
}

}  // namespace salient
