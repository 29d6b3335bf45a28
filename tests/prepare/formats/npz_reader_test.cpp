// tests/prepare/formats/npz_reader_test.cpp - arrays come out of archives as NumPy would read them, in any piece size.
#include "prepare/formats/npz_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::bytes_of;
using test::npy;
using test::write_bytes;
using test::zip;

template <class T>
std::vector<T> items_of(const ZipArchive& archive, std::string_view key, std::size_t step = 1 << 20) {
  NpzArray array(archive, key);
  std::vector<T> items, buffer(step);
  for (std::size_t got = step; got == step;) {
    got = array.read(std::span(buffer));
    items.insert(items.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
  }
  return items;
}

class NpzReaderTest : public ::testing::Test {
 protected:
  ZipArchive archive_of(const std::string& npy_bytes) {
    return ZipArchive(write_bytes(folder_ / "f.npz", zip({{"x.npy", npy_bytes}})));
  }
  void expect_bad(const std::string& message, const std::string& npy_bytes) {
    const ZipArchive archive = archive_of(npy_bytes);
    EXPECT_COMPLAINT(items_of<std::int64_t>(archive, "x"), ErrorKind::kBadData, message);
  }
  const test::Scratch folder_;
};

TEST_F(NpzReaderTest, ItemsAreTheSameInAnyPieceSize) {
  std::vector<std::int64_t> edges(200'001);
  std::iota(edges.begin(), edges.end(), std::int64_t{-3});
  const ZipArchive archive = archive_of(npy("<i8", "(200001,)", bytes_of(edges)));
  for (const std::size_t step : {7u, 1000u, 65'536u, 200'001u, 1u << 20})
    EXPECT_EQ(items_of<std::int64_t>(archive, "x", step), edges) << step;
  NpzArray array(archive, "x");
  array.skip(150'000);
  EXPECT_EQ(array.items_left(), 50'001u);
  std::array<std::int64_t, 2> two{};
  EXPECT_EQ(array.read(std::span<std::int64_t>(two)), 2u);
  EXPECT_EQ(two[0], edges[150'000]);
}

TEST_F(NpzReaderTest, WidthsAndByteOrdersAreConverted) {
  EXPECT_EQ(items_of<std::int64_t>(archive_of(npy(">i2", "(2, 1)", std::string("\1\0\xFF\xFF", 4))), "x"),
            (std::vector<std::int64_t>{256, -1}));
  EXPECT_EQ(items_of<std::int64_t>(archive_of(npy("|b1", "(3,)", std::string("\0\1\1", 3))), "x"),
            (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(items_of<float>(archive_of(npy("<f8", "(2,)", bytes_of(std::vector<double>{0.5, -2}))), "x"),
            (std::vector<float>{0.5f, -2}));
  EXPECT_EQ(items_of<float>(archive_of(npy("<u4", "()", bytes_of(std::vector<std::uint32_t>{9}))), "x"),
            (std::vector<float>{9}));
  EXPECT_TRUE(items_of<float>(archive_of(npy("<f4", "(0, 7)", "")), "x").empty());
}

TEST_F(NpzReaderTest, RefusalsNameFileAndArray) {
  expect_bad("f.npz: 'x.npy': is 138 bytes, <i8 (2,) needs 144", npy("<i8", "(2,)", "0123456789"));
  expect_bad("f.npz: 'x.npy': is 138 bytes, <i8 (1,) needs 136", npy("<i8", "(1,)", "0123456789"));
  expect_bad("f.npz: 'x.npy': is 128 bytes, <i8 (1000000000000,) needs 8000000000128",
             npy("<i8", "(1000000000000,)", ""));
  expect_bad("f.npz: 'x.npy'", npy("|O", "(1,)", "x"));
  expect_bad("f.npz: 'x.npy'", npy("<i8", "(99999999999, 99999999999)", "x"));
  expect_bad("f.npz: 'x.npy'", "");
  expect_bad("f.npz: 'x.npy'", "not an npy file");
  expect_bad("f.npz: 'x.npy'", npy("<i8", "(2,)", "").substr(0, 50));
  expect_bad("'x.npy': has type <f4, integers are expected", npy("<f4", "(1,)", "1234"));

  const ZipArchive archive = archive_of(npy("<i8", "(1, 2)", std::string(16, 'x')));
  EXPECT_COMPLAINT(NpzArray(archive, "y"), ErrorKind::kBadData, "f.npz: has no array y.npy; it has: 'x.npy'");
  EXPECT_COMPLAINT(NpzArray(archive, "x").expect(NpzKind::kFloat), ErrorKind::kBadData,
                   "has type <i8, floating-point numbers are expected");
  const std::array<std::uint64_t, 2> shape = {2, 1};
  EXPECT_COMPLAINT(NpzArray(archive, "x").expect_shape(shape), ErrorKind::kBadData,
                   "f.npz: 'x.npy': has shape (1, 2), expected (2, 1)");
}

/// Position-weighted sum, added up in the file's order, so that misplaced items show.
template <class T>
double weighted_sum(const std::vector<T>& items) {
  double sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    sum += static_cast<double>(items[i]) * static_cast<double>(i % 1009 + 1);
  return sum;
}

/// The figures are NumPy 2.4's: a = load(f)[k].astype('f8').ravel(); (a * (arange(a.size) % 1009 + 1)).cumsum()[-1]
TEST(NpzReader, RealFilesReadAsNumpyReadsThem) {
  const std::filesystem::path data = test::real_data_or_empty();
  if (data.empty()) GTEST_SKIP() << test::kNoRealData;
  const auto check = [&](const char* file, const char* key, double expected, std::size_t count) {
    const ZipArchive archive(data / file);
    const NpyHeader header = NpzArray(archive, key).header();
    EXPECT_EQ(header.num_items(), count) << file << ' ' << key;
    const double found = header.kind == 'f' ? weighted_sum(items_of<float>(archive, key))
                                            : weighted_sum(items_of<std::int64_t>(archive, key));
    EXPECT_EQ(found, expected) << file << ' ' << key;
  };
  check("amazon-photo/raw/data.npz", "edge_index", 460060093025.0, 238162);
  check("amazon-photo/raw/data.npz", "node_feat", 998916062.0, 5699250);
  check("amazon-photo/raw/data.npz", "num_nodes_list", 7650.0, 1);
  check("amazon-photo/raw/node-label.npz", "node_label", 13366546.0, 7650);
  check("tolokers.npz", "node_features", 22641451.631038893, 117580);
  check("tolokers.npz", "node_labels", 1270507.0, 11758);
  check("tolokers.npz", "edges", 3091707417054.0, 1038000);
  check("tolokers.npz", "train_masks", 29649790.0, 117580);
  check("tolokers.npz", "test_masks", 14773937.0, 117580);
  check("minesweeper.npz", "node_features", 5034001.0, 70000);
  check("minesweeper.npz", "node_labels", 1010036.0, 10000);
  check("minesweeper.npz", "edges", 199339171639.0, 78804);
  check("minesweeper.npz", "train_masks", 25234784.0, 100000);
  check("minesweeper.npz", "test_masks", 12545005.0, 100000);
}

}  // namespace
}  // namespace salient
