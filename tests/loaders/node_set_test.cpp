// tests/loaders/node_set_test.cpp - places equal a search, and the most connected nodes equal a sort.
#include "loaders/node_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
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

TEST(MostConnectedNodes, EqualTheFirstOfAStableSort) {
  std::mt19937 random(2);
  for (const unsigned longest : {1u, 5u, 200'000u})
    for (const std::size_t num_nodes : {0u, 1u, 7u, 500u}) {
      std::vector<EdgeOffset> indptr{0};
      for (std::size_t node = 0; node < num_nodes; ++node)
        indptr.push_back(indptr.back() + static_cast<EdgeOffset>(random() % longest));
      const CsrGraph graph{indptr, {}};        // the rows themselves are not read
      constexpr EdgeOffset kLongest = 65'535;  // longer ones are equal
      const auto length = [&](NodeId node) { return std::min(indptr[node + std::size_t{1}] - indptr[node], kLongest); };
      std::vector<NodeId> sorted(num_nodes);
      std::iota(sorted.begin(), sorted.end(), 0u);
      std::ranges::stable_sort(sorted, std::greater(), length);
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, num_nodes / 3, num_nodes, num_nodes + 5}) {
        std::vector<NodeId> expected(sorted.begin(),
                                     sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count, num_nodes)));
        std::ranges::sort(expected);
        EXPECT_EQ(most_connected_nodes(graph, count), expected) << count << " of " << num_nodes;
      }
    }
}

}  // namespace
}  // namespace salient
