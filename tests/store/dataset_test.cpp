// tests/store/dataset_test.cpp - a good store opens and verifies; each rule of the format, broken alone, is named.
#include "store/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "store/dataset_summary.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::read_bytes, test::Scratch, test::SmallStore, test::write_bytes;

template <class T>
std::vector<T> as_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// Opening `store` ends with `exit_code` and one line that has each of `parts` in it.
void expect_refused(const SmallStore& store, int exit_code, const std::vector<std::string>& parts) {
  const test::Complaint complaint = test::complaint_of([&] { open_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, exit_code) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
}

/// The store opens, and verify refuses it with exit code 65.
void expect_not_verified(const SmallStore& store, const std::vector<std::string>& parts) {
  EXPECT_NO_THROW(open_dataset(store.path(), 1));
  const test::Complaint complaint = test::complaint_of([&] { verify_dataset(store.path(), 1); });
  EXPECT_EQ(complaint.exit_code, 65) << complaint.text;
  for (const std::string& part : parts) EXPECT_TRUE(complaint.mentions(part)) << complaint.text << "\nlacks " << part;
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

TEST(Dataset, DescriptionIsJsonWithEveryField) {
  const SmallStore store;
  const std::string good = read_bytes(store / "dataset.json");
  write_bytes(store / "dataset.json", good.substr(0, good.find("\"num_edges\"") + 4));
  expect_refused(store, 65, {"dataset.json: line 6, column", "not JSON"});
  write_bytes(store / "dataset.json", "[1, 2]");
  expect_refused(store, 65, {"not a JSON object"});
  const json fields = json::parse(good);
  for (const auto& [name, value] : fields.items()) {
    write_bytes(store / "dataset.json", good);
    store.edit_manifest([&field = name](json& root) { root.erase(field); });
    expect_refused(store, 65, {"dataset.json: line", "column", "'" + name + "' is missing"});
  }
  const auto refused = [&](const char* field, const json& value, const std::string& why) {
    write_bytes(store / "dataset.json", good);
    store.edit_manifest([&](json& root) { root[json::json_pointer(field)] = value; });
    expect_refused(store, 65, {"dataset.json: line", why});
  };
  refused("/num_nodes", "8", "'num_nodes' is not a whole number");
  refused("/num_nodes", 8.5, "'num_nodes' is not a whole number");
  refused("/num_nodes", -8, "'num_nodes' is -8, allowed are 1 to 4294967294");
  refused("/num_nodes", 4294967295, "allowed are 1 to 4294967294");
  refused("/symmetric", 1, "'symmetric' is neither true nor false");
  refused("/feature_dtype", "f64", "'feature_dtype' is 'f64', allowed are f16 and f32");
  refused("/format", "something", "'format' is 'something'");
  refused("/source", "wordnet", "'source' is not an object");
  refused("/source/kind", nullptr, "'source / kind' is not a string");
  refused("/files/indices.npy/xxh3", "12", "'files / indices.npy / xxh3' is not 16 hexadecimal digits");
  refused("/format", "two\nlines", "'format' is 'two?lines'");
  refused("/files/..~1secret", {{"bytes", 1}}, "is not a plain file name");
  refused("/feature_dim", 0, "is there, though feature_dim is 0");
  refused("/self_loops", 18, "'self_loops' is 18, allowed are 0 to 17");
}

TEST(Dataset, ColumnPointsAtTheField) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["num_classes"] = true; });
  const std::string text = read_bytes(store / "dataset.json");
  const std::size_t at = text.find("\"num_classes\"");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  expect_refused(store, 65, {"line " + std::to_string(line) + ", column 3: field 'num_classes'"});
}

TEST(Dataset, UnknownFieldsAreFineANewerVersionIsNot) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["licence"] = "CC0"; });
  EXPECT_NO_THROW(open_dataset(store.path()));
  store.edit_manifest([](json& root) {
    root["format_version"] = 2;
    root["created_by"] = "salient-prepare 9.0";
  });
  expect_refused(store, 65, {"'format_version' is 2", "reads 1", "salient-prepare 9.0"});
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

TEST(Dataset, RowBoundsRiseFromZeroToTheEnd) {
  const auto refused = [](std::vector<EdgeOffset> indptr, const std::string& why) {
    const SmallStore store;
    store.replace_array("indptr.npy", "<i8", {9}, indptr);
    expect_refused(store, 65, {"indptr.npy: " + why});
  };
  refused({1, 2, 5, 8, 10, 13, 15, 17, 17}, "row 0 starts at 1, not at 0");
  refused({0, 2, 5, 4, 10, 13, 12, 17, 17}, "row 2 starts at 5 and ends at 4");
  refused({0, 2, 5, 8, 10, 13, 15, 17, 18}, "the last row ends at 18, the graph has 17 edges");
  refused({0, 2, 5, 8, 10, 13, 15, std::numeric_limits<EdgeOffset>::max(), 17}, "row 7 starts at 9223372036854775807");
}

TEST(Dataset, IndicesAreNodes) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 4, 1, 2, 3, 2, 8, 1, 3, 5, 4, 6, 99, 5});
  expect_refused(store, 65, {"indices.npy: entry 9 (row 3) is 8, the graph has 8 nodes; run salient-prepare verify"});
}

