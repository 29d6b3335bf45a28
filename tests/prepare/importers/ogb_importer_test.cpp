// tests/prepare/importers/ogb_importer_test.cpp - one small graph in both of OGB's layouts, and everything that may be
// wrong with it.
#include "prepare/importers/ogb_importer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "prepare/importers/ogb_layout.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::bytes_of;
using test::gzip;
using test::npy;
using test::zip;
using Ids = std::vector<NodeId>;

std::vector<float> floats_of(const RawGraph& graph) {
  std::vector<float> values(graph.features.rows.size() / sizeof(float));
  std::memcpy(values.data(), graph.features.rows.data(), graph.features.rows.size());
  return values;
}

/// Four nodes, three edges, two features; node 2 has no label.
class OgbImporterTest : public ::testing::Test {
 protected:
  OgbImporterTest() {
    put("split/time/train.csv.gz", "3\n0\n");
    put("split/time/valid.csv.gz", "2\n");
    put("split/time/test.csv.gz", "1\n");
    put("mapping/labelidx2field.csv.gz", "label idx,field\n0,cs na\n1,\"arts, crafts\"\n2,cs lo\n");
    put("mapping/nodeidx2paperid.csv.gz", "anything\n");
  }
  void put(const std::string& file, const std::string& text) { test::write_bytes(root_ / file, gzip(text)); }
  void put_csv() {
    put("raw/edge.csv.gz", "0,1\n1,2\n3,3\n");
    put("raw/node-feat.csv.gz", "0.5,-1\r\n2,0.25\r\n0.0,1e2\r\n-0.0,7\r\n");
    put("raw/node-label.csv.gz", "2\n0.0\nnan\n1\n");
    put("raw/num-node-list.csv.gz", "4\n");
    put("raw/num-edge-list.csv.gz", "3\n");
  }
  void put_binary(const std::string& edges, const std::string& features, const std::string& labels,
                  std::int64_t num_nodes = 4, std::int64_t num_edges = 3) {
    const auto count = [](std::int64_t n) { return npy("<i8", "(1,)", bytes_of(std::vector<std::int64_t>{n})); };
    test::write_bytes(root_ / "raw/data.npz", zip({{"edge_index.npy", edges},
                                                   {"node_feat.npy", features},
                                                   {"node_year.npy", "whatever"},
                                                   {"num_nodes_list.npy", count(num_nodes)},
                                                   {"num_edges_list.npy", count(num_edges)}}));
    test::write_bytes(root_ / "raw/node-label.npz", zip({{"node_label.npy", labels}}));
  }
  RawGraph import() { return import_ogb({.raw = root_, .feature_type = FeatureType::kF32, .num_threads = 2}); }
  void expect_whole(const RawGraph& graph) {
    EXPECT_EQ(graph.name, "tiny");
    EXPECT_EQ(graph.source_kind, "ogb");
    EXPECT_EQ(graph.num_nodes, 4u);
    EXPECT_EQ(graph.sources, (Ids{0, 1, 3}));
    EXPECT_EQ(graph.destinations, (Ids{1, 2, 3}));
    EXPECT_TRUE(graph.symmetrise);
    EXPECT_EQ(graph.features.dim, 2);
    EXPECT_EQ(floats_of(graph), (std::vector<float>{0.5f, -1, 2, 0.25f, 0, 100, 0, 7}));
    EXPECT_EQ(graph.labels, (std::vector<std::int32_t>{2, 0, -1, 1}));
    EXPECT_EQ(graph.num_classes, 3);
    EXPECT_EQ(graph.train, (Ids{3, 0}));
    EXPECT_EQ(graph.valid, (Ids{2}));
    EXPECT_EQ(graph.test, (Ids{1}));
    EXPECT_EQ(graph.class_names, (std::vector<std::string>{"cs na", "arts, crafts", "cs lo"}));
  }
  void expect_bad(const std::string& message) { EXPECT_COMPLAINT(import(), ErrorKind::kBadData, message); }
  /// With one CSV file changed, then whole again.
  void expect_bad_file(const std::string& file, const std::string& text, const std::string& message) {
    const std::string before = test::read_bytes(root_ / file);
    put(file, text);
    expect_bad(message);
    test::write_bytes(root_ / file, before);
  }

