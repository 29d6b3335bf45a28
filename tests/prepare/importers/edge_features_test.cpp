// tests/prepare/importers/edge_features_test.cpp - features of edges, of columns and of arrays, and bad ones.
#include "prepare/importers/edge_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "prepare/importers/edges_importer.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;
using Columns = std::vector<std::string>;

RawGraph imported(const std::string& text, EdgesOptions options) {
  const Scratch scratch;
  options.edges = write_bytes(scratch / "edges.csv", text);
  options.feature_type = FeatureType::kF32;
  return import_edges(options);
}

std::vector<float> rows_of(const RawGraph& graph) {
  const auto* const values = reinterpret_cast<const float*>(graph.edge_values.features.rows.data());
  return {values, values + graph.edge_values.features.rows.size() / sizeof(float)};
}

TEST(EdgeFeatures, ComeFromColumnsByNameOrNumber) {
  const std::string rows = "0,1,0.5,7,1\n1,2,2,8,0\n2,0,-1,9,1\n";
  const std::vector<float> expected{1, 0.5, 0, 2, 1, -1};
  for (const auto& [text, columns, weight] :
       {std::tuple<std::string, Columns, const char*>{
            "source,target,amount,day,is_new\n" + rows, {"is_new", "amount"}, "day"},
        {rows, {"4", "2"}, "3"}}) {
    const RawGraph graph = imported(text, {.weight_column = weight, .edge_feature_columns = columns});
    EXPECT_EQ(graph.sources, (std::vector<NodeId>{0, 1, 2}));
    EXPECT_EQ(graph.destinations, (std::vector<NodeId>{1, 2, 0}));
    EXPECT_EQ(graph.edge_values.features.dim, 2);
    EXPECT_EQ(rows_of(graph), expected) << "in the order that was asked for";
    EXPECT_EQ(graph.edge_values.weights, (std::vector<float>{7, 8, 9}));
    EXPECT_EQ(graph.repeats_or_default(), Repeats::kKeep);
  }
}

TEST(EdgeFeatures, MayBeTheWeightsToo) {
  const RawGraph graph = imported("0,1,0.5\n1,2,2\n", {.weight_column = "2", .edge_feature_columns = {"2"}});
  EXPECT_EQ(rows_of(graph), graph.edge_values.weights);
}

TEST(EdgeFeatures, ComeWithIdsThatAreText) {
  const RawGraph graph = imported("who;whom;rating\nann;bob;-3\nbob;eve;4\n", {.edge_feature_columns = {"rating"}});
  EXPECT_EQ(rows_of(graph), (std::vector<float>{-3, 4}));
  EXPECT_EQ(graph.source_options, "edge-feature-columns rating");
}

TEST(EdgeFeatures, AreScaledAsThoseOfNodes) {
  const std::string text = "0,1,1000,0.5\n1,2,3000,1\n2,0,5000,-1\n";
  const EdgesOptions columns{.edge_feature_columns = {"2", "3"}};
  const auto scaled = [&](FeatureScaling scaling) {
    EdgesOptions options = columns;
    options.wishes.scaling = scaling;
    return rows_of(imported(text, options));
  };
  const auto far = static_cast<float>(2000 / std::sqrt(8e6 / 3));
  EXPECT_EQ(scaled(FeatureScaling::kAuto), (std::vector<float>{-far, 0.5, 0, 1, far, -1})) << "what reaches beyond 10";
  EXPECT_EQ(scaled(FeatureScaling::kNone), (std::vector<float>{1000, 0.5, 3000, 1, 5000, -1}));
  EXPECT_NE(scaled(FeatureScaling::kStandard)[1], 0.5F);
}

TEST(EdgeFeatures, ManyBlocksOfLinesKeepTheirOrder) {
  std::string text = "source target kind\n";
  for (int m = 0; m < 300'000; ++m)
    text += std::to_string(m) + " " + std::to_string((m * 7) % 300'000) + " " + std::to_string(m % 10) + "\n";
  const std::vector<float> rows = rows_of(imported(text, {.edge_feature_columns = {"kind"}, .num_threads = 3}));
  ASSERT_EQ(rows.size(), 300'000u);
  for (std::size_t m = 0; m < rows.size(); ++m) ASSERT_EQ(rows[m], static_cast<float>(m % 10));
}

TEST(EdgeFeatures, AreTheRowsOfAnArray) {
  const Scratch scratch;
  const std::string values = test::npy("<f4", "(2, 2)", test::bytes_of(std::vector<float>{1, 2, 3, 4}));
  EdgesOptions options{.edges = write_bytes(scratch / "two.csv", "0,1\n1,2\n"),
                       .edge_features = write_bytes(scratch / "e.npy", values),
                       .feature_type = FeatureType::kF32};
  EXPECT_EQ(rows_of(import_edges(options)), (std::vector<float>{1, 2, 3, 4}));
  options.edges = write_bytes(scratch / "three.csv", "0,1\n1,2\n2,0\n");
  EXPECT_COMPLAINT(import_edges(options), 65, "e.npy: has 2 rows, and");
  EXPECT_COMPLAINT(import_edges(options), 65, "has 3 edges: a row for each");
}

TEST(EdgeFeatures, BadOnesAreNamedByLine) {
  const auto refused = [](const std::string& text, EdgesOptions options, const char* part) {
    EXPECT_COMPLAINT(imported(text, options), 65, part);
  };
  const EdgesOptions columns{.edge_feature_columns = {"2"}};
  refused("0,1,1\n1,2,many\n", columns, "line 2: 'many': the feature in column 2 is no finite number");
  refused("0,1,1\n1,2,\n", columns, "line 2: '': the feature in column 2 is no finite number");
  refused("0,1,nan\n1,2,1\n", columns, "line 1: 'nan': the feature in column 2 is no finite number");
  refused("0,1,1\n1,2,1e60\n", {.edge_feature_columns = {"2"}, .wishes = {.scaling = FeatureScaling::kNone}},
          "beyond the f32 range");
  refused("a,b,w\n0,1,1\n", {.edge_feature_columns = {"kind"}}, "kind");
  refused("0,1,1\n", {.edge_feature_columns = {"5"}}, "only 3 columns; column 5 was asked for");
}

TEST(EdgeFeatures, OptionsThatContradictAreNamed) {
  const auto expect = [](EdgesOptions options, const std::string& field) {
    options.edges = "edges.csv";
    const std::vector<FieldProblem> found = problems(options);
    ASSERT_EQ(found.size(), 1u) << field;
    EXPECT_EQ(found[0].field, field);
  };
  expect({.edge_features = "rows.csv"}, "edge-features");
  expect({.edge_feature_columns = {"2"}, .edge_features = "rows.npy"}, "edge-features");
  expect({.edge_feature_columns = {"kind", "kind"}}, "edge-feature-columns");
  expect({.weight_column = "3", .edge_feature_columns = {"2"}, .repeats = Repeats::kSum}, "repeats");
}

}  // namespace
}  // namespace salient
