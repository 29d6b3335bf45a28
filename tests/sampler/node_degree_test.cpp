// tests/sampler/node_degree_test.cpp - degrees are what counting the entries of each row gives.
#include "sampler/node_degree.h"

#include <gtest/gtest.h>

#include <vector>

#include "sampler/batch_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

TEST(NodeDegrees, CountEntriesAndSelfLoopsOfAnyNodesInAnyOrder) {
  for (const NodeId num_nodes : {1u, 60u, 3000u})
    for (const double mean_degree : {0.0, 1.0, 40.0}) {
      const test::OwnedGraph graph = test::sorted(test::power_law_graph(num_nodes, mean_degree, 1));
      for (const NodeId step : {1u, 7u}) {
        std::vector<NodeId> nodes;
        for (NodeId v = num_nodes; v-- > 0;)
          if (v % step == 0) nodes.push_back(v);
        std::vector<NodeDegree> degrees(nodes.size(), {-1, -1});
        read_degrees(graph.view(), nodes, degrees.data());
        EXPECT_EQ(degrees, test::counted_degrees(graph.view(), nodes));
      }
    }
}

TEST(NodeDegrees, OfAGraphWithSelfLoopsAndRepeats) {
  test::OwnedGraph graph;
  for (const EdgeOffset end : {3, 3, 6, 7}) graph.indptr.push_back(end);
  for (const NodeId entry : {1u, 2u, 3u, 2u, 2u, 3u, 0u}) graph.indices.push_back(entry);
  std::vector<NodeDegree> degrees(4);
  read_degrees(graph.view(), std::vector<NodeId>{2, 0, 1, 3}, degrees.data());
  EXPECT_EQ(degrees, (std::vector<NodeDegree>{{3, 2}, {3, 0}, {0, 0}, {1, 0}}));
}

TEST(HostBatchSampler, WritesTheDegreesOfABatchIfAsked) {
  const test::OwnedGraph graph = test::sorted(test::power_law_graph(500, 9, 1));
  HostBatchSampler sampler(graph.view(), {{kAllNeighbors}});
  const std::vector<NodeId> seeds{17, 3, 499};
  const MfgShape& shape = sampler.sample(seeds, {});
  std::vector<NodeId> nodes(static_cast<std::size_t>(shape.num_nodes));
  std::vector<LocalId> indptr(seeds.size() + 1), indices(static_cast<std::size_t>(shape.hops[0].num_edges));
  const std::vector<MfgMemory::Hop> hops{{indptr.data(), indices.data()}};
  std::vector<NodeDegree> degrees(nodes.size(), {-1, -1});
  sampler.copy_to({nodes.data(), hops, degrees.data()});
  EXPECT_EQ(degrees, test::counted_degrees(graph.view(), nodes));
  EXPECT_EQ(degrees[0].entries, indptr[1]) << "a seed keeps its whole row here";
}

}  // namespace
}  // namespace salient