  const std::vector<std::int64_t> edges_ = {0, 1, 3, 1, 2, 3};
  const std::vector<float> features_ = {0.5f, -1, 2, 0.25f, 0, 100, 0, 7};
  const std::vector<float> labels_ = {2, 0, std::numeric_limits<float>::quiet_NaN(), 1};
  const std::string good_edges_ = npy("<i8", "(2, 3)", bytes_of(edges_));
  const std::string good_features_ = npy("<f4", "(4, 2)", bytes_of(features_));
  const std::string good_labels_ = npy("<f4", "(4, 1)", bytes_of(labels_));
  const test::Scratch scratch_;
  const std::filesystem::path root_ = scratch_ / "tiny";
};

TEST_F(OgbImporterTest, CsvLayout) {
  put_csv();
  expect_whole(import());
  expect_whole(import_ogb({.raw = root_ / "raw", .feature_type = FeatureType::kF32, .num_threads = 1}));
  const RawGraph directed = import_ogb({.raw = root_, .name = "mine", .symmetric = Symmetric::kNo});
  EXPECT_EQ(directed.name, "mine");
  EXPECT_FALSE(directed.symmetrise);
}

TEST_F(OgbImporterTest, BinaryLayout) {
  put_binary(good_edges_, good_features_, good_labels_);
  expect_whole(import());
}

TEST_F(OgbImporterTest, MinusOneIsUnlabelledAsNanIs) {
  put_csv();
  for (const char* none : {"-1", "-1.0", "nan"}) {
    put("raw/node-label.csv.gz", std::string("2\n0.0\n") + none + "\n1\n");
    expect_whole(import());
  }
  std::filesystem::remove_all(root_ / "raw");
  put_binary(good_edges_, good_features_, npy("<i8", "(4, 1)", bytes_of(std::vector<std::int64_t>{2, 0, -1, 1})));
  expect_whole(import());
}

TEST_F(OgbImporterTest, BinaryLayoutInFortranOrderAndOtherTypes) {
  const std::vector<std::int32_t> pairs = {0, 1, 1, 2, 3, 3};
  const std::vector<double> columns = {0.5, 2, 0, 0, -1, 0.25, 100, 7};
  put_binary(npy("<i4", "(2, 3)", bytes_of(pairs), true), npy("<f8", "(4, 2)", bytes_of(columns), true),
             npy("<f8", "(4,)", bytes_of(std::vector<double>(labels_.begin(), labels_.end()))));
  expect_whole(import());
}

