// tests/store/dataset_test.cpp - a good store opens and verifies; each rule of the format, broken alone, is named.
#include "store/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "store/dataset_summary.h"
#include "store/node_ids.h"
#include "store/target_scales.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::read_bytes, test::Scratch, test::SmallStore,
    test::write_bytes;

template <class T>
std::vector<T> as_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

TEST(Dataset, OpensWhatWasWritten) {
  const SmallStore store;
  const Dataset dataset = open_dataset(store.path());
  EXPECT_EQ(dataset.name, "small");
  EXPECT_EQ(dataset.source_kind, "edges");
  EXPECT_EQ(dataset.fingerprint, to_hex(digest_file(store / "dataset.json").xxh3));
  EXPECT_TRUE(dataset.is_symmetric);
  EXPECT_EQ(dataset.num_classes, 3);
  EXPECT_EQ(as_vector(dataset.graph.indptr), (std::vector<EdgeOffset>{0, 2, 5, 8, 10, 13, 15, 17, 17}));
  EXPECT_EQ(as_vector(dataset.graph.indices), (std::vector<NodeId>{1, 6, 0, 2, 4, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5}));
  EXPECT_EQ(as_vector(dataset.labels), (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, -1, 1}));
  EXPECT_EQ(as_vector(dataset.train), (std::vector<NodeId>{4, 0, 1})) << "order kept";
  EXPECT_EQ(as_vector(dataset.test), (std::vector<NodeId>{7, 6}));
  EXPECT_EQ(dataset.features.num_rows, 8u);
  EXPECT_EQ(dataset.features.row_bytes, 4u);
  EXPECT_NO_THROW(verify_dataset(store.path()));
  Dataset moved = open_dataset(store.path());
  const Dataset kept = std::move(moved);
  EXPECT_EQ(kept.graph.indices.front(), 1u) << "spans live as long as the data set, wherever it moved";
}

