// engine/comm/numa_place.h - which memories (NUMA nodes) of a host its ranks stay near.
#pragma once

#include <string>
#include <vector>

namespace salient {

struct NumaNode {
  int number = 0;
  std::vector<int> cores{};  ///< logical processors that this process may run on
};

/// The nodes that have such cores.
/// @param synthetic  instead of this host, one that hwloc makes up: "numa:2 core:4 pu:2".
std::vector<NumaNode> numa_nodes(const std::string& synthetic = {});

/// The node that a PCI device is next to; -1 = the kernel does not know.
/// @param bus_id  as CUDA tells it: "0000:3B:00.0".
int numa_node_of_pci(const std::string& bus_id);

/// For every rank of a host, numbers of the nodes to stay on: those next to its GPU, else ranks are spread evenly.
///
/// @param nodes      of the host.
/// @param gpu_nodes  [ranks on the host]; -1 = no GPU, or not known where.
/// @return per rank; empty = anywhere, for all ranks: on one node, for one rank, and when staying would cost one rank
///         cores that another has left over.
std::vector<std::vector<int>> nodes_of_ranks(const std::vector<NumaNode>& nodes, const std::vector<int>& gpu_nodes);

/// This thread and those it starts from now on run on the cores of these nodes only.
/// @return whether the kernel allowed it.
bool stay_on(const std::vector<NumaNode>& nodes, const std::vector<int>& numbers);

}  // namespace salient