TEST_F(OgbImporterTest, SeveralColumnsOfLabelsAreALabelEach) {
  const std::vector<std::int8_t> expected = {1, 0, 0, 1, -1, -1, 0, -1};
  const auto expect_flags = [&](const RawGraph& graph) {
    EXPECT_EQ(graph.task, Task::kMultiLabel);
    EXPECT_EQ(graph.num_classes, 2);
    EXPECT_TRUE(graph.labels.empty());
    EXPECT_EQ(graph.multi_labels, expected);
  };
  put_csv();
  put("raw/node-label.csv.gz", "1,0\n0.0,1.0\nnan,\n0,nan\n");
  expect_flags(import());
  for (const auto& [text, message] : std::vector<std::pair<const char*, const char*>>{
           {"1,0\n0,2\n0,0\n0,0\n", "node-label.csv.gz: line 2: column 2 is not 0 or 1"},
           {"1,0\n0,no\n0,0\n0,0\n", "node-label.csv.gz: line 2: column 2 is not 0 or 1"},
           {"1,0\n0\n0,0\n0,0\n", "node-label.csv.gz: line 2: has 1 columns, the first line has 2"},
           {"1,0\n0,0\n0,0,1\n0,0\n", "node-label.csv.gz: line 3: has 3 columns, the first line has 2"},
           {"1,0\n0,0\n0,0\n", "has 3 of the 4 lines"},
           {"1,0\n0,0\n0,0\n0,0\n0,0\n", "has more than the 4 lines"},
           {",\n0,0\n0,0\n0,0\n", "a training node without a label"}})
    expect_bad_file("raw/node-label.csv.gz", text, message);

  std::filesystem::remove_all(root_ / "raw");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> rows = {1, 0, 0, 1, nan, nan, 0, nan}, columns = {1, 0, nan, 0, 0, 1, nan, nan};
  put_binary(good_edges_, good_features_, npy("<f4", "(4, 2)", bytes_of(rows)));
  expect_flags(import());
  put_binary(good_edges_, good_features_, npy("<f4", "(4, 2)", bytes_of(columns), true));
  expect_flags(import());
}

/// NaN as -1000, so that lists can be compared.
std::vector<float> plain(std::vector<float> values) {
  std::ranges::replace_if(
      values, [](float value) { return std::isnan(value); }, -1000.0F);
  return values;
}

TEST_F(OgbImporterTest, ColumnsOfLabelsAreValuesToBePredictedWhereThatIsSaid) {
  const auto of = [&](const std::string& column) {
    return import_ogb({.raw = root_, .targets = {column}, .feature_type = FeatureType::kF32, .num_threads = 2});
  };
  const auto expect_values = [&] {
    const RawGraph all = of("all");
    EXPECT_EQ(all.task, Task::kRegression);
    EXPECT_EQ(all.num_classes, 2);
    EXPECT_TRUE(all.labels.empty() && all.multi_labels.empty() && all.class_names.empty());
    EXPECT_EQ(plain(all.targets), (std::vector<float>{1.5F, 0, 2e3F, -1, -1000, -1000, 0.25F, -1000}));
    EXPECT_EQ(plain(of("1").targets), (std::vector<float>{0, -1, -1000, -1000}));
    EXPECT_COMPLAINT(of("2"), ErrorKind::kBadData, "has 2 columns, none is '2'; all takes each of them");
  };
  put("split/time/train.csv.gz", "0\n");
  put_csv();
  put("raw/node-label.csv.gz", "1.5,0\n2e3,-1\nnan,\n.25,nan\n");
  expect_values();
  put("raw/node-label.csv.gz", "1.5,0\n1e39,0\n0,0\n0,0\n");
  EXPECT_COMPLAINT(of("all"), ErrorKind::kBadData,
                   "node-label.csv.gz: line 2: column 1 is beyond the range of a float");
  put("raw/node-label.csv.gz", "1.5,0\n0,dear\n0,0\n0,0\n");
  EXPECT_COMPLAINT(of("all"), ErrorKind::kBadData, "node-label.csv.gz: line 2: column 2 is no number to predict");
  put("raw/node-label.csv.gz", "2.5\nnan\n3\n-1\n");
  EXPECT_EQ(plain(of("0").targets), (std::vector<float>{2.5F, -1000, 3, -1}));

  std::filesystem::remove_all(root_ / "raw");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  put_binary(good_edges_, good_features_,
             npy("<f4", "(4, 2)", bytes_of(std::vector<float>{1.5F, 0, 2e3F, -1, nan, nan, 0.25F, nan})));
  expect_values();
  EXPECT_TRUE(problems({.raw = root_, .targets = {"all"}}).empty());
  const std::vector<FieldProblem> found =
      problems({.raw = root_, .targets = {"all"}, .label_choice = {.compact = true}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].field, "target");
}

