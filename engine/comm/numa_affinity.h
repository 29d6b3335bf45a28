// engine/comm/numa_affinity.h - on which NUMA nodes of a host its ranks run.
#pragma once

#include <string>
#include <vector>

namespace salient {

struct NumaNode {
  int number = 0;
  std::vector<int> cores{};  ///< logical processors that this process may run on
};

/// The nodes that have such cores.
/// @param synthetic  a made-up host instead of this one, in hwloc's notation: "numa:2 core:4 pu:2".
std::vector<NumaNode> numa_nodes(const std::string& synthetic = {});

/// The node next to a PCI device; -1 = the kernel does not know.
/// @param bus_id  in CUDA's notation: "0000:3B:00.0".
int numa_node_of_pci(const std::string& bus_id);

/// For every rank of a host, the numbers of the nodes to run on: those next to its GPU; without GPUs an even share.
///
/// @param nodes      of the host.
/// @param gpu_nodes  [ranks on the host]; -1 = no GPU, or not known where.
/// @return [ranks] node numbers. All empty = no rank is bound: on a host of one node, for one rank, and where binding
///         would leave some ranks fewer cores than an even share.
std::vector<std::vector<int>> nodes_of_ranks(const std::vector<NumaNode>& nodes, const std::vector<int>& gpu_nodes);

/// Binds this thread, and those that it starts afterwards, to the cores of these nodes.
/// @return whether the kernel allowed it.
bool stay_on(const std::vector<NumaNode>& nodes, const std::vector<int>& numbers);

}  // namespace salient
