// tests/store/dataset_checks_test.cpp - each rule of the arrays, broken alone, is named with file and record.
#include "store/dataset_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::read_bytes, test::SmallStore;

TEST(DatasetChecks, RowBoundsRiseFromZeroToTheEnd) {
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

TEST(DatasetChecks, IndicesAreNodes) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 4, 1, 2, 3, 2, 8, 1, 3, 5, 4, 6, 99, 5});
  expect_refused(store, 65, {"indices.npy: entry 9 (row 3) is 8, the graph has 8 nodes"});
}

TEST(DatasetChecks, LabelsAreClasses) {
  for (const std::int32_t bad : {3, -2}) {
    const SmallStore store;
    store.replace_array<std::int32_t>("labels.npy", "<i4", {8}, {0, 1, 2, 0, 1, bad, -1, 1});
    expect_refused(store, 65, {"labels.npy: node 5 has label " + std::to_string(bad)});
  }
}

TEST(DatasetChecks, SeveralLabelsAreFlags) {
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

TEST(DatasetChecks, SplitsAreDistinctLabelledNodes) {
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

TEST(DatasetChecks, RowsAscend) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {6, 1, 0, 2, 4, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"indices.npy: row 0 has 1 after 6"});
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 2, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"indices.npy: row 1 has 2 after 2, rows are strictly ascending"});
}

TEST(DatasetChecks, EveryEdgeHasItsReverse) {
  const SmallStore store;
  store.replace_array<NodeId>("indices.npy", "<u4", {17}, {1, 6, 0, 2, 5, 1, 2, 3, 2, 4, 1, 3, 5, 4, 6, 0, 5});
  expect_not_verified(store, {"row 1 has 5, but row 5 lacks 1"});
  store.edit_manifest([](json& root) { root["symmetric"] = false; });
  EXPECT_NO_THROW(verify_dataset(store.path()));
}

TEST(DatasetChecks, SelfLoopsAreCounted) {
  const SmallStore store;
  store.edit_manifest([](json& root) { root["self_loops"] = 2; });
  expect_not_verified(store, {"dataset.json: self_loops is 2, the graph has 1"});
}

TEST(DatasetChecks, FeaturesAreFinite) {
  const SmallStore store;
  std::vector<std::uint16_t> halves(16, 0x3C00);
  halves[5] = 0x7E00;
  halves[9] = 0xFC00;
  store.replace_array("features.npy", "<f2", {8, 2}, halves);
  expect_not_verified(store, {"features.npy: 2 values are not finite, the first in row 2, column 1"});
}

}  // namespace
}  // namespace salient
