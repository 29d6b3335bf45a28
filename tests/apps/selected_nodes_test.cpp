// tests/apps/selected_nodes_test.cpp - nodes of a split, all nodes, ids as people have them; lists that are refused.
#include "apps/selected_nodes.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/files/npy.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using Nodes = std::vector<NodeId>;

Nodes selected(const Dataset& dataset, const NodeSelection& selection) {
  return salient::select_nodes(dataset, selection).nodes;
}

class SelectNodes : public ::testing::Test {
 protected:
  template <class T>
  std::string list(const std::vector<T>& ids, const char* dtype) {
    const auto path = scratch_ / "ids.npy";
    std::filesystem::remove(path);
    NpyWriter writer(path, dtype, {ids.size()});
    writer.write(ids);
    writer.close();
    return path;
  }
  std::string text(const std::string& name, const std::string& content) {
    test::write_bytes(scratch_ / name, content);
    return scratch_ / name;
  }
  /// Of 8 nodes, with own ids.
  Dataset numbered(std::vector<std::uint64_t> ids) {
    RawGraph graph = test::small_graph();
    graph.original_ids = std::move(ids);
    return opened(std::move(graph));
  }
  Dataset named() {
    RawGraph graph = test::small_graph();
    for (const char* name : {"ann", "7", "b", "Smith, Al", "test", "new york", "NA", "h.csv"})
      graph.node_names.append(name);
    return opened(std::move(graph));
  }

  const test::Scratch scratch_;
  const Dataset dataset_ = test::generated_dataset(50, 3, 4);

 private:
  Dataset opened(RawGraph graph) {
    store_.emplace(std::move(graph));
    return open_dataset(store_->path());
  }
  std::optional<test::SmallStore> store_;
};

const std::vector<std::uint64_t> kTens = {10, 20, 30, 40, 50, 60, 70, 80};
const std::vector<std::uint64_t> kPermuted = {3, 0, 7, 1, 2, 6, 5, 4};

TEST_F(SelectNodes, KeepsTheOrderOfItsSource) {
  EXPECT_EQ(selected(dataset_, {"train"}), Nodes(dataset_.train.begin(), dataset_.train.end()));
  EXPECT_EQ(selected(dataset_, {"all"}).size(), 50U);
  EXPECT_EQ(selected(dataset_, {list<std::int64_t>({7, 49, 0}, "<i8")}), (Nodes{7, 49, 0}));
  EXPECT_EQ(selected(dataset_, {list<std::uint16_t>({3, 1}, "<u2")}), (Nodes{3, 1}));
  EXPECT_EQ(selected(dataset_, {"3,1"}), (Nodes{3, 1}));
}

TEST_F(SelectNodes, AMaskSelectsItsNodes) {
  std::vector<std::uint8_t> mask(50, 0);
  mask[3] = mask[49] = 1;
  EXPECT_EQ(selected(dataset_, {list(mask, "|b1")}), (Nodes{3, 49}));
  mask.pop_back();
  EXPECT_COMPLAINT(selected(dataset_, {list(mask, "|b1")}), ErrorKind::kBadData, "a bool for each of the 50 nodes");
  const Dataset permuted = numbered(kPermuted);
  mask.assign(8, 0);
  mask[2] = 1;
  EXPECT_EQ(selected(permuted, {list(mask, "|b1")}), (Nodes{2})) << "a mask is of rows";
}

TEST_F(SelectNodes, NumbersAreOwnIdsWhereTheStoreHasThem) {
  const Dataset tens = numbered(kTens);
  EXPECT_EQ(selected(tens, {list<std::int64_t>({10, 80, 30}, "<i8")}), (Nodes{0, 7, 2}));
  EXPECT_EQ(selected(tens, {"10, 80,30.0"}), (Nodes{0, 7, 2}));
  EXPECT_EQ(selected(tens, {text("w.txt", "10\n80\n\n30.0\n")}), (Nodes{0, 7, 2}));
  EXPECT_EQ(selected(tens, {list<std::int64_t>({1, 7}, "<i8"), NodesBy::kRow}), (Nodes{1, 7}));
  EXPECT_EQ(selected(tens, {"1,7", NodesBy::kRow}), (Nodes{1, 7}));
  EXPECT_EQ(selected(tens, {text("w.csv", "id\n1\n7\n"), NodesBy::kRow}), (Nodes{1, 7}));
}

TEST_F(SelectNodes, WhatIsNoIdIsRefusedWithTheFirstIdAndTheRemedy) {
  const Dataset tens = numbered(kTens);
  EXPECT_COMPLAINT(selected(tens, {list<std::int64_t>({10, 5}, "<i8")}), ErrorKind::kBadData,
                   "item 1 is 5, no node has this id; the first is '10'; --nodes-by row takes row numbers");
  EXPECT_COMPLAINT(selected(tens, {list<std::int64_t>({10, 5}, "<i8"), NodesBy::kId}), ErrorKind::kBadData,
                   "item 1 is 5");
  EXPECT_COMPLAINT(selected(tens, {"10,15"}), ErrorKind::kBadData, "--nodes: '15': no node has this id; the first is");
  EXPECT_COMPLAINT(selected(tens, {"ann"}), ErrorKind::kBadData, "--nodes: 'ann': no node has this id");
  EXPECT_COMPLAINT(selected(tens, {text("w.csv", "id\n10\n15\n")}), ErrorKind::kBadData, "w.csv: line 3: no node has");
  EXPECT_COMPLAINT(selected(tens, {"10,80", NodesBy::kRow}), ErrorKind::kBadData, "the graph has nodes 0 to 7");
  EXPECT_COMPLAINT(selected(tens, {"10,20,10"}), ErrorKind::kBadData, "'10': the node is listed twice");
  EXPECT_COMPLAINT(selected(tens, {"10,20,10.0"}), ErrorKind::kBadData, "'10.0': the node is listed twice");
}

