// apps/placement.cpp - see placement.h.
#include "apps/placement.h"

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "engine/comm/host_share.h"
#include "engine/comm/numa_affinity.h"
#if SALIENT_HAS_CUDA
#include "core/cuda/cuda.h"
#endif

namespace salient {
namespace {

std::string device_text(const ComputeDevice& device, int local_rank) {
  if (!device.is_cuda()) return "cpu";
  const auto memory = device.memory();
  return device.name() + " #" +
         std::to_string(
             static_cast<int>(device.torch_device().index() < 0 ? local_rank : device.torch_device().index())) +
         (memory ? ", " + gigabytes(memory->free_bytes, 1) + " free" : "");
}

/// -1 = unknown
int numa_node_of([[maybe_unused]] const ComputeDevice& device) {
#if SALIENT_HAS_CUDA
  char bus_id[32] = "";
  if (device.is_cuda() && cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device.torch_device().index()) == cudaSuccess)
    return numa_node_of_pci(bus_id);
#endif
  return -1;
}

Placement gather_placement(Communicator& comm, const Launch& launch, const ComputeDevice& device, int num_workers,
                           const std::string& place) {
  const std::vector<std::pair<std::string, std::string>> own = {{"rank", std::to_string(comm.rank())},
                                                                {"host", launch.host},
                                                                {"device", device_text(device, launch.local_rank)},
                                                                {"numa_nodes", place},
                                                                {"cores", std::to_string(launch.cores)},
                                                                {"workers", std::to_string(num_workers)},
                                                                {"free_memory", gigabytes(available_host_bytes(), 1)}};
  Placement placement;
  for (const auto& [name, value] : own) {
    const std::vector<std::string> of_rank = comm.gather(value);
    placement.resize(of_rank.size());
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) placement[rank][name] = of_rank[rank];
  }
  return placement;
}

}  // namespace

std::string stay_near_device(Communicator& comm, const Launch& launch, const ComputeDevice& device) {
  const std::vector<NumaNode> nodes = numa_nodes();
  int num_cores = 0;
  for (const NumaNode& node : nodes) num_cores += static_cast<int>(node.cores.size());
  // The ranks of a host may have been bound apart: then they know different nodes, and stay where they are.
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

Placement log_placement(Communicator& comm, const Launch& launch, const ComputeDevice& device, int num_workers,
                        const std::string& place) {
  Placement placement = gather_placement(comm, launch, device, num_workers, place);
  if (comm.size() == 1) return placement;
  const std::vector<std::string> problems = comm.gather(affinity_problem(launch));
  if (comm.rank() != 0) return placement;
  log_info("rank  host                 device                             NUMA  cores workers  free memory of host");
  for (const auto& row : placement) {
    char line[256];
    (void)std::snprintf(line, sizeof line, "%4s  %-20.64s %-34.100s %-5.20s %5s %7s  %s", row.at("rank").c_str(),
                        row.at("host").c_str(), row.at("device").c_str(), row.at("numa_nodes").c_str(),
                        row.at("cores").c_str(), row.at("workers").c_str(), row.at("free_memory").c_str());
    log_info(line);
  }
  for (const std::string& problem : problems) {
    if (problem.empty()) continue;
    log_warning(problem);
    break;
  }
  return placement;
}

}  // namespace salient
