// tests/engine/comm/numa_affinity_test.cpp - ranks run next to their GPU or share the nodes, on hosts made up by hwloc.
#include "engine/comm/numa_affinity.h"

#include <gtest/gtest.h>

#include <set>

namespace salient {
namespace {

using Homes = std::vector<std::vector<int>>;

std::vector<int> no_gpus(std::size_t num_ranks) { return std::vector<int>(num_ranks, -1); }

TEST(NumaAffinity, FindsNodesAndTheirCores) {
  const std::vector<NumaNode> nodes = numa_nodes("numa:2 core:4 pu:2");
  ASSERT_EQ(nodes.size(), 2u);
  std::set<int> cores;
  for (const NumaNode& node : nodes) {
    EXPECT_EQ(node.cores.size(), 8u);
    cores.insert(node.cores.begin(), node.cores.end());
  }
  EXPECT_EQ(cores.size(), 16u);
  EXPECT_EQ(nodes[1].number, 1);
}

TEST(NumaAffinity, ALargeHostHasAllItsCores) {
  const std::vector<NumaNode> nodes = numa_nodes("numa:2 core:3 pu:1000");
  ASSERT_EQ(nodes.size(), 2u);
  for (const NumaNode& node : nodes) EXPECT_EQ(node.cores.size(), 3000u);
}

TEST(NumaAffinity, FindsThisHost) {
  std::size_t num_cores = 0;
  for (const NumaNode& node : numa_nodes()) num_cores += node.cores.size();
  EXPECT_GE(num_cores, 1u);
}

TEST(NumaAffinity, RanksStayNextToTheirGpus) {
  const auto nodes = numa_nodes("numa:2 core:32 pu:1");
  EXPECT_EQ(nodes_of_ranks(nodes, {0, 0, 1, 1}), (Homes{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(nodes_of_ranks(nodes, {1, 0}), (Homes{{1}, {0}}));
}

TEST(NumaAffinity, NoCoreIsLeftOverForTheSakeOfNearness) {
  const auto nodes = numa_nodes("numa:2 core:32 pu:1");
  EXPECT_EQ(nodes_of_ranks(nodes, {0, 0}), Homes(2));      // node 1 would be idle
  EXPECT_EQ(nodes_of_ranks(nodes, {0}), Homes(1));         // one rank has the whole host
  EXPECT_EQ(nodes_of_ranks(nodes, no_gpus(3)), Homes(3));  // uneven
  EXPECT_EQ(nodes_of_ranks(numa_nodes("numa:1 core:8 pu:1"), no_gpus(2)), Homes(2));
}

TEST(NumaAffinity, RanksWithoutGpusShareTheNodesEvenly) {
  EXPECT_EQ(nodes_of_ranks(numa_nodes("numa:2 core:4 pu:1"), no_gpus(4)), (Homes{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(nodes_of_ranks(numa_nodes("numa:4 core:4 pu:1"), no_gpus(2)), (Homes{{0, 1}, {2, 3}}));
  EXPECT_EQ(nodes_of_ranks(numa_nodes("numa:2 core:4 pu:1"), {0, -1}), (Homes{{0}, {1}}));  // one is not known
}

TEST(NumaAffinity, StayingOnAllNodesIsAllowed) {
  const auto nodes = numa_nodes();
  std::vector<int> numbers;
  for (const NumaNode& node : nodes) numbers.push_back(node.number);
  EXPECT_TRUE(stay_on(nodes, numbers));
  EXPECT_EQ(numa_nodes().size(), nodes.size());
  EXPECT_FALSE(stay_on(nodes, {}));  // nowhere
}

TEST(NumaAffinity, AnUnknownDeviceIsNearNoNode) { EXPECT_EQ(numa_node_of_pci("ffff:ff:1f.7"), -1); }

}  // namespace
}  // namespace salient
