// tests/core/slot_table_test.cpp - every row is a slot of one node, types without nodes and without slots among them.
#include "core/slot_table.h"

#include <gtest/gtest.h>

#include "core/csr_graph.h"

namespace salient {
namespace {

using Relations = std::vector<std::uint16_t>;

TEST(SlotTable, RowsAreTheSlotsOfTheNodesInTheirOrder) {
  SlotTable table;
  table.append(3, Relations{4, 7});
  table.append(0, Relations{0, 1, 2, 3, 5});
  table.append(2, {});
  table.append(4, Relations{6});
  EXPECT_EQ(table.relation_of(0, 1), 7u);
  EXPECT_EQ(table.relation_of(3, 0), 6u);
  EXPECT_EQ(table.num_types(), 4u);
  EXPECT_EQ(table.num_nodes(), 9u);
  EXPECT_EQ(table.num_rows(), 10u);
  std::uint64_t row = 0;
  for (NodeId node = 0; node < table.num_nodes(); ++node) {
    const std::size_t type = table.type_of(node);
    EXPECT_EQ(type, node < 3 ? 0u : node < 5 ? 2u : 3u) << node;
    for (std::uint32_t slot = 0; slot < table.num_slots[type]; ++slot, ++row) {
      EXPECT_EQ(table.row_of(type, node, slot), row);
      EXPECT_EQ(table.type_of_row(row), type);
      EXPECT_EQ(table.node_of_row(type, row), node);
    }
  }
  EXPECT_EQ(row, table.num_rows());
}

TEST(SlotTable, OfOneTypeAndOneRelationRowsAreNodes) {
  SlotTable table;
  table.append(5, Relations{0});
  for (NodeId node = 0; node < 5; ++node) EXPECT_EQ(table.row_of(0, node, 0), node);
}

TEST(SlotTable, AGraphCountsItsNodesByIt) {
  SlotTable table;
  table.append(2, Relations{0, 1, 2});
  const std::vector<EdgeOffset> indptr(7, 0);
  CsrGraph graph{indptr, {}};
  EXPECT_EQ(graph.num_nodes(), 6u) << "rows are nodes";
  graph.slots = &table;
  EXPECT_EQ(graph.num_nodes(), 2u);
  EXPECT_EQ(graph.num_rows(), 6u);
  EXPECT_EQ(CsrGraph{}.num_nodes(), 0u);
}

}  // namespace
}  // namespace salient
