// tests/prepare/importers/targets_test.cpp - columns of tables and arrays become values to be predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "prepare/importers/edges_importer.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using Names = std::vector<std::string>;

class Targets : public ::testing::Test {
 protected:
  RawGraph of_table(const std::string& nodes, EdgesOptions options) {
    options.edges = test::write_bytes(scratch_ / "edges.csv", "a,b\nb,c\n");
    options.nodes = test::write_bytes(scratch_ / "nodes.csv", nodes);
    options.feature_type = FeatureType::kF32;
    return import_edges(options);
  }
  RawGraph of_array(const std::vector<float>& values, std::vector<std::uint64_t> shape, Names columns) {
    std::filesystem::remove(scratch_ / "y.npy");
    NpyWriter writer(scratch_ / "y.npy", "<f4", std::move(shape));
    writer.write(values);
    writer.close();
    return import_edges({.edges = test::write_bytes(scratch_ / "edges.csv", "0,1\n1,2\n"),
                         .labels = scratch_ / "y.npy",
                         .targets = std::move(columns)});
  }
  const test::Scratch scratch_;
};

/// NaN as -1000, so that lists can be compared.
std::vector<float> plain(const std::vector<float>& values) {
  std::vector<float> found;
  for (const float value : values) found.push_back(std::isnan(value) ? -1000 : value);
  return found;
}

TEST_F(Targets, OfATableAreNoFeatures) {
  const RawGraph graph = of_table("id,age,price,weight\nb,1,2.5,\na,2,-3,0.5\nc,3,NA,withheld\n",
                                  {.targets = {"weight", "price"}, .unlabelled = {"withheld"}});
  EXPECT_EQ(graph.task, Task::kRegression);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(graph.class_names, (Names{"weight", "price"}));
  EXPECT_EQ(plain(graph.targets), (std::vector<float>{-1000, 2.5F, 0.5F, -3, -1000, -1000}))
      << "in the order of the rows";
  EXPECT_EQ(graph.features.column_names, (Names{"age"}));
  EXPECT_TRUE(graph.labels.empty());
}

TEST_F(Targets, ASplitIsOfNodesWithAValue) {
  const RawGraph graph = of_table("id,age,price\na,1,2\nb,2,\nc,3,4\n", {.split = {1, 0, 0}, .targets = {"price"}});
  EXPECT_EQ(graph.train.size(), 2u);
  EXPECT_EQ(std::ranges::count(graph.train, 1U), 0) << "node b has none";
}

TEST_F(Targets, AColumnThatIsCalledLabelMayBeAFeatureThen) {
  const RawGraph graph = of_table("id,class,price\na,x,2\nb,y,3\nc,x,4\n", {.targets = {"price"}});
  EXPECT_EQ(graph.features.column_names, (Names{"class=x", "class=y"}));
}

TEST_F(Targets, ByNumberAndInFrontOfTheId) {
  const RawGraph graph = of_table("price,id,age\n2,a,1\n3,b,2\n4,c,3\n", {.targets = {"0"}});
  EXPECT_EQ(graph.class_names, (Names{"price"}));
  EXPECT_EQ(graph.targets, (std::vector<float>{2, 3, 4}));
}

TEST_F(Targets, WhatIsNoNumberIsRefusedByLineAndColumn) {
  const auto refuse = [&](const std::string& nodes, const Names& targets, const std::string& why) {
    EXPECT_COMPLAINT(of_table(nodes, {.targets = targets}), ErrorKind::kBadData, why);
  };
  refuse("id,age,price\na,1,2\nb,2,dear\nc,3,4\n", {"price"}, "line 3: column 'price' is no number to predict");
  refuse("id,age,price\na,1,2\nb,2,inf\nc,3,4\n", {"price"}, "line 3: column 'price' is not finite");
  refuse("id,age,price\na,1,\nb,2,\nc,3,\n", {"price"}, "'price' has no value to predict");
  refuse("id,age,price\na,1,2\nb,2,3\nc,3,4\n", {"cost"}, "has no column 'cost'");
  refuse("id,age,price\na,1,2\nb,2,3\nc,3,4\n", {"price", "price"}, "a target twice");
}

TEST_F(Targets, OfArraysAreAllOrChosenColumns) {
  const std::vector<float> values{1, 2, NAN, 4, 5, NAN};
  const RawGraph all = of_array(values, {3, 2}, {"all"});
  EXPECT_EQ(all.task, Task::kRegression);
  EXPECT_EQ(plain(all.targets), plain(values));
  EXPECT_EQ(plain(of_array(values, {3, 2}, {"1"}).targets), (std::vector<float>{2, 4, -1000}));
  EXPECT_EQ(plain(of_array({1, 2.5F, NAN}, {3}, {"all"}).targets), (std::vector<float>{1, 2.5F, -1000}));
  EXPECT_COMPLAINT(of_array(values, {3, 2}, {"2"}), ErrorKind::kBadData, "has 2 columns, none is '2'");
  EXPECT_COMPLAINT(of_array({1, INFINITY, 3}, {3}, {"all"}), ErrorKind::kBadData, "node 1, column 0 is infinite");
}

TEST_F(Targets, NeedLabels) {
  const std::vector<FieldProblem> found = problems({.edges = "edges.csv", .targets = {"price"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "target");
}

}  // namespace
}  // namespace salient
