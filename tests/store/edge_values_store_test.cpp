// tests/store/edge_values_store_test.cpp - a store of edges with weights and times opens; each rule, broken, is named.
#include <gtest/gtest.h>

#include <limits>

#include "store/dataset.h"
#include "store/dataset_sharing.h"
#include "store/dataset_summary.h"
#include "store/graph_copy.h"
#include "store/open_store.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::small_graph, test::SmallStore;
using Weights = std::vector<float>;
using Times = std::vector<std::int64_t>;

constexpr std::uint64_t kEntries = 17;

/// Edge m of the small graph has weight m / 2 and time 100 - m; the chord is there twice.
RawGraph valued_graph(bool with_weights, bool with_times) {
  RawGraph graph = small_graph();
  for (std::size_t m = 0; m < graph.sources.size(); ++m) {
    if (with_weights) graph.edge_values.weights.push_back(static_cast<float>(m) / 2);
    if (with_times) graph.edge_values.times.push_back(100 - static_cast<std::int64_t>(m));
  }
  graph.repeats = Repeats::kFirst;
  return graph;
}

TEST(EdgeValuesStore, OpensWhatWasWritten) {
  const SmallStore store(valued_graph(true, true));
  const Dataset dataset = open_dataset(store.path());
  ASSERT_EQ(dataset.graph.indices.size(), kEntries);
  // Row 1: edges 0 -> 1, 1 -> 2 and 1 -> 4 (number 7), the latest edge first.
  const auto begin = static_cast<std::size_t>(dataset.graph.indptr[1]);
  EXPECT_TRUE(std::ranges::equal(dataset.graph.row(1), std::vector<NodeId>{4, 2, 0}));
  EXPECT_TRUE(std::ranges::equal(dataset.graph.entries.times.subspan(begin, 3), Times{93, 99, 100}));
  EXPECT_TRUE(std::ranges::equal(dataset.graph.entries.weights.subspan(begin, 3), Weights{3.5, 0.5, 0}));
  EXPECT_NO_THROW(verify_dataset(store.path()));
  const std::string text = summary_text(dataset, summarise(dataset));
  EXPECT_NE(text.find("edge weights    0 to 4, 2 entries of 0"), std::string::npos) << text;
  EXPECT_NE(text.find("edge times      92 to 100"), std::string::npos) << text;
}

TEST(EdgeValuesStore, IsOfTheSecondVersionAlone) {
  const auto version_of = [](const SmallStore& store) {
    const json root = json::parse(test::read_bytes(store / "dataset.json"));
    return std::tuple(root["format_version"].get<int>(), root.contains("edge_weights"), root.contains("edge_time"));
  };
  EXPECT_EQ(version_of(SmallStore()), std::tuple(1, false, false));
  EXPECT_EQ(version_of(SmallStore(valued_graph(true, false))), std::tuple(2, true, false));
  EXPECT_EQ(version_of(SmallStore(valued_graph(false, true))), std::tuple(2, false, true));
}

TEST(EdgeValuesStore, RefusesBadWeights) {
  const SmallStore store(valued_graph(true, false));
  for (const auto& [value, text] :
       {std::pair{-0.5F, "-0.5"}, {std::numeric_limits<float>::quiet_NaN(), "nan"}, {HUGE_VALF, "inf"}}) {
    Weights weights(kEntries, 1);
    weights[4] = value;
    store.replace_array("edge_weights.npy", "<f4", {kEntries}, weights);
    expect_refused(store, 65, {"edge_weights.npy: entry 4 (row 1) is ", text, "finite and 0 or more"});
  }
  store.replace_array("edge_weights.npy", "<f4", {16}, Weights(16));
  expect_refused(store, 65, {"edge_weights.npy: shape (16,), expected (17,)"});
  store.replace_array("edge_weights.npy", "<f8", {kEntries}, std::vector<double>(kEntries));
  expect_refused(store, 65, {"edge_weights.npy: dtype <f8, expected <f4"});
  store.edit_manifest([](json& root) { root["files"].erase("edge_weights.npy"); });
  expect_refused(store, 65, {"edge_weights.npy", "is missing"});
}

TEST(EdgeValuesStore, RefusesTimesThatFall) {
  const SmallStore store(valued_graph(false, true));
  Times times(kEntries, 5);
  times[3] = 4;  // row 1 begins at entry 2
  store.replace_array("edge_time.npy", "<i8", {kEntries}, times);
  expect_refused(store, 65, {"edge_time.npy: row 1: entry 3 (time 4) is before entry 2 (time 5)", "ascend by time"});
}

TEST(EdgeValuesStore, NodesHaveTimesToo) {
  RawGraph graph = small_graph();
  for (std::size_t v = 0; v < graph.num_nodes; ++v) graph.node_times.push_back(40 - 2 * static_cast<std::int64_t>(v));
  const Times times = graph.node_times;
  const SmallStore store(std::move(graph));
  const Dataset dataset = open_dataset(store.path());
  EXPECT_TRUE(dataset.has_node_times && !dataset.has_edge_times);
  EXPECT_TRUE(std::ranges::equal(dataset.node_times, times));
  EXPECT_NO_THROW(verify_dataset(store.path()));
  const std::string text = summary_text(dataset, summarise(dataset));
  EXPECT_NE(text.find("node times      " + std::to_string(times.back()) + " to 40\n"), std::string::npos) << text;
  EXPECT_EQ(json::parse(test::read_bytes(store / "dataset.json"))["format_version"], 2);
  store.replace_array("node_times.npy", "<i8", {2}, Times{1, 2});
  expect_refused(store, 65, {"node_times.npy: shape (2,), expected ("});
  store.edit_manifest([](json& root) { root["files"].erase("node_times.npy"); });
  expect_refused(store, 65, {"node_times.npy", "is missing"});
}

TEST(EdgeValuesStore, VerifyComparesReverses) {
  const SmallStore weights(valued_graph(true, false));
  Weights other(kEntries, 1);
  weights.replace_array("edge_weights.npy", "<f4", {kEntries}, other);
  EXPECT_NO_THROW(verify_dataset(weights.path(), 1));
  other[0] = 2;
  weights.replace_array("edge_weights.npy", "<f4", {kEntries}, other);
  expect_not_verified(weights, {"an edge and its reverse have different weights or times"});
}

TEST(EdgeValuesStore, CopiesAndOtherProcessesHaveThemAll) {
  const SmallStore store(valued_graph(true, true));
  const Dataset dataset = open_dataset(store.path());
  const auto copy = copy_graph(dataset.graph);
  EXPECT_TRUE(std::ranges::equal(copy->view().entries.weights, dataset.graph.entries.weights));
  EXPECT_TRUE(std::ranges::equal(copy->view().entries.times, dataset.graph.entries.times));

  SharedMemory memory;
  const auto shared = copy_graph(dataset.graph, &memory);
  Dataset other = open_dataset(store.path());
  map_graph(describe_graph(shared->view(), memory), other);
  EXPECT_NE(other.graph.entries.weights.data(), dataset.graph.entries.weights.data());
  EXPECT_TRUE(std::ranges::equal(other.graph.entries.weights, dataset.graph.entries.weights));
  EXPECT_TRUE(std::ranges::equal(other.graph.entries.times, dataset.graph.entries.times));
}

}  // namespace
}  // namespace salient
