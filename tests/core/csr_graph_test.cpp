// tests/core/csr_graph_test.cpp - rows and degrees as the arrays have them.
#include "core/csr_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace salient {
namespace {

TEST(CsrGraph, RowsAndDegrees) {
  const std::vector<EdgeOffset> indptr = {0, 2, 2, 5};
  const std::vector<NodeId> indices = {1, 2, 0, 1, 2};
  const CsrGraph graph{indptr, indices};
  ASSERT_EQ(graph.num_nodes(), 3u);
  const std::vector<std::vector<NodeId>> rows = {{1, 2}, {}, {0, 1, 2}};
  for (std::size_t v = 0; v < rows.size(); ++v) {
    EXPECT_EQ(graph.degree(v), rows[v].size());
    EXPECT_TRUE(std::ranges::equal(graph.row(v), rows[v])) << v;
  }
}

TEST(CsrGraph, WithoutNodes) {
  EXPECT_EQ(CsrGraph{}.num_nodes(), 0u);
  EXPECT_EQ(CsrGraph{}.num_bytes(), 0);
}

}  // namespace
}  // namespace salient
