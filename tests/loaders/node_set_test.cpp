// tests/loaders/node_set_test.cpp - places equal a search.
#include "loaders/node_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace salient {
namespace {

TEST(NodeSet, PlacesEqualASearch) {
  std::mt19937 random(1);
  for (const std::size_t num_nodes : {1u, 31u, 32u, 33u, 64u, 1000u})
    for (const unsigned percent : {0u, 1u, 50u, 100u}) {
      std::vector<NodeId> members;
      for (std::size_t node = 0; node < num_nodes; ++node)
        if (random() % 100 < percent) members.push_back(static_cast<NodeId>(node));
      const NodeSet set(num_nodes, members);
      EXPECT_EQ(set.size(), members.size());
      for (std::size_t node = 0; node < num_nodes; ++node) {
        const auto at = std::ranges::lower_bound(members, node);
        const bool is_member = at != members.end() && *at == node;
        ASSERT_EQ(set.index_of(static_cast<NodeId>(node)),
                  is_member ? static_cast<std::uint32_t>(at - members.begin()) : NodeSet::kAbsent)
            << node << " of " << num_nodes;
      }
    }
}

}  // namespace
}  // namespace salient
