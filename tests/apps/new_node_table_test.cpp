// tests/apps/new_node_table_test.cpp - rows of a table and edges by own ids become new nodes, or are refused by name.
#include "apps/new_node_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "store/table_coding.h"
#include "tests/support/scratch.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using Nodes = std::vector<NodeId>;
using Rows = std::vector<float>;
using Offsets = std::vector<std::int64_t>;

/// Eight nodes with the features "land=DE" and "age", which is scaled.
RawGraph table_graph() {
  RawGraph graph = test::small_graph();
  graph.features.column_names = {"land=DE", "age"};
  graph.feature_origin =
      origin_of({.columns = {{.name = "age", .mean = 40, .deviation = 10, .blank = 45},
                             {.name = "land", .kind = ColumnKind::kCategory, .categories = {"DE"}}}});
  return graph;
}

RawGraph with_ids(RawGraph graph, std::vector<std::uint64_t> ids) {
  graph.original_ids = std::move(ids);
  return graph;
}
const std::vector<std::uint64_t> kTens = {10, 20, 30, 40, 50, 60, 70, 80};

class NewNodeTables : public ::testing::Test {
 protected:
  NewNodeTable read(RawGraph graph, const std::string& rows, const std::string& edges = "") {
    store_.emplace(std::move(graph));  // first: it empties the folder of the test
    test::write_bytes(scratch_ / "new.csv", rows);
    test::write_bytes(scratch_ / "edges.csv", edges);
    return read_new_nodes(open_dataset(store_->path()),
                          {.nodes = scratch_ / "new.csv", .edges = edges.empty() ? "" : scratch_ / "edges.csv"});
  }

  const test::Scratch scratch_;
  std::optional<test::SmallStore> store_;
};

TEST_F(NewNodeTables, RowsAreCodedAsTheTableOfTheDataSetAndPlacedAsItsFeatures) {
  const NewNodeTable table = read(table_graph(), "key,shoe,land,age\na,1,DE,60\nb,2,SE,\n\"NA\",3,,30\n");
  EXPECT_EQ(table.nodes.features, (Rows{1, 2, 0, 0.5F, 0, -1}));
  EXPECT_EQ(table.nodes.indptr, (Offsets{0, 0, 0, 0}));
  EXPECT_EQ(table.ids.name(2), "NA");
}

TEST_F(NewNodeTables, EdgesJoinNewNodesAndKnownOnesByOwnIds) {
  const NewNodeTable table = read(with_ids(table_graph(), kTens), "id,land,age\n7,DE,40\n9,DE,40\n5,FR,40\n",
                                  "source,target\n7,30\n10,7\n7,9\n30,7\n20,30\n");
  EXPECT_EQ(table.nodes.indptr, (Offsets{0, 3, 4, 4}));
  EXPECT_EQ(table.nodes.indices, (Nodes{0, 2, 9, 8})) << "both ends see each other, each once";
  EXPECT_EQ(std::vector(table.ids.numbers().begin(), table.ids.numbers().end()), (std::vector<std::uint64_t>{7, 9, 5}));
}

TEST_F(NewNodeTables, InADirectedGraphTheSecondEndSeesTheFirst) {
  RawGraph graph = with_ids(table_graph(), kTens);
  graph.symmetrise = false;
  const NewNodeTable table = read(graph, "id,land,age\n7,DE,40\n9,DE,40\n", "source,target\n7,30\n10,7\n7,9\n");
  EXPECT_EQ(table.nodes.indptr, (Offsets{0, 1, 2}));
  EXPECT_EQ(table.nodes.indices, (Nodes{0, 8}));
}

TEST_F(NewNodeTables, NumbersStayAsTheyAreWhereTheTableHadNumbersAlone) {
  RawGraph graph = test::small_graph();
  graph.features.column_names = {"size", "age"};
  EXPECT_EQ(read(graph, "id,age,size\nnew,2.5,-1\n").nodes.features, (Rows{-1, 2.5F}));
  EXPECT_COMPLAINT(read(graph, "id,age,size\nnew,,-1\n"), ErrorKind::kBadData,
                   "line 2: column 'age' is missing, and the data set keeps no mean to take its place");
  EXPECT_COMPLAINT(read(test::small_graph(), "id,age,size\nnew,1,-1\n"), ErrorKind::kBadData,
                   "small: its features were not made of a table");
}

TEST_F(NewNodeTables, WhatIsWrongIsRefusedByFileLineAndColumn) {
  const std::string row = "id,land,age\n7,DE,40\n";
  const auto refused = [&](const std::string& rows, const std::string& edges, const char* words) {
    EXPECT_COMPLAINT(read(with_ids(table_graph(), kTens), rows, edges), ErrorKind::kBadData, words);
  };
  refused("id,land,age\n7,DE,old\n", "", "line 2: column 'age' is no number: 'old'");
  refused("id,land\n7,DE\n", "", "has no column 'age'");
  refused(row + "7.0,DE,41\n", "", "line 3: this node has a line already: '7.0'");
  refused("id,land,age\n20,DE,41\n", "", "line 2: the data set has this node: it is no new one: '20'");
  refused(row, "source,target\n7,33\n", "edges.csv: line 2: an edge of a node that");
  refused("id,land,age\n", "", "has no row below its header");
}

TEST(UnlabelledNodes, HaveNoKnownLabelOfAnyTask) {
  for (const Task task : {Task::kMultiClass, Task::kMultiLabel, Task::kRegression}) {
    const Dataset nodes = unlabelled_nodes({.task = task, .num_classes = 2}, 3);
    EXPECT_EQ(nodes.label_table().num_nodes(), 3U);
    for (NodeId v = 0; v < 3; ++v) EXPECT_EQ(nodes.label_table().num_known(v), 0);
  }
}

}  // namespace
}  // namespace salient