TEST_F(OgbImporterTest, WithoutNodeFeaturesTheyAreTheMeanOfTheEdges) {
  put_csv();
  put("raw/edge.csv.gz", "0,1\n1,2\n2,2\n");
  std::filesystem::remove(root_ / "raw/node-feat.csv.gz");
  EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, "missing: raw/node-feat.csv.gz");
  put("raw/edge-feat.csv.gz", "1,10\n2,30\n6,20\n");
  const RawGraph graph = import();
  EXPECT_EQ(graph.features.dim, 2);
  EXPECT_EQ(floats_of(graph), (std::vector<float>{1, 10, 1.5f, 20, 4, 25, 0, 0}));
  const RawGraph directed = import_ogb({.raw = root_, .feature_type = FeatureType::kF32, .symmetric = Symmetric::kNo});
  EXPECT_EQ(floats_of(directed), (std::vector<float>{0, 0, 1, 10, 4, 25, 0, 0}));
  expect_bad_file("raw/edge-feat.csv.gz", "1,1\n1,nan\n1,1\n", "edge-feat.csv.gz: line 2: column 2 is nan");
  expect_bad_file("raw/edge-feat.csv.gz", "1,1\n1,1\n", "edge-feat.csv.gz: has 2 of the 3 lines that num-edge-list");
  expect_bad_file("raw/edge-feat.csv.gz", "1,1\n1,1\n1,1\n1,1\n", "edge-feat.csv.gz: has more than the 3 lines");
}

TEST_F(OgbImporterTest, FeaturesOfEdgesAreKeptWhereAskedFor) {
  put_csv();
  put("raw/edge-feat.csv.gz", "1,10\n2,30\n6,20\n");
  const OgbOptions keep{.raw = root_, .feature_type = FeatureType::kF32, .keeps_edge_features = true};
  const auto kept_of = [](const RawGraph& graph) {
    const RawFeatures& features = graph.edge_values.features;
    EXPECT_EQ(features.dim, 2);
    const auto* const values = reinterpret_cast<const float*>(features.rows.data());
    return std::vector<float>(values, values + features.rows.size() / sizeof(float));
  };
  const std::vector<float> expected{1, 10, 2, 30, 6, 20};
  const RawGraph beside = import_ogb(keep);
  EXPECT_EQ(kept_of(beside), expected);
  EXPECT_EQ(floats_of(beside), floats_of(import())) << "nodes have their own";
  EXPECT_EQ(import().edge_values.features.dim, 0);
  const std::uint64_t with_nodes = ogb_memory_bytes(keep);
  EXPECT_GT(with_nodes, ogb_memory_bytes({.raw = root_, .feature_type = FeatureType::kF32}));
  std::filesystem::remove(root_ / "raw/node-feat.csv.gz");
  const RawGraph means = import_ogb(keep);
  EXPECT_EQ(kept_of(means), expected);
  EXPECT_EQ(floats_of(means), floats_of(import())) << "nodes have the means of edges";
  put_binary(good_edges_, good_features_, good_labels_);
  std::filesystem::remove(root_ / "raw/edge.csv.gz");
  EXPECT_COMPLAINT((void)import_ogb(keep), ErrorKind::kUsage, "features of edges are kept of sets in the CSV layout");
}