TEST_F(SelectNodes, OwnIdsThatAreAPermutationOfTheRowsAreIdsAndAWarningSaysSo) {
  const Dataset permuted = numbered(kPermuted);
  const auto warned = [](const Dataset& dataset, const NodeSelection& selection) {
    return salient::select_nodes(dataset, selection).are_rows_of_others;
  };
  EXPECT_EQ(selected(permuted, {"7,0,4"}), (Nodes{2, 1, 7}));
  EXPECT_TRUE(warned(permuted, {"7,0,4"}));
  EXPECT_TRUE(warned(permuted, {list<std::int64_t>({7, 0}, "<i8")}));
  EXPECT_FALSE(warned(permuted, {"7,0,4", NodesBy::kId}));
  EXPECT_FALSE(warned(permuted, {"7,0,4", NodesBy::kRow}));
  EXPECT_FALSE(warned(permuted, {"test"}));
  const Dataset same = numbered({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(selected(same, {"7,0,4"}), (Nodes{7, 0, 4}));
  EXPECT_FALSE(warned(same, {"7,0,4"})) << "both readings are the same";
  EXPECT_FALSE(warned(numbered(kTens), {"10,20"})) << "there are no such rows";
  const Dataset named = this->named();
  EXPECT_TRUE(warned(named, {"7"}));
  EXPECT_FALSE(warned(named, {"7,ann"}));
}

TEST_F(SelectNodes, TextIdsAreFoundInEveryForm) {
  const Dataset named = this->named();
  EXPECT_EQ(selected(named, {"b,\"Smith, Al\",new york"}), (Nodes{2, 3, 5}));
  EXPECT_EQ(selected(named, {text("w.txt", "b\nann\n")}), (Nodes{2, 0}));
  EXPECT_EQ(selected(named, {text("w.csv", "age,customer\n3,\"Smith, Al\"\n4,b\n"), {}, "customer"}), (Nodes{3, 2}));
  EXPECT_EQ(selected(named, {text("w.csv", "id\n\"new york\"\n\"NA\"\nh.csv\ntest\n")}), (Nodes{5, 6, 7, 4}));
  EXPECT_EQ(selected(named, {"7"}), (Nodes{1})) << "a number is a name, where names are text";
  EXPECT_EQ(selected(named, {list<std::int64_t>({7}, "<i8")}), (Nodes{1}));
  EXPECT_EQ(selected(named, {"7", NodesBy::kRow}), (Nodes{7}));
  // No header: an id that is meant would be left out without a word.
  EXPECT_COMPLAINT(selected(named, {text("w.txt", "nobody\nann\nb\n")}), ErrorKind::kBadData, "line 1: no node has");
  EXPECT_COMPLAINT(selected(named, {"6"}), ErrorKind::kBadData,
                   "'6': no node has this id; the first is 'ann'; --nodes-by row takes row numbers");
}

TEST_F(SelectNodes, WordsOfASplitAreNoIdsUnlessIdsAreAskedFor) {
  const Dataset named = this->named();
  EXPECT_EQ(selected(named, {"test"}), Nodes(named.test.begin(), named.test.end()));
  EXPECT_EQ(selected(named, {"test", NodesBy::kId}), (Nodes{4}));
  EXPECT_COMPLAINT(selected(named, {"all", NodesBy::kId}), ErrorKind::kBadData,
                   "without --nodes-by id it is a selection of nodes");
  EXPECT_EQ(short_name_of({"all"}), "all");
  EXPECT_EQ(short_name_of({"some/list.csv"}), "list");
  EXPECT_EQ(short_name_of({"http://a/b,http://c"}), "nodes");
}

TEST_F(SelectNodes, RefusesWhatNoSamplerTakes) {
  EXPECT_COMPLAINT(selected(dataset_, {list<std::int64_t>({1, 50}, "<i8")}), ErrorKind::kBadData,
                   "item 1 is 50, the graph has nodes 0 to 49, which count from 0; do the ids count from 1?");
  EXPECT_COMPLAINT(selected(dataset_, {list<std::uint64_t>({~std::uint64_t{0}}, "<u8")}), ErrorKind::kBadData,
                   "item 0 is 18446744073709551615");
  EXPECT_COMPLAINT(selected(dataset_, {list<std::int32_t>({-1}, "<i4")}), ErrorKind::kBadData, "-1");
  EXPECT_COMPLAINT(selected(dataset_, {list<std::int64_t>({4, 9, 4}, "<i8")}), ErrorKind::kBadData,
                   "item 2 is 4, the node is listed twice");
  EXPECT_COMPLAINT(selected(dataset_, {list<float>({1}, "<f4")}), ErrorKind::kBadData, "integer");
  EXPECT_COMPLAINT(selected(dataset_, {list<std::int64_t>({}, "<i8")}), ErrorKind::kUsage, "has no nodes");
  EXPECT_COMPLAINT(selected(dataset_, {"valid"}), ErrorKind::kUsage, "has no nodes");
  EXPECT_COMPLAINT(selected(dataset_, {"absent.npy"}), ErrorKind::kNoInput, "absent.npy");
  EXPECT_COMPLAINT(selected(dataset_, {"absent.csv"}), ErrorKind::kNoInput, "absent.csv");
  EXPECT_COMPLAINT(selected(dataset_, {"tset"}), ErrorKind::kUsage,
                   "'tset': the data set has no ids of its own, and rows are numbers from 0 to 49; or train, valid");
}

}  // namespace
}  // namespace salient
