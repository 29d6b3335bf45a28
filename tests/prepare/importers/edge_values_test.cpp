// tests/prepare/importers/edge_values_test.cpp - weights and times of edges, in every form of a table, and bad ones.
#include "prepare/importers/edge_values.h"

#include <gtest/gtest.h>

#include "prepare/importers/edges_importer.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;
using Ids = std::vector<NodeId>;
using Weights = std::vector<float>;
using Times = std::vector<std::int64_t>;

TEST(EdgeTimes, AreNumbersOrDates) {
  const auto expect = [](std::string_view text, TimeForm form, std::int64_t expected = 0) {
    std::int64_t time = 0;
    ASSERT_EQ(parse_time(text, time), form) << text;
    if (form == TimeForm::kNone) return;
    EXPECT_EQ(time, expected) << text;
  };
  expect("17", TimeForm::kNumber, 17);
  expect("-9223372036854775808", TimeForm::kNumber, INT64_MIN);
  expect("1289241912.0", TimeForm::kNumber, 1289241912);
  expect("1.5e9", TimeForm::kNumber, 1'500'000'000);
  expect("1970-01-01", TimeForm::kDate, 0);
  expect("2004-04-15", TimeForm::kDate, 1'081'987'200);
  expect("2004-04-15T12:30", TimeForm::kDate, 1'082'032'200);
  expect("2004-04-15 12:30:59", TimeForm::kDate, 1'082'032'259);
  expect("2004-04-15T12:30:59Z", TimeForm::kDate, 1'082'032'259);
  expect("2004-04-15T12:30:59+02:00", TimeForm::kDate, 1'082'025'059);
  expect("2004-04-15T12:30-01:30", TimeForm::kDate, 1'082'037'600);
  expect("1969-12-31", TimeForm::kDate, -86'400);
  for (const std::string_view bad :
       {"", "now", "1.5", "1e300", "nan", "9223372036854775808", "2004-02-30", "2004-4-15", "15/04/2004", "2004-04-15T",
        "2004-04-15T24:00", "2004-04-15T12:30:60", "2004-04-15T12:30+", "2004-04-15T12:30+2:00",
        "2004-04-15T12:30:00.5", "2004-04-15x", "2004-0415"})
    expect(bad, TimeForm::kNone);
}

TEST(EdgeWeights, AreMapped) {
  const std::vector<double> given{-2, 0, 5};
  EXPECT_EQ(mapped_weights(given, WeightMap::kAbs, ""), (Weights{2, 0, 5}));
  EXPECT_EQ(mapped_weights(given, WeightMap::kShift, ""), (Weights{0, 2, 7}));
  EXPECT_EQ(mapped_weights(given, WeightMap::kClip, ""), (Weights{0, 0, 5}));
  EXPECT_COMPLAINT(mapped_weights({1, 1e300}, WeightMap::kNone, "a.csv"), 65, "a.csv: edge 1 has the weight 1e+300");
  EXPECT_COMPLAINT(mapped_weights({1e-300}, WeightMap::kNone, "a.csv"), 65, "which no float holds");
}

RawGraph imported(const std::string& text, EdgesOptions options) {
  const Scratch scratch;
  options.edges = write_bytes(scratch / "edges.csv", text);
  return import_edges(options);
}

TEST(EdgeValues, ComeFromColumnsByNameOrNumber) {
  const std::string rows = "0,1,0.5,2004-04-15\n1,2,2,2004-04-16\n2,0,0,1970-01-01\n";
  for (const auto& [text, weight, time] :
       {std::tuple<std::string, const char*, const char*>{"source,target,amount,day\n" + rows, "amount", "day"},
        {rows, "2", "3"},
        {"from,to,w,t\n" + rows, "w", "t"}}) {
    const RawGraph graph = imported(text, {.weight_column = weight, .time_column = time});
    EXPECT_EQ(graph.sources, (Ids{0, 1, 2}));
    EXPECT_EQ(graph.destinations, (Ids{1, 2, 0}));
    EXPECT_EQ(graph.edge_values.weights, (Weights{0.5, 2, 0}));
    EXPECT_EQ(graph.edge_values.times, (Times{1'081'987'200, 1'082'073'600, 0}));
    EXPECT_EQ(graph.repeats_or_default(), Repeats::kKeep);
  }
}

TEST(EdgeValues, ComeWithIdsThatAreText) {
  const RawGraph graph =
      imported("who;whom;rating\nann;bob;-3\nbob;eve;4\n", {.weight_column = "rating", .weight_map = WeightMap::kAbs});
  EXPECT_EQ(graph.num_nodes, 3u);
  EXPECT_EQ(graph.edge_values.weights, (Weights{3, 4}));
  EXPECT_EQ(graph.repeats_or_default(), Repeats::kSum);
  EXPECT_EQ(graph.source_options, "weight-column rating weight-map abs");
}

TEST(EdgeValues, ManyBlocksOfLinesKeepTheirOrder) {
  std::string text = "source target weight\n";
  for (int m = 0; m < 300'000; ++m)
    text += std::to_string(m) + " " + std::to_string((m * 7) % 300'000) + " " + std::to_string(m % 1000) + "\n";
  const RawGraph graph = imported(text, {.weight_column = "weight", .num_threads = 3});
  ASSERT_EQ(graph.edge_values.weights.size(), 300'000u);
  for (std::size_t m = 0; m < 300'000; ++m) ASSERT_EQ(graph.edge_values.weights[m], static_cast<float>(m % 1000));
}

TEST(EdgeValues, AreThoseOfAMatrixMarketFile) {
  const RawGraph graph =
      imported("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 4\n", {.weight_column = "2"});
  EXPECT_EQ(graph.edge_values.weights, (Weights{0.5, 4}));
}

TEST(EdgeValues, AreThoseOfASparseMatrix) {
  const Scratch scratch;
  const auto whole = [](const std::vector<std::int64_t>& values) {
    return test::npy("<i8", "(2,)", test::bytes_of(values));
  };
  const std::string values = test::npy("<f8", "(2,)", test::bytes_of(std::vector<double>{0.5, -2}));
  EdgesOptions options{.edges = write_bytes(scratch / "adj.npz", test::zip({{"row.npy", whole({0, 2})},
                                                                            {"col.npy", whole({1, 0})},
                                                                            {"data.npy", values},
                                                                            {"shape.npy", whole({3, 3})}})),
                       .weight_column = "data",
                       .weight_map = WeightMap::kShift};
  EXPECT_EQ(import_edges(options).edge_values.weights, (Weights{2.5, 0}));
  options.weight_map = WeightMap::kNone;
  EXPECT_COMPLAINT(import_edges(options), 65, "the weight is below 0");
  options.weight_column = "values";
  EXPECT_COMPLAINT(import_edges(options), 65, "weights are the array 'data' of the matrix, not 'values'");
  options.weight_column = "";
  options.time_column = "data";
  EXPECT_COMPLAINT(import_edges(options), 65, "has no columns of weights or times");
}

TEST(EdgeValues, BadOnesAreNamedByLine) {
  const auto refused = [](const std::string& text, EdgesOptions options, const char* part) {
    EXPECT_COMPLAINT(imported(text, options), 65, part);
  };
  const EdgesOptions weights{.weight_column = "2"}, times{.time_column = "2"};
  refused("0,1,1\n1,2,-0.5\n", weights, "line 2: '-0.5': the weight is below 0; mapped by abs, shift or clip");
  refused("0,1,1\n1,2,nan\n", weights, "line 2: 'nan': the weight is no finite number");
  refused("0,1,1\n1,2,inf\n", weights, "'inf': the weight is no finite number");
  refused("0,1,1\n1,2,\n", weights, "line 2: '': the weight is no finite number");
  refused("0,1,1\n1,2,many\n", weights, "'many': the weight is no finite number");
  refused("0,1,1\n1,2,1e-60\n", weights, "edge 1 has the weight 1e-60, which no float holds");
  refused("0,1,1\n1,2,\n", times, "line 2: '': the time is no whole number and no date");
  refused("0,1,1\n1,2,1.5\n", times, "line 2: '1.5': the time is no whole number");
  refused("0,1,1\n1,2,2004-04-15\n", times, "line 2: the time is a date, that of line 1 is none");
  refused("0,1,2004-04-15\n1,2,7\n", times, "line 2: the time is a number, that of line 1 is none");
  refused("a,b,w\n0,1,1\n", {.weight_column = "weight"}, "weight");
  refused("0,1,1\n", {.weight_column = "5"}, "only 3 columns; column 5 was asked for");
  refused("0,1,1,x\n", weights, "4 columns; an edge has two");
}

TEST(EdgeValues, OptionsThatContradictAreNamed) {
  const auto problem = [](EdgesOptions options) {
    options.edges = "edges.csv";
    const auto found = problems(options);
    return found.empty() ? std::string() : std::string(found.front().field);
  };
  EXPECT_EQ(problem({.weight_map = WeightMap::kAbs}), "weight-map");
  EXPECT_EQ(problem({.repeats = Repeats::kSum}), "repeats");
  EXPECT_EQ(problem({.weight_column = "w", .time_column = "t", .repeats = Repeats::kSum}), "repeats");
  EXPECT_EQ(problem({.weight_column = "w", .time_column = "w"}), "time-column");
  EXPECT_EQ(problem({.weight_column = "w", .repeats = Repeats::kSum}), "");
}

}  // namespace
}  // namespace salient