TEST_F(OgbImporterTest, ManyBlocksGiveWhatOneThreadGives) {
  put_csv();
  std::string edges, features, labels;
  constexpr int kNodes = 150'000;
  for (int i = 0; i < kNodes; ++i) {
    edges += std::to_string(i) + "," + std::to_string((i * 7919) % kNodes) + "\n";
    features += std::to_string(i) + "," + std::to_string(-i) + ".5,0.0,0.0,0.0\n";
    labels += std::to_string(i % 10) + "\n";
  }
  const std::string count = std::to_string(kNodes) + "\n";
  for (const auto& [file, text] : std::vector<std::pair<const char*, const std::string*>>{{"edge", &edges},
                                                                                          {"node-feat", &features},
                                                                                          {"node-label", &labels},
                                                                                          {"num-node-list", &count},
                                                                                          {"num-edge-list", &count}})
    put(std::string("raw/") + file + ".csv.gz", *text);
  const RawGraph graph = import();
  const std::vector<float> values = floats_of(graph);
  ASSERT_EQ(values.size(), 5u * kNodes);
  for (int i = 0; i < kNodes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(graph.sources[at], at);
    ASSERT_EQ(graph.destinations[at], static_cast<NodeId>((i * 7919) % kNodes));
    ASSERT_EQ(values[5 * at + 1], i == 0 ? 0.5f : static_cast<float>(-i - 0.5));
  }
  // The first bad line is the one that is named, whichever thread finds a bad one first.
  edges.replace(edges.find("\n100000,") + 1, 6, "x");
  edges.replace(edges.find("\n140000,") + 1, 6, "y");
  for (int repeat = 0; repeat < 5; ++repeat) expect_bad_file("raw/edge.csv.gz", edges, "edge.csv.gz: line 100001: ");
}

TEST_F(OgbImporterTest, BrokenCsvFiles) {
  put_csv();
  const std::string edge = "raw/edge.csv.gz", feat = "raw/node-feat.csv.gz", label = "raw/node-label.csv.gz";
  for (const char* line : {"1", "1,", ",1", "1;2", "1, 2", "1,2,3", "-1,2", "1.0,2", "", "a,b"})
    expect_bad_file(
        edge, std::string("0,1\n") + line + "\n3,3\n",
        std::string("tiny/raw/edge.csv.gz: line 2: two node ids with a comma between them are expected: '") + line +
            "'");
  expect_bad_file(edge, "0,1\n1,2\n3,4\n", "edge.csv.gz: line 3: the graph has nodes 0 to 3: '3,4'");
  expect_bad_file(edge, "4,1\n1,2\n3,3\n", "edge.csv.gz: line 1: the graph has nodes 0 to 3: '4,1'");
  expect_bad_file(edge, "0,1\n1,2\n", "edge.csv.gz: has 2 of the 3 lines that num-edge-list.csv.gz promises");
  expect_bad_file(edge, "0,1\n1,2\n3,3\n1,1\n",
                  "edge.csv.gz: has more than the 3 lines that num-edge-list.csv.gz promises");

  expect_bad_file(feat, "", "node-feat.csv.gz: is empty");
  expect_bad_file(feat, "1,2\n3\n4,5\n6,7\n", "node-feat.csv.gz: line 2: has 1 columns, the first line has 2: '3'");
  expect_bad_file(feat, "1,2\n3,4,5\n4,5\n6,7\n", "node-feat.csv.gz: line 2: has 3 columns, the first line has 2");
  for (const char* field : {"", "x", " 1", "1e39", "1e999", "0x1"})
    expect_bad_file(
        feat, std::string("1,2\n3,") + field + "\n4,5\n6,7\n",
        std::string("node-feat.csv.gz: line 2: column 2 is not a number of float's range: '") + field + "'");
  expect_bad_file(feat, "1,2\n3,nan\n4,5\n6,7\n", "node-feat.csv.gz: row 1, column 1 is nan");
  expect_bad_file(feat, "1,2\n3,4\n4,5\n", "node-feat.csv.gz: has 3 of the 4 lines that num-node-list.csv.gz promises");
  expect_bad_file(feat, "1,2\n3,4\n4,5\n6,7\n8,9\n", "node-feat.csv.gz: has more than the 4 lines");

  for (const char* line : {"x", "", "1.5", "-2", "inf", "3000000000", "0,1"})
    expect_bad_file(
        label, std::string("2\n") + line + "\n0\n0\n",
        std::string("node-label.csv.gz: line 2: is not a class (0, 1, ..., or -1 or nan for none): '") + line + "'");
  expect_bad_file(label, "2\n0\n0\n", "node-label.csv.gz: has 3 of the 4 lines");
  expect_bad_file(label, "2\n0\n0\n1\n1\n", "node-label.csv.gz: has more than the 4 lines");

  expect_bad_file("raw/num-node-list.csv.gz", "", "num-node-list.csv.gz: is empty, one count is expected");
  expect_bad_file("raw/num-node-list.csv.gz", "four\n", "num-node-list.csv.gz: line 1: is not a count: 'four'");
  expect_bad_file("raw/num-node-list.csv.gz", "4\n4\n", "num-node-list.csv.gz: line 2: one count is expected");
  expect_bad_file("raw/num-node-list.csv.gz", "0\n", "a graph has 1 to 2^32 - 2 nodes, not 0");
  expect_bad_file("raw/num-node-list.csv.gz", "4294967295\n", "a graph has 1 to 2^32 - 2 nodes, not 4294967295");
  expect_whole(import());
}

