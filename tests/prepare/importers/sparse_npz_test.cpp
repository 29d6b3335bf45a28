// tests/prepare/importers/sparse_npz_test.cpp - the layouts of scipy.sparse give the matrix that they stand for.
#include "prepare/importers/sparse_npz.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::npy;
using Entries = std::vector<test::ZipEntry>;

template <class T>
test::ZipEntry array(const std::string& name, const char* dtype, const std::vector<T>& values) {
  return {name + ".npy", npy(dtype, "(" + std::to_string(values.size()) + ",)", test::bytes_of(values))};
}

test::ZipEntry format(const std::string& name, bool is_unicode = false) {
  std::string bytes = name;
  if (is_unicode) {
    bytes.clear();
    for (const char c : name) bytes.append(1, c).append(3, '\0');
  }
  return {"format.npy", npy((is_unicode ? "<U" : "|S") + std::to_string(name.size()), "()", bytes)};
}

using I32 = std::vector<std::int32_t>;
using I64 = std::vector<std::int64_t>;

class SparseNpz : public ::testing::Test {
 protected:
  std::vector<float> dense(const Entries& entries, const std::string& prefix = "") {
    const ZipArchive archive(test::write_bytes(folder_ / "x.npz", test::zip(entries)));
    EXPECT_TRUE(has_sparse_matrix(archive, prefix));
    const RawFeatures features =
        sparse_features(read_sparse_matrix(archive, prefix, {}), FeatureType::kF32, "x.npz", {});
    EXPECT_EQ(features.layout, FeatureLayout::kCsr);
    EXPECT_EQ(features.dim, 4);
    std::vector<float> values(features.columns.size()), rows(features.num_rows() * 4);
    EXPECT_EQ(features.rows.size(), values.size() * sizeof(float));
    std::memcpy(values.data(), features.rows.data(), features.rows.size());
    for (std::size_t r = 0; r < features.num_rows(); ++r)
      for (auto k = static_cast<std::size_t>(features.begin[r]); k < static_cast<std::size_t>(features.begin[r + 1]);
           ++k) {
        EXPECT_TRUE(k == static_cast<std::size_t>(features.begin[r]) || features.columns[k - 1] < features.columns[k]);
        EXPECT_NE(values[k], 0);
        rows[r * 4 + features.columns[k]] = values[k];
      }
    return rows;
  }
  const test::Scratch folder_;
};

const std::vector<float> kExpected = {0, 1.5, 0, 2, 0, 0, 0, 0, -3, 0, 4, 0};

Entries csr() {
  return {array("data", "<f8", std::vector<double>{2, 1.5, -3, 4}), array("indices", "<i4", I32{3, 1, 0, 2}),
          array("indptr", "<i4", I32{0, 2, 2, 4}), array("shape", "<i8", I64{3, 4}), format("csr")};
}

TEST_F(SparseNpz, ThreeFormatsAreOneMatrix) {
  EXPECT_EQ(dense(csr()), kExpected);
  EXPECT_EQ(dense({array("data", "<f4", std::vector<float>{-3, 1.5, 4, 2}), array("indices", "<i8", I64{2, 0, 2, 0}),
                   array("indptr", "<i8", I64{0, 1, 2, 3, 4}), array("shape", "<i8", I64{3, 4}), format("csc", true)}),
            kExpected);
  EXPECT_EQ(dense({array("data", "<f4", std::vector<float>{4, 1, 2, 0.5, -3}), array("row", "<i4", I32{2, 0, 0, 0, 2}),
                   array("col", "<i4", I32{2, 1, 3, 1, 0}), array("shape", "<i8", I64{3, 4}), format("coo")}),
            kExpected)
      << "what is there twice is the sum";
}

TEST_F(SparseNpz, WhatIsZeroIsLeftOut) {
  Entries entries = csr();
  entries[0] = array("data", "<f8", std::vector<double>{2, 0, -0.0, 4});
  EXPECT_EQ(dense(entries), (std::vector<float>{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 4, 0}));
  const ZipArchive archive(test::write_bytes(folder_ / "x.npz", test::zip(csr())));
  SparseMatrix matrix = read_sparse_matrix(archive, "", {});
  matrix.values = {2, 1e-9F, -1e-9F, 4};  // 0 as f16
  const RawFeatures features = sparse_features(matrix, FeatureType::kF16, "x.npz", {});
  EXPECT_EQ(features.columns, (std::vector<std::uint32_t>{3, 2}));
  EXPECT_EQ(features.begin, (std::vector<std::int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(features.rows.size(), 4u);
  matrix.columns = {3, 3, 0, 2};
  matrix.values = {2, -2, 1, 4};
  EXPECT_EQ(sparse_features(matrix, FeatureType::kF16, "x.npz", {}).begin, (std::vector<std::int64_t>{0, 0, 0, 2}))
      << "sums are made before";
}

TEST_F(SparseNpz, APrefixNamesOneOfSeveral) {
  Entries entries = csr();
  entries.pop_back();
  for (test::ZipEntry& entry : entries) entry.name = "attr_" + entry.name;
  EXPECT_EQ(dense(entries, "attr_"), kExpected);
  EXPECT_FALSE(has_sparse_matrix(ZipArchive(folder_ / "x.npz"), "adj_"));
}

TEST_F(SparseNpz, WhatMayBeWrong) {
  const auto bad = [&](std::size_t entry, test::ZipEntry with, const char* message) {
    Entries entries = csr();
    entries[entry] = std::move(with);
    EXPECT_COMPLAINT(dense(entries), ErrorKind::kBadData, message);
  };
  bad(1, array("indices", "<i4", I32{3, 1, 0, 4}), "'indices.npy': item 3 is 4, the matrix allows 0 to 3");
  bad(1, array("indices", "<i4", I32{3, 1, -1, 2}), "'indices.npy': item 2 is -1");
  bad(1, array("indices", "<i4", I32{3, 1, 0}), "'indices.npy': has shape (3,), expected (4,)");
  bad(1, array("indices", "<f4", std::vector<float>{3, 1, 0, 2}), "integers are expected");
  bad(2, array("indptr", "<i4", I32{0, 2, 1, 4}), "'indptr.npy': does not ascend from 0 to the number of values, 4");
  bad(2, array("indptr", "<i4", I32{1, 2, 2, 4}), "'indptr.npy': does not ascend");
  bad(2, array("indptr", "<i4", I32{0, 2, 2, 3}), "'indptr.npy': does not ascend");
  bad(2, array("indptr", "<i4", I32{0, 2, 4}), "'indptr.npy': has shape (3,), expected (4,)");
  bad(3, array("shape", "<i8", I64{3, -1}), "'shape.npy': item 1 is -1, which is negative");
  bad(3, array("shape", "<i8", I64{3}), "'shape.npy': has shape (1,), expected (2,)");
  bad(4, format("bsr"), "has a sparse matrix of format 'bsr', csr, csc and coo can be read");
  bad(4, {"format.npy", "csr"}, "is no name of a format");
  bad(0, array("data", "<f4", std::vector<float>{2, 1.5, __builtin_nanf(""), 4}), "row 2, column 0 is nan");
  const ZipArchive archive(test::write_bytes(folder_ / "x.npz", test::zip(csr())));
  EXPECT_COMPLAINT(read_sparse_matrix(archive, "", MemoryLimit(1 << 20)), ErrorKind::kHostMemory, "'data.npy': needs");
}

}  // namespace
}  // namespace salient
