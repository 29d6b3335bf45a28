// apps/pinning.cpp - see pinning.h.
#include "apps/pinning.h"

#include <sstream>
#include <vector>

#include "core/value_text.h"
#include "engine/comm/host_share.h"
#include "engine/comm/numa_affinity.h"
#include "engine/device/gpu.h"

namespace salient {
namespace {

/// -1 = unknown
int numa_node_of(const ComputeDevice& device) {
  return device.is_cuda() ? numa_node_of_pci(gpu::pci_bus_id(device.torch_device().index())) : -1;
}

}  // namespace

std::string pin_near_device(Communicator& comm, const Launch& launch, const ComputeDevice& device) {
  const std::vector<NumaNode> nodes = numa_nodes();
  int num_cores = 0;
  for (const NumaNode& node : nodes) num_cores += static_cast<int>(node.cores.size());
  // The ranks of a host may have been bound apart: then they see different nodes, and keep their cores.
  const std::string mine = std::to_string(launch.first_on_host) + " " + std::to_string(nodes.size()) + " " +
                           std::to_string(num_cores) + " " + std::to_string(numa_node_of(device));
  std::vector<int> gpu_nodes;
  bool is_bound = launch.ranks_on_host > 1 && num_cores < launch.cores_of_host;
  for (const std::string& of_rank : gather_on_all(comm, mine)) {
    int first = 0, num_nodes = 0, cores = 0, gpu_node = 0;
    std::istringstream(of_rank) >> first >> num_nodes >> cores >> gpu_node;
    if (first != launch.first_on_host) continue;
    gpu_nodes.push_back(gpu_node);
    is_bound |= num_nodes != static_cast<int>(nodes.size()) || cores != num_cores;
  }
  if (is_bound) return "-";
  const std::vector<int> home = nodes_of_ranks(nodes, gpu_nodes)[static_cast<std::size_t>(launch.local_rank)];
  return home.empty() || !stay_on(nodes, home) ? "-" : to_text(home);
}

}  // namespace salient
