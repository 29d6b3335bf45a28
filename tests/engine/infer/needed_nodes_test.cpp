// tests/engine/infer/needed_nodes_test.cpp - the nodes that a walk backwards reaches, in one order for all layers.
#include "engine/infer/needed_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/datasets.h"

namespace salient {
namespace {

TEST(NeededNodes, AreThoseThatAWalkBackwardsReaches) {
  const Dataset dataset = test::generated_dataset(2000, 2, 4);
  for (const int num_layers : {1, 2, 4})
    for (const std::vector<NodeId>& targets :
         {std::vector<NodeId>{17, 3, 399, 0, 250, 4}, test::all_nodes(dataset), std::vector<NodeId>{5}}) {
      const NeededNodes needed = find_needed_nodes(dataset.graph, targets, num_layers);
      std::set<NodeId> expected(targets.begin(), targets.end());
      ASSERT_EQ(needed.num_after.size(), static_cast<std::size_t>(num_layers));
      for (std::size_t layer = needed.num_after.size(); layer-- > 0;) {
        const auto nodes = needed.after(layer);
        EXPECT_EQ(std::set<NodeId>(nodes.begin(), nodes.end()), expected);
        EXPECT_EQ(nodes.size(), expected.size()) << "each once";
        for (const NodeId v : std::vector<NodeId>(expected.begin(), expected.end()))
          for (EdgeOffset e = dataset.graph.indptr[v]; e < dataset.graph.indptr[v + 1]; ++e)
            expected.insert(dataset.graph.indices[static_cast<std::size_t>(e)]);
      }
      EXPECT_TRUE(std::equal(targets.begin(), targets.end(), needed.nodes.begin())) << "targets keep their order";
      for (NodeId v = 0; v < dataset.num_nodes() && !needed.row_of.empty(); ++v) {
        const auto found = std::find(needed.nodes.begin(), needed.nodes.end(), v);
        EXPECT_EQ(needed.row_of[v],
                  found == needed.nodes.end() ? kNoRow : static_cast<NodeId>(found - needed.nodes.begin()));
      }
    }
  EXPECT_TRUE(find_needed_nodes(dataset.graph, test::all_nodes(dataset), 3).row_of.empty());
}

}  // namespace
}  // namespace salient