TEST(Dataset, MissingFilesAreNamed) {
  const Scratch scratch;
  const auto refused = [](const std::filesystem::path& path, const std::vector<std::string>& parts) {
    try {
      open_dataset(path);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kNoInput) << error.what();
      EXPECT_EQ(error.topic(), Topic::kMissingDataset) << error.what();
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused(scratch / "nothing", {"nothing is missing"});
  std::filesystem::create_directory(scratch / "half.tmp-host-17");
  refused(scratch / "half", {"half.tmp-host-17", "interrupted"});
  std::filesystem::create_directory(scratch / "empty");
  refused(scratch / "empty", {"empty/dataset.json is missing"});
  for (const char* name : {"indptr.npy", "indices.npy", "labels.npy", "train.npy", "features.npy"}) {
    const SmallStore store;
    std::filesystem::remove(store / name);
    refused(store.path(), {name, "is missing"});
  }
}

TEST(Dataset, ArrayFilesAreNpy) {
  const SmallStore store;
  for (const auto& [bytes, why] : {std::pair{"\x1F\x8B\x08 zipped", "gzip"},
                                   {"PK\x03\x04", "zip"},
                                   {"version https://git-lfs.github.com/spec/v1", "Git LFS"},
                                   {"1 2 3 4", "raw data"}}) {
    write_bytes(store / "labels.npy", bytes);
    store.accept("labels.npy");
    expect_refused(store, 65, {"labels.npy: not an npy file", why});
  }
}

TEST(Dataset, HeadersAgreeWithTheDescription) {
  const std::vector<std::int64_t> nine(9), eight(8);
  const auto refused = [](const char* name, const char* dtype, std::vector<std::uint64_t> shape, const auto& values,
                          const std::vector<std::string>& parts) {
    const SmallStore store;
    store.replace_array(name, dtype, std::move(shape), values);
    expect_refused(store, 65, parts);
  };
  refused("indptr.npy", "<u8", {9}, nine, {"indptr.npy: dtype <u8, expected <i8"});
  refused("indptr.npy", ">i8", {9}, nine, {"indptr.npy: dtype >i8, expected <i8"});
  refused("indptr.npy", "<i8", {8}, eight, {"indptr.npy: shape (8,), expected (9,)"});
  refused("indptr.npy", "<i8", {9, 1}, nine, {"indptr.npy: shape (9, 1), expected (9,)"});
  refused("indices.npy", "<i8", {8}, eight, {"indices.npy: dtype <i8, expected <u4"});
  refused("train.npy", "<u4", {2, 2}, std::vector<NodeId>(4), {"train.npy: shape (2, 2)"});
  refused("features.npy", "<f4", {8, 2}, std::vector<float>(16), {"features.npy: dtype <f4, expected <f2"});
  refused("original_ids.npy", "<u8", {9}, nine, {"original_ids.npy: shape (9,), expected (8,)"});
  const SmallStore store;
  std::string bytes = read_bytes(store / "features.npy");
  bytes.replace(bytes.find("False,"), 6, "True, ");
  write_bytes(store / "features.npy", bytes);
  store.accept("features.npy");
  expect_refused(store, 65, {"features.npy: values in Fortran order, expected C order"});
}

RawGraph graph_with_names() {
  RawGraph graph = test::small_graph();
  for (const char* name : {"ann", "", "b", "Smith, Al", "e", "f", "g", "h"}) graph.node_names.append(name);
  return graph;
}

TEST(Dataset, KeepsTheIdsOfTheSource) {
  EXPECT_TRUE(NodeIds::open(SmallStore().path()).empty());
  const SmallStore named(graph_with_names());
  EXPECT_EQ(open_dataset(named.path()).num_nodes(), 8u);
  const NodeIds names = NodeIds::open(named.path());
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names[0], "ann");
  EXPECT_EQ(names[1], "");
  EXPECT_EQ(names[3], "Smith, Al");
  EXPECT_EQ(names[7], "h");
  RawGraph numbered = test::small_graph();
  numbered.original_ids = {5, 6, 7, 8, 9, 10, 11, 9'000'000'000};
  EXPECT_EQ(NodeIds::open(SmallStore(numbered).path())[7], "9000000000");
}

TEST(Dataset, NamesOfNodesFollowEachOther) {
  const auto refused = [](const char* name, const char* dtype, const auto& values,
                          const std::vector<std::string>& parts) {
    const SmallStore store(graph_with_names());
    store.replace_array(name, dtype, {values.size()}, values);
    expect_refused(store, 65, parts);
  };
  using Begin = std::vector<std::int64_t>;
  refused("node_names_begin.npy", "<i8", Begin{0, 3, 3, 4, 13, 14, 15, 16}, {"shape (8,), expected (9,)"});
  refused("node_names_begin.npy", "<i8", Begin{0, 3, 2, 4, 13, 14, 15, 16, 17}, {"the name of node 1 ends before its"});
  refused("node_names_begin.npy", "<i8", Begin{0, 3, 3, 4, 13, 14, 15, 16, 18},
          {"names are characters 0 to 18, there are 17"});
  refused("node_names_begin.npy", "<i8", Begin{-1, 3, 3, 4, 13, 14, 15, 16, 17}, {"names are characters -1 to 17"});
  refused("node_names.npy", "<i8", std::vector<std::int64_t>(17), {"node_names.npy: dtype <i8, expected |u1"});
  const SmallStore store(graph_with_names());
  store.edit_manifest([](json& root) { root["files"].erase("node_names_begin.npy"); });
  expect_refused(store, 65, {"node_names.npy", "is there only together with node_names_begin.npy"});
}

TEST(Dataset, FilesAreAsLongAsPromised) {
  const SmallStore store;
  const std::string bytes = read_bytes(store / "indices.npy");
  write_bytes(store / "indices.npy", bytes.substr(0, bytes.size() - 5));
  expect_refused(store, 65, {"indices.npy", "5 bytes are missing"});
  write_bytes(store / "indices.npy", bytes + "xyz");
  expect_refused(store, 65, {"indices.npy", "3 bytes too many"});
  write_bytes(store / "indices.npy", bytes);
  store.edit_manifest([](json& root) { root["files"]["indices.npy"]["bytes"] = 4000; });
  expect_refused(store, 65, {"indices.npy: 4164 bytes, dataset.json says 4000"});
}

TEST(Dataset, OpensSeveralLabelsANode) {
  const SmallStore store(test::small_multi_label_graph());
  EXPECT_EQ(json::parse(read_bytes(store / "dataset.json"))["task"], "multi-label");
  const Dataset dataset = open_dataset(store.path());
  EXPECT_EQ(dataset.task, Task::kMultiLabel);
  EXPECT_EQ(dataset.num_classes, 2);
  EXPECT_TRUE(dataset.labels.empty());
  EXPECT_EQ(as_vector(dataset.multi_labels), test::small_multi_label_graph().multi_labels);
  const LabelTable labels = dataset.label_table();
  EXPECT_EQ(labels.type, (LabelType{Task::kMultiLabel, 2}));
  EXPECT_EQ(labels.type.row_bytes(), 2u);
  EXPECT_EQ(labels.num_nodes(), 8u);
  EXPECT_EQ(labels.num_known(0), 2);
  EXPECT_EQ(labels.num_known(6), 0);
  EXPECT_EQ(labels.num_known(7), 1);
  EXPECT_NO_THROW(verify_dataset(store.path()));
  const std::string summary = summary_text(dataset, summarise(dataset));
  EXPECT_NE(summary.find("2 a node, each of 3 to 3 nodes; 75.0 % known; 1 nodes unlabelled"), std::string::npos)
      << summary;
}

TEST(Dataset, OneClassANodeIsWrittenAsEver) {
  const SmallStore store;
  EXPECT_FALSE(json::parse(read_bytes(store / "dataset.json")).contains("task"));
  EXPECT_EQ(open_dataset(store.path()).label_type(), LabelType{});
}

TEST(Dataset, ReadErrorsCarryTheSystemsWords) {
  const SmallStore store;
  std::filesystem::remove(store / "labels.npy");
  std::filesystem::create_symlink("labels.npy", store / "labels.npy");
  expect_refused(store, 74, {"labels.npy", "Too many levels of symbolic links"});
}

TEST(Dataset, IsMadeOfFiles) {
  const SmallStore store;
  std::filesystem::remove(store / "labels.npy");
  std::filesystem::create_directory(store / "labels.npy");
  expect_refused(store, 65, {"labels.npy: is a folder, not a file"});
}

TEST(VerifyDataset, ChecksumsTellAChangedBit) {
  const SmallStore store;
  std::string bytes = read_bytes(store / "features.npy");
  const std::string stored = to_hex(digest_file(store / "features.npy").xxh3);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(store / "features.npy", bytes);
  expect_not_verified(store, {"features.npy: XXH3 checksum", to_hex(digest_file(store / "features.npy").xxh3), stored});
}

TEST(Dataset, OfRegressionHasValuesAndTheirScales) {
  const SmallStore store(test::small_regression_graph());
  const Dataset dataset = open_dataset(store.path());
  EXPECT_EQ(dataset.task, Task::kRegression);
  EXPECT_EQ(dataset.label_type(), (LabelType{Task::kRegression, 2}));
  EXPECT_EQ(dataset.class_names, (std::vector<std::string>{"price", "weight"}));
  const LabelTable labels = dataset.label_table();
  EXPECT_EQ(labels.num_nodes(), 8u);
  EXPECT_EQ(labels.num_known(0), 2);
  EXPECT_EQ(labels.num_known(6), 0);
  EXPECT_EQ(labels.num_known(7), 1);
  // training nodes 4, 0, 1: prices 30, 10, 20, weights of 0.5
  EXPECT_EQ(dataset.target_scales.size(), 4u);
  EXPECT_DOUBLE_EQ(dataset.target_scales[0], 20);
  EXPECT_DOUBLE_EQ(dataset.target_scales[1], 0.5);
  EXPECT_DOUBLE_EQ(dataset.target_scales[2], std::sqrt(200.0 / 3));
  EXPECT_DOUBLE_EQ(dataset.target_scales[3], 1) << "of equal values";
  const std::vector<float> scaled = scaled_targets(dataset);
  EXPECT_FLOAT_EQ(scaled[0], static_cast<float>(-10 / std::sqrt(200.0 / 3)));
  EXPECT_FLOAT_EQ(scaled[5], 0.5F);
  EXPECT_TRUE(std::isnan(scaled[12]));
  EXPECT_NO_THROW(verify_dataset(store.path()));
  const std::string text = summary_text(dataset, summarise(dataset));
  EXPECT_NE(text.find("price: 6 values; of training nodes mean 20, deviation 8.165"), std::string::npos) << text;
  EXPECT_NE(text.find("1 nodes without a value"), std::string::npos) << text;
}

TEST(Dataset, ValuesAreFiniteOrNotKnown) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN(), kInfinite = std::numeric_limits<float>::infinity();
  const SmallStore infinite(test::small_regression_graph());
  infinite.replace_array("labels.npy", "<f4", {8, 2},
                         std::vector<float>{1, 1, 1, 1, 1, kInfinite, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  expect_refused(infinite, 65, {"labels.npy", "node 2, target 1 is infinite"});
  const SmallStore unknown(test::small_regression_graph());
  unknown.replace_array("labels.npy", "<f4", {8, 2},
                        std::vector<float>{1, 1, kNone, kNone, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  expect_refused(unknown, 65, {"train.npy", "node 1 is for training but has no label"});
  const SmallStore classes(test::small_regression_graph());
  classes.edit_manifest([](json& root) { root["task"] = "ranking"; });
  expect_refused(classes, 65, {"task", "'ranking'", "'multi-label' and 'regression'"});
}

}  // namespace
}  // namespace salient
