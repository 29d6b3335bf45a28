// tests/prepare/importers/node_times_test.cpp - times of nodes from tables and arrays, and the split that they make.
#include "prepare/importers/node_times.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/files/npy.h"
#include "prepare/importers/edges_importer.h"
#include "prepare/importers/labelled_split.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::write_bytes;
using Times = std::vector<std::int64_t>;
using Ids = std::vector<NodeId>;

struct NodeTimes : testing::Test {
  RawGraph of_table(const std::string& nodes, EdgesOptions options = {}, const std::string& edges = "a b\nb c\nc d\n") {
    options.edges = write_bytes(scratch / "edges.txt", edges);
    options.nodes = write_bytes(scratch / "nodes.csv", nodes);
    if (options.node_time_column.empty()) options.node_time_column = "year";
    EXPECT_TRUE(problems(options).empty());
    return import_edges(options);
  }

  std::filesystem::path labels_of(const std::vector<std::int32_t>& labels) {
    return array("labels.npy", "<i4", labels);
  }
  template <class T>
  std::filesystem::path array(const char* name, const char* dtype, const std::vector<T>& values) {
    std::filesystem::remove(scratch / name);
    NpyWriter file(scratch / name, dtype, {values.size()});
    file.write(values);
    file.close();
    return scratch / name;
  }

  const test::Scratch scratch;
};

TEST_F(NodeTimes, AreAColumnOfTheTableAndNoFeature) {
  const std::string table = "id,x,year,label\nd,1,2003,u\nb,2,2001,v\na,3,2000,u\nc,4,2002,v\n";
  const RawGraph graph = of_table(table);  // d is node 0, b 1, a 2, c 3
  EXPECT_EQ(graph.node_times, (Times{2003, 2001, 2000, 2002}));
  EXPECT_EQ(graph.features.dim, 1);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(of_table(table, {.node_time_column = "2", .header = HeaderRule::kYes}).node_times, graph.node_times);
  const RawGraph numbers = of_table("id,x,year,label\n7,1,3,u\n5,2,1,v\n9,3,0,u\n", {}, "7 5\n9 7\n");
  EXPECT_EQ(numbers.node_times, (Times{1, 3, 0})) << "nodes are 5, 7, 9";
}

TEST_F(NodeTimes, MayBeDatesAndStandBesideLabelsAlone) {
  const RawGraph graph = of_table("year,label,id\n1970-01-02,u,a\n1970-01-01,v,b\n1970-01-03,u,c\n1970-01-01,v,d\n",
                                  {.label_column = "label"});
  ASSERT_EQ(graph.node_times.size(), 4u);
  EXPECT_EQ(graph.node_times, (Times{86400, 0, 172800, 0}));
  EXPECT_EQ(graph.features.dim, 0);
  EXPECT_EQ(graph.label_table().num_nodes(), 4u);
}

TEST_F(NodeTimes, OfATableThatAreNoneAreNamed) {
  const auto refuse = [&](const std::string& nodes, const std::string& why) {
    EXPECT_COMPLAINT(of_table(nodes), ErrorKind::kBadData, why);
  };
  refuse("id,x,year\na,1,1\nb,2,\nc,3,4\nd,3,4\n", "line 3: '': the time is no whole number");
  refuse("id,x,year\na,1,1\nb,2,2.5\nc,3,4\nd,3,4\n", "'2.5': the time is no whole number");
  refuse("id,x,year\na,1,1\nb,2,2004-04-15\nc,3,4\nd,3,4\n", "line 3: the time is a date, that of line 2 is none");
  refuse("id,year\na,1\nb,2\nc,3\nd,4\n", "no column beside the id and the time, neither a feature nor a label");
  refuse("id,x,when\na,1,1\nb,2,2\nc,3,4\nd,3,4\n", "has no column 'year'");
  EXPECT_COMPLAINT(import_edges({.edges = write_bytes(scratch / "e.txt", "a b\nb c\n"),
                                 .labels = write_bytes(scratch / "l.csv", "id,label,year\na,u,1\nb,v,2\n"),
                                 .node_time_column = "year"}),
                   ErrorKind::kBadData, "l.csv: has times of 2 nodes, the graph has 3");
}