TEST_F(OgbImporterTest, BrokenSplits) {
  put_csv();
  const std::string train = "split/time/train.csv.gz", test = "split/time/test.csv.gz";
  expect_bad_file(train, "3\nx\n", "train.csv.gz: line 2: is not a node id: 'x'");
  expect_bad_file(train, "3\n4\n", "train.csv.gz: line 2: the graph has nodes 0 to 3: '4'");
  expect_bad_file(train, "3\n3\n", "train.csv.gz: line 2: the node is already in train.csv.gz: '3'");
  expect_bad_file(train, "3\n2\n", "train.csv.gz: line 2: a training node without a label: '2'");
  expect_bad_file(test, "1\n2\n", "test.csv.gz: line 2: the node is already in valid.csv.gz: '2'");
  put("split/other/train.csv.gz", "");
  expect_bad("split: holds several splits (other, time); leave the one to use");
}

TEST_F(OgbImporterTest, BrokenArrays) {
  const auto expect = [&](const std::string& message, const std::string& edges, const std::string& features,
                          const std::string& labels, std::int64_t num_nodes = 4, std::int64_t num_edges = 3) {
    put_binary(edges, features, labels, num_nodes, num_edges);
    expect_bad(message);
  };
  std::vector<std::int64_t> far = edges_;
  far[4] = 4;
  expect("data.npz: 'edge_index.npy': item 4 is 4, the graph has nodes 0 to 3", npy("<i8", "(2, 3)", bytes_of(far)),
         good_features_, good_labels_);
  far[4] = -1;
  expect("data.npz: 'edge_index.npy': item 4 is -1, which is negative", npy("<i8", "(2, 3)", bytes_of(far)),
         good_features_, good_labels_);
  expect("'edge_index.npy': has shape (3, 2), expected (2, 3)", npy("<i8", "(3, 2)", bytes_of(edges_)), good_features_,
         good_labels_);
  expect("'edge_index.npy': has shape (2, 3), expected (2, 4)", good_edges_, good_features_, good_labels_, 4, 4);
  expect("'edge_index.npy': has type <f4", npy("<f4", "(2, 3)", std::string(24, '\0')), good_features_, good_labels_);
  expect("'node_feat.npy': has shape (2, 4), expected (4, F)", good_edges_, npy("<f4", "(2, 4)", bytes_of(features_)),
         good_labels_);
  expect("'node_feat.npy': has type <i4, floating-point numbers are expected", good_edges_,
         npy("<i4", "(4, 2)", bytes_of(features_)), good_labels_);
  std::vector<float> infinite = features_;
  infinite[5] = std::numeric_limits<float>::infinity();
  expect("'node_feat.npy': row 2, column 1 is inf", good_edges_, npy("<f4", "(4, 2)", bytes_of(infinite)),
         good_labels_);
  expect("node-label.npz: 'node_label.npy': has shape (2, 2), expected (4, 1)", good_edges_, good_features_,
         npy("<f4", "(2, 2)", bytes_of(labels_)));
  std::vector<float> half = labels_;
  half[1] = 0.5f;
  expect("'node_label.npy': item 1 is 0.5, which is no class", good_edges_, good_features_,
         npy("<f4", "(4, 1)", bytes_of(half)));
  expect("a graph has 1 to 2^32 - 2 nodes, not 0", good_edges_, good_features_, good_labels_, 0);
  expect("'num_nodes_list.npy': item 0 is -1, which is negative", good_edges_, good_features_, good_labels_, -1);
  test::write_bytes(root_ / "raw/data.npz", zip({{"edge_index.npy", good_edges_}}));
  expect_bad("data.npz: has no array num_nodes_list.npy; it has: 'edge_index.npy'");
}

