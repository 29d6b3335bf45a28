// tests/engine/infer/node_rows_test.cpp - the slots of a node as one row.
#include "engine/infer/node_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/graphs.h"

namespace salient {
namespace {

TEST(NodeRows, ArePlainOnesAsTheyAre) {
  const test::OwnedGraph star = test::star_graph(5);
  const CsrGraph graph = star.view();
  EXPECT_EQ(NodeRows(graph).graph().indptr.data(), graph.indptr.data());
}

TEST(NodeRows, JoinTheSlotsOfANode) {
  SlotTable slots;
  slots.append(2, std::vector<std::uint16_t>{0, 1});
  slots.append(3, std::vector<std::uint16_t>{});  // no relation leads there
  slots.append(1, std::vector<std::uint16_t>{2});
  const std::vector<EdgeOffset> indptr{0, 2, 2, 3, 4, 6};
  const std::vector<NodeId> indices{2, 3, 4, 5, 0, 1};
  const CsrGraph graph{.indptr = indptr, .indices = indices, .slots = &slots};
  const NodeRows rows(graph);
  EXPECT_EQ(std::vector(rows.graph().indptr.begin(), rows.graph().indptr.end()),
            (std::vector<EdgeOffset>{0, 2, 4, 4, 4, 4, 6}));
  EXPECT_EQ(rows.graph().num_nodes(), graph.num_nodes());
}

}  // namespace
}  // namespace salient
