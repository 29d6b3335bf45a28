// engine/comm/numa_affinity.cpp - see numa_affinity.h.
#include "engine/comm/numa_affinity.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "core/error.h"
#include "core/host/machine.h"
#include "core/lower_case.h"

namespace salient {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology load(const std::string& synthetic) {
  hwloc_topology_t raw = nullptr;
  require(hwloc_topology_init(&raw) == 0, "hwloc starts");
  Topology topology(raw);
  if (!synthetic.empty()) require(hwloc_topology_set_synthetic(raw, synthetic.c_str()) == 0, "a topology of hwloc");
  require(hwloc_topology_load(raw) == 0, "hwloc finds a topology");
  return topology;
}

std::size_t cores_on(const std::vector<NumaNode>& nodes, const std::vector<int>& numbers) {
  std::size_t count = 0;
  for (const NumaNode& node : nodes)
    if (std::ranges::find(numbers, node.number) != numbers.end()) count += node.cores.size();
  return count;
}

}  // namespace

std::vector<NumaNode> numa_nodes(const std::string& synthetic) {
  const Topology topology = load(synthetic);
  // Empty = every core: of a made-up host, or where the kernel has no mask.
  const std::vector<int> usable = synthetic.empty() ? cores_of_process() : std::vector<int>();
  std::vector<NumaNode> nodes;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    NumaNode found{.number = static_cast<int>(node->os_index)};
    for (int core = hwloc_bitmap_first(node->cpuset); core >= 0; core = hwloc_bitmap_next(node->cpuset, core))
      if (usable.empty() || std::ranges::binary_search(usable, core)) found.cores.push_back(core);
    if (!found.cores.empty()) nodes.push_back(std::move(found));  // no rank can run on a node without cores
  }
  return nodes;
}

int numa_node_of_pci(const std::string& bus_id) {
  const std::string name = lower(bus_id);
  int node = -1;
  std::ifstream("/sys/bus/pci/devices/" + name + "/numa_node") >> node;
  return node;
}

std::vector<std::vector<int>> nodes_of_ranks(const std::vector<NumaNode>& nodes, const std::vector<int>& gpu_nodes) {
  const std::size_t num_ranks = gpu_nodes.size(), num_nodes = nodes.size();
  std::vector<std::vector<int>> anywhere(num_ranks);
  if (num_nodes < 2 || num_ranks < 2) return anywhere;
  const bool are_gpus_placed = std::ranges::all_of(
      gpu_nodes, [&](int gpu) { return std::ranges::find(nodes, gpu, &NumaNode::number) != nodes.end(); });
  std::vector<std::vector<int>> homes(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    if (are_gpus_placed) {
      homes[rank] = {gpu_nodes[rank]};
      continue;
    }
    const std::size_t first = rank * num_nodes / num_ranks, end = (rank + 1) * num_nodes / num_ranks;
    for (std::size_t n = first; n < std::max(first + 1, end); ++n) homes[rank].push_back(nodes[n].number);
  }
  std::size_t num_cores = 0;
  for (const NumaNode& node : nodes) num_cores += node.cores.size();
  for (const std::vector<int>& home : homes) {
    const auto sharers = static_cast<std::size_t>(std::ranges::count(homes, home));
    if (cores_on(nodes, home) * num_ranks < num_cores * sharers) return anywhere;
  }
  return homes;
}

bool stay_on(const std::vector<NumaNode>& nodes, const std::vector<int>& numbers) {
  std::vector<int> cores;
  for (const NumaNode& node : nodes)
    if (std::ranges::find(numbers, node.number) != numbers.end())
      cores.insert(cores.end(), node.cores.begin(), node.cores.end());
  if (cores.empty()) return false;
  const int num_bits = std::ranges::max(cores) + 1;
  cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(num_bits));
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(num_bits));
  CPU_ZERO_S(bytes, set);
  for (const int core : cores) CPU_SET_S(static_cast<std::size_t>(core), bytes, set);
  const bool is_done = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return is_done;
}

}  // namespace salient
