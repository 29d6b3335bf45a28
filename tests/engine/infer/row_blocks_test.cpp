// tests/engine/infer/row_blocks_test.cpp - nodes in blocks of bounded work.
#include "engine/infer/row_blocks.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/graphs.h"

namespace salient {
namespace {

TEST(RowBlocks, AreBoundedButForAHub) {
  const test::OwnedGraph star = test::star_graph(100);
  const std::vector<NodeId> nodes{1, 2, 0, 3, 4, 5};
  const auto blocks = cut_blocks(star.view(), nodes, 2);
  const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 2}, {2, 1}, {3, 2}, {5, 1}};
  ASSERT_EQ(blocks.size(), expected.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) EXPECT_EQ(std::pair(blocks[b].begin, blocks[b].count), expected[b]);
  EXPECT_EQ(largest_block(star.view(), nodes, blocks), 101U);
  EXPECT_EQ(cut_blocks(star.view(), nodes, 1000).size(), 1U);
  EXPECT_TRUE(cut_blocks(star.view(), {}, 10).empty());
  EXPECT_EQ(cut_evenly(7, 3).size(), 3U);
  EXPECT_EQ(cut_evenly(7, 3).back().begin, 6U);
  EXPECT_EQ(cut_evenly(7, 3).back().count, 1U);
  EXPECT_TRUE(cut_evenly(0, 3).empty());
}

}  // namespace
}  // namespace salient