TEST_F(NodeTimes, AreAnArrayByRow) {
  EdgesOptions options{.edges = write_bytes(scratch / "e.txt", "0 1\n1 2\n"), .labels = labels_of({0, 1, 0})};
  options.node_times = array("times.npy", "<i8", Times{5, -6, 7});
  EXPECT_EQ(import_edges(options).node_times, (Times{5, -6, 7}));
  options.node_times = array("times.npy", "<i4", std::vector<std::int32_t>{5, -6, 7});
  EXPECT_EQ(import_edges(options).node_times, (Times{5, -6, 7}));
  options.node_times = array("times.npy", "<i8", Times{5, 6});
  EXPECT_COMPLAINT(import_edges(options), ErrorKind::kBadData, "whole numbers (3,), found <i8 (2,)");
  options.node_times = array("times.npy", "<f4", std::vector<float>{5, 6, 7});
  EXPECT_COMPLAINT(import_edges(options), ErrorKind::kBadData, "whole numbers (3,), found <f4 (3,)");
  EXPECT_COMPLAINT(import_edges({.edges = write_bytes(scratch / "e.txt", "10 20\n20 30\n"),
                                 .node_times = array("times.npy", "<i8", Times{5, 6, 7})}),
                   ErrorKind::kBadData, "times by row, and the ids of the nodes are no row numbers");
}

TEST_F(NodeTimes, SplitTheLabelledNodesAndKeepTiesTogether) {
  RawGraph graph;
  graph.num_nodes = 8;
  graph.labels = {0, 1, -1, 0, 1, 0, 1, 0};
  graph.node_times = {30, 10, 5, 20, 20, 20, 40, 40};
  split_labelled_by_time(graph, {0.4, 0.3, 0.3});  // of 7: 2, 4, all; the tie at 20 ends at place 4
  EXPECT_EQ(graph.train, (Ids{1, 3, 4, 5}));
  EXPECT_TRUE(graph.valid.empty()) << "place 4 is the end of both";
  EXPECT_EQ(graph.test, (Ids{0, 6, 7}));
  split_labelled_by_time(graph, {0.1, 0.7, 0.2});
  EXPECT_TRUE(graph.train.empty());
  EXPECT_EQ(graph.valid, (Ids{1, 3, 4, 5}));
  EXPECT_EQ(graph.test, (Ids{0, 6, 7}));
  split_labelled_by_time(graph, {0.15, 0.1, 0.1});
  EXPECT_EQ(graph.train, Ids{1});
  EXPECT_TRUE(graph.test.empty());
  graph.node_times.assign(8, 1);
  split_labelled_by_time(graph, {0.5, 0.25, 0.25});
  EXPECT_EQ(graph.train.size(), 7u);
}

TEST_F(NodeTimes, OptionsThatMakeNoGraphAreNamed) {
  const auto field_of = [](const EdgesOptions& options) {
    const std::vector<FieldProblem> found = problems(options);
    return found.size() == 1 ? std::string(found[0].field) : std::to_string(found.size()) + " problems";
  };
  const std::vector<double> parts{0.5, 0.25, 0.25};
  EXPECT_EQ(field_of({.edges = "e", .labels = "l.csv", .split_by_time = parts}), "split-by-time");
  EXPECT_EQ(field_of({.edges = "e", .labels = "l.csv", .split_by_time = {0.5, 0.6, 0}, .node_time_column = "t"}),
            "split-by-time");
  EXPECT_EQ(field_of({.edges = "e", .split_by_time = parts, .node_times = "t.npy"}), "split-by-time");
  EXPECT_EQ(field_of({.edges = "e", .labels = "l", .split = parts, .split_by_time = parts, .node_times = "t.npy"}),
            "split-by-time");
  EXPECT_EQ(field_of({.edges = "e", .node_times = "t.csv"}), "node-times");
  EXPECT_EQ(field_of({.edges = "e", .labels = "l", .node_times = "t.npy", .node_time_column = "t"}), "node-times");
  EXPECT_EQ(field_of({.edges = "e", .labels = "l.npy", .node_time_column = "t"}), "node-time-column");
}

}  // namespace
}  // namespace salient