TEST(Dataset, LabelsAreClasses) {
  for (const std::int32_t bad : {3, -2}) {
    const SmallStore store;
    store.replace_array<std::int32_t>("labels.npy", "<i4", {8}, {0, 1, 2, 0, 1, bad, -1, 1});
    expect_refused(store, 65, {"labels.npy: node 5 has label " + std::to_string(bad)});
  }
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

TEST(Dataset, SeveralLabelsAreFlags) {
  const auto refused = [](const char* dtype, std::vector<std::uint64_t> shape, const auto& values,
                          const std::string& why) {
    const SmallStore store(test::small_multi_label_graph());
    store.replace_array("labels.npy", dtype, std::move(shape), values);
    expect_refused(store, 65, {"labels.npy: " + why});
  };
  std::vector<std::int8_t> flags = test::small_multi_label_graph().multi_labels;
  refused("<i4", {8}, std::vector<std::int32_t>(8), "dtype <i4, expected |i1");
  refused("|u1", {8, 2}, flags, "dtype |u1, expected |i1");
  refused("|b1", {8, 2}, flags, "dtype |b1, expected |i1");
  refused("|i1", {16}, flags, "shape (16,), expected (8, 2)");
  refused("|i1", {4, 4}, flags, "shape (4, 4), expected (8, 2)");
  for (const auto bad : {std::int8_t{2}, std::int8_t{-2}}) {
    flags[7] = bad;
    refused("|i1", {8, 2}, flags,
            "node 3, label 1 is " + std::to_string(bad) + ", allowed are 1, 0, and -1 for not known");
  }
  const SmallStore classes;
  classes.replace_array("labels.npy", "|i1", {8, 2}, std::vector<std::int8_t>(16));
  expect_refused(classes, 65, {"labels.npy: dtype |i1, expected <i4"});
  const SmallStore store(test::small_multi_label_graph());
  store.replace_array<NodeId>("train.npy", "<u4", {2}, {7, 6});
  store.replace_array<NodeId>("test.npy", "<u4", {0}, {});
  expect_refused(store, 65, {"train.npy: position 1: node 6 is for training but has no label"});
}

TEST(Dataset, TaskIsAKnownOne) {
  const auto refused = [](const char* field, const json& value, const std::string& why) {
    const SmallStore store(test::small_multi_label_graph());
    store.edit_manifest([&](json& root) { root[field] = value; });
    expect_refused(store, 65, {"dataset.json: line", why});
  };
  refused("task", "regression", "'task' is 'regression', this program knows 'multi-label'");
  refused("task", true, "'task' is not a string");
  refused("num_classes", 0, "'num_classes' is 0, allowed are 1 to");
}

TEST(Dataset, SplitsAreDistinctLabelledNodes) {
  const auto refused = [](const char* name, const std::vector<NodeId>& ids, const std::string& why) {
    const SmallStore store;
    store.replace_array(name, "<u4", {ids.size()}, ids);
    expect_refused(store, 65, {std::string(name) + ": position " + why});
  };
  refused("valid.npy", {3, 8}, "1: node 8, the graph has 8 nodes");
  refused("test.npy", {7, 6, 7}, "2: node 7 is here twice");
  refused("test.npy", {7, 3}, "1: node 3 is in valid.npy too");
  refused("train.npy", {4, 0, 5, 6}, "3: node 6 is for training but has no label");
  const SmallStore store;
  store.replace_array<NodeId>("valid.npy", "<u4", {0}, {});
  EXPECT_TRUE(open_dataset(store.path()).valid.empty()) << "an empty split is fine";
}

TEST(Dataset, ReadErrorsCarryTheSystemsWords) {
  const SmallStore store;
  std::filesystem::remove(store / "labels.npy");
  std::filesystem::create_directory(store / "labels.npy");
  expect_refused(store, 74, {"labels.npy", "Is a directory"});
}

TEST(VerifyDataset, RowsAscend) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {6, 1, 0, 2, 4, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"indices.npy: row 0 has 1 after 6"});
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 2, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"indices.npy: row 1 has 2 after 2, rows are strictly ascending"});
}

TEST(VerifyDataset, EveryEdgeHasItsReverse) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 5, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"row 1 has 5, but row 5 lacks 1"});
  store.edit_manifest([](json& root) { root["symmetric"] = false; });
  EXPECT_NO_THROW(verify_dataset(store.path()));
}

TEST(VerifyDataset, SelfLoopsAreCounted) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["self_loops"] = 2; });
  expect_not_verified(store, {"dataset.json: self_loops is 2, the graph has 1"});
}

TEST(VerifyDataset, FeaturesAreFinite) {
  const SmallStore store;
  std::vector<std::uint16_t> halves(16, 0x3C00);
  halves[5] = 0x7E00;
  halves[9] = 0xFC00;
  store.replace_array("features.npy", "<f2", {8, 2}, halves);
  expect_not_verified(store, {"features.npy: 2 values are not finite, the first in row 2, column 1"});
}

TEST(VerifyDataset, ChecksumsTellAChangedBit) {
  const SmallStore store;
  std::string bytes = read_bytes(store / "features.npy");
  const std::string stored = to_hex(digest_file(store / "features.npy").xxh3);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(store / "features.npy", bytes);
  expect_not_verified(store, {"features.npy: XXH3 checksum", to_hex(digest_file(store / "features.npy").xxh3), stored});
}

}  // namespace
}  // namespace salient