TEST_F(OgbImporterTest, MissingFilesAreListedInOneLine) {
  const auto expect = [&](const std::string& message) { EXPECT_COMPLAINT(import(), ErrorKind::kNoInput, message); };
  expect("tiny: holds no folder raw/, as the folder that OGB's zip unpacks to does");
  put_csv();
  std::filesystem::remove(root_ / "raw/edge.csv.gz");
  std::filesystem::remove(root_ / "split/time/test.csv.gz");
  expect("tiny: missing: raw/edge.csv.gz, split/time/test.csv.gz; is the download complete?");
  test::write_bytes(root_ / "raw/data.npz", "");
  expect("tiny: missing: raw/node-label.npz, split/time/test.csv.gz; is the download complete?");
  std::filesystem::remove_all(root_ / "split");
  expect("tiny/split: is missing; is the download complete?");
  std::filesystem::create_directories(root_ / "split");
  expect("tiny/split: holds no split; is the download complete?");
  EXPECT_COMPLAINT(import_ogb({.raw = root_ / "none"}), ErrorKind::kNoInput, "none is not a folder");
}

TEST_F(OgbImporterTest, LabelChoicesKnowAllClassesAndTheirNames) {
  using Names = std::vector<std::string>;
  const auto names = test::write_bytes(scratch_ / "names.txt", "red\ngreen\nblue\n");
  const auto import = [&](const LabelChoice& choice) { return import_ogb({.raw = root_, .label_choice = choice}); };
  put_csv();
  EXPECT_EQ(import({.class_names = names}).class_names, (Names{"red", "green", "blue"})) << "not those of mapping/";
  put_binary(good_edges_, good_features_, good_labels_);
  EXPECT_EQ(import({.class_names = names}).class_names, (Names{"red", "green", "blue"}));
  std::filesystem::remove(root_ / "raw/data.npz");
  put("raw/node-label.csv.gz", "2\n0\nnan\n2\n");
  const RawGraph compact = import({.compact = true});
  EXPECT_EQ(compact.labels, (std::vector<std::int32_t>{1, 0, -1, 1}));
  EXPECT_EQ(compact.num_classes, 2);
  EXPECT_EQ(compact.class_names, (Names{"cs na", "cs lo"}));
  const RawGraph known = import_ogb({.raw = root_, .name = "ogbn-arxiv", .label_choice = {.compact = true}});
  EXPECT_EQ(known.num_classes, 2) << "not the 40 that are published";
  put("raw/node-label.csv.gz", "1,0,0\n0,1,0\n0,0,0\n1,0,0\n");
  EXPECT_EQ(import({.one_hot = true}).num_classes, 3) << "a class without a node is one";
}

TEST_F(OgbImporterTest, ClassNamesOfAnotherFormAreLeftOut) {
  put_csv();
  for (const char* text :
       {"label idx,field\n0,a\n1,b\n", "label idx,field\n1,a\n2,b\n3,c\n", "label idx,field\nx\n", ""}) {
    put("mapping/labelidx2field.csv.gz", text);
    EXPECT_TRUE(import().class_names.empty()) << text;
  }
}

}  // namespace
}  // namespace salient
