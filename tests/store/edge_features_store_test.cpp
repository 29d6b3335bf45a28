// tests/store/edge_features_store_test.cpp - a store of edges with features opens; each rule, broken, is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "store/dataset.h"
#include "store/dataset_sharing.h"
#include "store/dataset_summary.h"
#include "store/open_store.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::small_graph, test::SmallStore;

constexpr std::uint64_t kEntries = 17;

/// Edge m of the small graph has the features m and -m; the chord is there twice.
RawGraph featured_graph(bool with_times, std::optional<Repeats> repeats = Repeats::kFirst) {
  RawGraph graph = small_graph();
  RawFeatures& features = graph.edge_values.features;
  features = {.type = FeatureType::kF32, .dim = 2};
  for (std::size_t m = 0; m < graph.sources.size(); ++m) {
    const float row[] = {static_cast<float>(m), -static_cast<float>(m)};
    append_feature_rows(features, row, 2, "edges");
    if (with_times) graph.edge_values.times.push_back(100 - static_cast<std::int64_t>(m));
  }
  graph.repeats = repeats;
  return graph;
}

std::vector<float> first_columns(const Dataset& dataset, NodeId row) {
  std::vector<float> values;
  const auto* const rows = reinterpret_cast<const float*>(dataset.edge_features.data);
  for (EdgeOffset e = dataset.graph.indptr[row]; e < dataset.graph.indptr[row + std::size_t{1}]; ++e) {
    values.push_back(rows[2 * e]);
    EXPECT_EQ(rows[2 * e + 1], -rows[2 * e]);
  }
  return values;
}

TEST(EdgeFeaturesStore, RowsAreInTheOrderOfTheEntries) {
  const SmallStore store(featured_graph(false));
  const Dataset dataset = open_dataset(store.path());
  ASSERT_EQ(dataset.edge_features.num_rows, kEntries);
  // Row 1: edges 0 -> 1, 1 -> 2 and 1 -> 4 (number 7): reverses have the features of their edge.
  EXPECT_EQ(first_columns(dataset, 1), (std::vector<float>{0, 1, 7}));
  EXPECT_NO_THROW(verify_dataset(store.path()));
  const std::string text = summary_text(dataset, summarise(dataset));
  EXPECT_NE(text.find("edge features   2"), std::string::npos) << text;
}

TEST(EdgeFeaturesStore, RowsGoWithTheTimesOfTheEntries) {
  const SmallStore store(featured_graph(true));
  EXPECT_EQ(first_columns(open_dataset(store.path()), 1), (std::vector<float>{7, 1, 0})) << "the latest edge first";
  EXPECT_NO_THROW(verify_dataset(store.path()));
}

TEST(EdgeFeaturesStore, ReversesHaveTheFeaturesOfTheirEdges) {
  const SmallStore store(featured_graph(false));
  const Dataset dataset = open_dataset(store.path());
  const auto* const data = reinterpret_cast<const float*>(dataset.edge_features.data);
  const std::vector<float> stored(data, data + 2 * kEntries);
  for (std::size_t value = 0; value < 2 * kEntries; ++value) {
    std::vector<float> rows = stored;
    rows[value] += 1;
    store.replace_array("edge_features.npy", "<f4", {kEntries, 2}, rows);
    const auto row = std::ranges::upper_bound(dataset.graph.indptr, static_cast<EdgeOffset>(value / 2)) - 1;
    if (dataset.graph.indices[value / 2] == static_cast<NodeId>(row - dataset.graph.indptr.begin()))
      EXPECT_NO_THROW(verify_dataset(store.path())) << "a self loop is its own reverse";
    else
      expect_not_verified(store, {"edge_features.npy: an edge and its reverse have different features"});
  }
}

TEST(EdgeFeaturesStore, KeepsWhatIsGivenAgain) {
  RawGraph graph = featured_graph(false, std::nullopt);
  const std::size_t num_edges = graph.sources.size();
  std::size_t num_loops = 0;
  for (std::size_t m = 0; m < num_edges; ++m) num_loops += graph.sources[m] == graph.destinations[m];
  const SmallStore store(std::move(graph));
  const Dataset dataset = open_dataset(store.path());
  EXPECT_EQ(dataset.edge_features.num_rows, 2 * num_edges - num_loops) << "without --repeats";
  EXPECT_NO_THROW(verify_dataset(store.path()));
}

TEST(EdgeFeaturesStore, IsOfTheSecondVersionAlone) {
  const auto root_of = [](const SmallStore& store) { return json::parse(test::read_bytes(store / "dataset.json")); };
  const json plain = root_of(SmallStore()), featured = root_of(SmallStore(featured_graph(false)));
  EXPECT_EQ(plain["format_version"], 1);
  EXPECT_FALSE(plain.contains("edge_feature_dim"));
  EXPECT_EQ(featured["format_version"], 2);
  EXPECT_EQ(featured["edge_feature_dim"], 2);
  EXPECT_EQ(featured["edge_feature_dtype"], "f32");
}

TEST(EdgeFeaturesStore, RefusesWhatDoesNotFit) {
  const SmallStore store(featured_graph(false));
  store.replace_array("edge_features.npy", "<f4", {16, 2}, std::vector<float>(32));
  expect_refused(store, 65, {"edge_features.npy: shape (16, 2), expected (17, 2)"});
  store.replace_array("edge_features.npy", "<f2", {kEntries, 2}, std::vector<std::uint16_t>(34));
  expect_refused(store, 65, {"edge_features.npy: dtype <f2, expected <f4"});
  std::vector<float> rows(34, 1);
  rows[9] = std::numeric_limits<float>::quiet_NaN();
  store.replace_array("edge_features.npy", "<f4", {kEntries, 2}, rows);
  expect_not_verified(store, {"edge_features.npy: 1 values are not finite, the first in row 4, column 1"});
  store.edit_manifest([](json& root) { root["edge_feature_dtype"] = "fp8"; });
  expect_refused(store, 65, {"edge_feature_dtype", "is 'fp8', allowed are f16 and f32"});
  store.edit_manifest([](json& root) {
    root["edge_feature_dtype"] = "f32";
    root["files"].erase("edge_features.npy");
  });
  expect_refused(store, 65, {"edge_features.npy", "is missing"});
}

}  // namespace
}  // namespace salient
