// tests/store/sparse_store_test.cpp - a store of sparse features opens; each rule of its arrays, broken, is named.
#include <gtest/gtest.h>

#include <limits>

#include "core/half.h"
#include "store/dataset.h"
#include "store/dataset_summary.h"
#include "tests/support/small_store.h"

namespace salient {
namespace {

using nlohmann::json;
using test::expect_not_verified, test::expect_refused, test::small_graph, test::SmallStore;
using Begin = std::vector<std::int64_t>;
using Columns = std::vector<std::uint32_t>;

/// The small graph's rows, of which value 0 alone is 0.
SmallStore sparse_store() { return SmallStore(small_graph(), FeatureLayout::kCsr); }

const Columns kColumns{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};

TEST(SparseStore, OpensWhatWasWritten) {
  const SmallStore store = sparse_store();
  EXPECT_FALSE(std::filesystem::exists(store / "features.npy"));
  const Dataset dataset = open_dataset(store.path());
  EXPECT_TRUE(dataset.has_sparse_features());
  EXPECT_EQ(dataset.feature_dim, 2);
  EXPECT_EQ(dataset.features.row_bytes, 0u);
  const SparseRowTable& rows = dataset.sparse_features;
  EXPECT_EQ(Begin(rows.begin.begin(), rows.begin.end()), (Begin{0, 1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(Columns(rows.columns.begin(), rows.columns.end()), kColumns);
  const auto* halves = reinterpret_cast<const std::uint16_t*>(rows.values);
  for (std::size_t k = 0; k < 15; ++k) EXPECT_EQ(half_to_float(halves[k]), static_cast<float>(k + 1) / 4);
  EXPECT_EQ(rows.longest.num_values(1), 2u);
  EXPECT_EQ(dataset.feature_bytes(), 9u * 8 + 15 * 6);
  EXPECT_NO_THROW(verify_dataset(store.path()));
  EXPECT_NE(summary_text(dataset, summarise(dataset)).find("2 x f16, 0.0 MB, sparse: 1.9 values a node, 93.75 %"),
            std::string::npos);
}

TEST(SparseStore, HasTheArraysOfItsLayoutAndNoOthers) {
  for (const char* name : {"feature_begin.npy", "feature_columns.npy", "feature_values.npy"}) {
    const SmallStore store = sparse_store();
    std::filesystem::remove(store / name);
    expect_refused(store, 66, {name, "is missing"});
    store.edit_manifest([&](json& root) { root["files"].erase(name); });
    expect_refused(store, 65, {name, "is missing", "feature_layout is csr"});
  }
  const SmallStore dense;
  dense.edit_manifest([](json& root) { root["feature_layout"] = "csr"; });
  expect_refused(dense, 65, {"features.npy", "is there", "csr"});
  const SmallStore sparse = sparse_store();
  sparse.edit_manifest([](json& root) { root.erase("feature_layout"); });
  expect_refused(sparse, 65, {"features.npy", "is missing"});
  sparse.edit_manifest([](json& root) { root["feature_layout"] = "ell"; });
  expect_refused(sparse, 65, {"feature_layout", "is 'ell', this program knows 'csr'"});
  sparse.edit_manifest([](json& root) {
    root["feature_layout"] = "csr";
    root["feature_dim"] = 0;
  });
  expect_refused(sparse, 65, {"feature_dim", "is 0"});
}

TEST(SparseStore, HeadersAgreeWithTheDescription) {
  const auto refused = [](const char* name, const char* dtype, std::vector<std::uint64_t> shape, const auto& values,
                          const std::vector<std::string>& parts) {
    const SmallStore store = sparse_store();
    store.replace_array(name, dtype, std::move(shape), values);
    expect_refused(store, 65, parts);
  };
  refused("feature_begin.npy", "<i8", {8}, Begin(8), {"feature_begin.npy: shape (8,), expected (9,)"});
  refused("feature_begin.npy", "<u8", {9}, Begin(9), {"feature_begin.npy: dtype <u8, expected <i8"});
  refused("feature_columns.npy", "<u4", {14}, Columns(14), {"feature_columns.npy: shape (14,), expected (15,)"});
  refused("feature_columns.npy", "<i4", {15}, Columns(15), {"feature_columns.npy: dtype <i4, expected <u4"});
  refused("feature_values.npy", "<f4", {15}, std::vector<float>(15), {"feature_values.npy: dtype <f4, expected <f2"});
  refused("feature_values.npy", "<f2", {5, 3}, std::vector<std::uint16_t>(15), {"feature_values.npy: shape (5, 3)"});
}

TEST(SparseStore, RowsFollowEachOtherAndColumnsAscend) {
  const auto refused = [](const char* name, const char* dtype, const auto& values,
                          const std::vector<std::string>& parts) {
    const SmallStore store = sparse_store();
    store.replace_array(name, dtype, {values.size()}, values);
    expect_refused(store, 65, parts);
  };
  const auto begins = [&](Begin begin, const char* message) {
    refused("feature_begin.npy", "<i8", begin, {"feature_begin.npy", message});
  };
  begins({0, 1, 3, 2, 7, 9, 11, 13, 15}, "row 2 ends before its start");
  begins({1, 1, 3, 5, 7, 9, 11, 13, 15}, "rows are values 1 to 15, there are 15");
  begins({-9, 1, 3, 5, 7, 9, 11, 13, 15}, "rows are values -9 to 15");
  begins({0, 1, 3, 5, 7, 9, 11, 13, 14}, "rows are values 0 to 14, there are 15");
  begins({0, 1, 3, 5, 7, 9, 11, 13, 16}, "rows are values 0 to 16, there are 15");
  begins({0, std::numeric_limits<std::int64_t>::max(), 3, 5, 7, 9, 11, 13, 15}, "row 1 ends before its start");
  const auto columns = [&](std::size_t at, std::uint32_t column, const char* message) {
    Columns changed = kColumns;
    changed[at] = column;
    refused("feature_columns.npy", "<u4", changed, {"feature_columns.npy", message});
  };
  columns(0, 2, "row 0: columns are ascending, each once, and below 2");
  columns(2, 0, "row 1: columns");
  columns(5, 1, "row 3: columns");
  columns(14, 0xFFFFFFFF, "row 7: columns");
}

TEST(SparseStore, VerifyFindsValuesThatAreZeroOrNotFinite) {
  for (const auto& [type, dtype] : {std::pair{FeatureType::kF16, "<f2"}, {FeatureType::kF32, "<f4"}}) {
    RawGraph graph = small_graph();
    graph.features = {.type = type, .dim = 2};
    const std::vector<float> ones(16, 1);
    append_feature_rows(graph.features, ones.data(), ones.size(), "by hand");
    const auto not_verified = [&](std::uint32_t bits) {
      const SmallStore store(graph, FeatureLayout::kCsr);
      if (type == FeatureType::kF16) {
        std::vector<std::uint16_t> values(16, 0x3C00);
        values[5] = static_cast<std::uint16_t>(bits >> 16);
        store.replace_array("feature_values.npy", dtype, {16}, values);
      } else {
        std::vector<std::uint32_t> values(16, 0x3F800000);
        values[5] = bits;
        store.replace_array("feature_values.npy", dtype, {16}, values);
      }
      expect_not_verified(store, {"feature_values.npy: row 2, column 1 is 0 or not finite"});
    };
    not_verified(0);
    not_verified(0x80000000);
    not_verified(0x7F800000);
    not_verified(0xFFC00000);
  }
}

TEST(SparseStore, NeedsFeatures) {
  RawGraph graph = small_graph();
  graph.features = {};
  EXPECT_COMPLAINT(SmallStore(graph, FeatureLayout::kCsr), ErrorKind::kUsage, "has no features to be kept sparse");
}

}  // namespace
}  // namespace salient
