// tests/prepare/writing/ogb_stream_test.cpp - streaming the binary layout gives the bytes of the import in memory, or
// one error.
#include "prepare/writing/ogb_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/philox.h"
#include "store/dataset.h"
#include "tests/support/archives.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::npy;
using test::ZipStyle;

constexpr std::uint64_t kEnough = 200'000'000;

void expect_same_store(const fs::path& a, const fs::path& b) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(a)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(test::read_bytes(entry.path()) == test::read_bytes(b / name)) << name;
    ++count;
  }
  for (const auto& entry : fs::directory_iterator(b)) EXPECT_TRUE(fs::exists(a / entry.path().filename()));
  EXPECT_GE(count, 8U);
}

/// 20,000 nodes, 300,000 edges of which some are loops or repeated, three features; a hub.
class OgbStream : public ::testing::Test {
 protected:
  static constexpr std::size_t kNodes = 20'000, kEdges = 300'000, kDim = 3;

  OgbStream() {
    for (std::size_t m = 0; m < kEdges; ++m) {
      const PhiloxBlock words = philox4x32({{5, 6}}, {{static_cast<std::uint32_t>(m), 0, 0, 0}});
      edges_.push_back(words.word[0] % 16 == 0 ? 7 : words.word[1] % kNodes);
      destinations_.push_back(words.word[0] % 32 == 0 ? words.word[3] % 3 + 6 : words.word[2] % kNodes);
    }
    edges_.insert(edges_.end(), destinations_.begin(), destinations_.end());
    for (std::size_t i = 0; i < kNodes * kDim; ++i) features_.push_back(static_cast<float>(i % 1000) / 7);
    for (std::size_t v = 0; v < kNodes; ++v)
      labels_.push_back(v % 3 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(v % 5));
    std::string train;
    for (std::size_t v = 1; v < kNodes; v += 3) train += std::to_string(v) + "\n";
    test::write_bytes(root_ / "split/time/train.csv.gz", test::gzip(train));
    test::write_bytes(root_ / "split/time/valid.csv.gz", test::gzip("2\n"));
    test::write_bytes(root_ / "split/time/test.csv.gz", test::gzip("5\n3\n"));
    test::write_bytes(root_ / "mapping/labelidx2field.csv.gz",
                      test::gzip("label idx,field\n0,a\n1,b\n2,c\n3,d\n4,e\n"));
  }
  void put(const ZipStyle& style = {}) const {
    const auto count = [](std::size_t n) {
      return npy("<i8", "(1,)", bytes_of(std::vector<std::int64_t>{static_cast<std::int64_t>(n)}));
    };
    test::write_bytes(root_ / "raw/data.npz",
                      test::zip({{"num_nodes_list.npy", count(kNodes)},
                                 {"edge_index.npy", npy("<i8", "(2, 300000)", bytes_of(edges_))},
                                 {"node_feat.npy", npy("<f4", "(20000, 3)", bytes_of(features_))},
                                 {"num_edges_list.npy", count(kEdges)}},
                                style));
    test::write_bytes(root_ / "raw/node-label.npz",
                      test::zip({{"node_label.npy", npy("<f4", "(20000, 1)", bytes_of(labels_))}}, style));
  }
  void expect_bad(const std::string& message) const {
    EXPECT_COMPLAINT(stream_ogb({.raw = root_}, {.out = scratch_ / "out"}, kEnough), ErrorKind::kBadData, message);
    for (const auto& entry : fs::directory_iterator(scratch_.path()))
      EXPECT_EQ(entry.path().filename(), "set") << "nothing is left behind";
  }

  std::vector<std::int64_t> edges_{}, destinations_{};
  std::vector<float> features_{}, labels_{};
  const test::Scratch scratch_;
  const fs::path root_ = scratch_ / "set";
};

TEST_F(OgbStream, SameBytesForAnyMemoryAndThreads) {
  put({.local = ZipStyle::kDescriptor, .zip64_entries = true, .zip64_end = true});
  for (const Symmetric symmetric : {Symmetric::kAuto, Symmetric::kNo})
    for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32, FeatureType::kFp8}) {
      const OgbOptions options{.raw = root_, .feature_type = gathered_type(type), .symmetric = symmetric};
      const bool in_fp8 = type == FeatureType::kFp8;
      ASSERT_TRUE(can_stream_ogb(options));
      const WriteReport expected =
          write_store(import_ogb(options), {.out = scratch_ / "expected", .force = true, .in_fp8 = in_fp8});
      for (const int threads : {1, 2, 4})
        for (const std::uint64_t memory : {std::uint64_t{56'000'000}, kEnough}) {
          const WriteStoreOptions write{
              .out = scratch_ / "found", .num_threads = threads, .force = true, .in_fp8 = in_fp8};
          const WriteReport found = stream_ogb(options, write, memory);
          expect_same_store(scratch_ / "expected", scratch_ / "found");
          EXPECT_EQ(found.edges_read, expected.edges_read);
          EXPECT_EQ(found.entries, expected.entries);
          EXPECT_EQ(found.duplicates, expected.duplicates);
          EXPECT_EQ(found.self_loops, expected.self_loops);
          EXPECT_EQ(found.bytes, expected.bytes);
        }
    }
  verify_dataset(scratch_ / "found");
}

TEST_F(OgbStream, SeveralLabelsANode) {
  put();
  std::vector<float> flags;
  for (std::size_t i = 0; i < kNodes * 3; ++i)
    flags.push_back(i % 7 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i % 2));
  test::write_bytes(root_ / "raw/node-label.npz",
                    test::zip({{"node_label.npy", npy("<f4", "(20000, 3)", bytes_of(flags))}}));
  write_store(import_ogb({.raw = root_}), {.out = scratch_ / "expected"});
  stream_ogb({.raw = root_}, {.out = scratch_ / "found"}, kEnough);
  expect_same_store(scratch_ / "expected", scratch_ / "found");
  verify_dataset(scratch_ / "found");
  const Dataset dataset = open_dataset(scratch_ / "found");
  EXPECT_EQ(dataset.label_type(), (LabelType{Task::kMultiLabel, 3}));
  EXPECT_EQ(dataset.multi_labels[7], -1);
  EXPECT_EQ(dataset.multi_labels[8], 0);
  EXPECT_EQ(dataset.multi_labels[9], 1);
}

TEST_F(OgbStream, ValuesToBePredicted) {
  put();
  std::vector<float> values;
  for (std::size_t i = 0; i < kNodes * 2; ++i)
    values.push_back(i % 14 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i) / 3);
  test::write_bytes(root_ / "raw/node-label.npz",
                    test::zip({{"node_label.npy", npy("<f4", "(20000, 2)", bytes_of(values))}}));
  const OgbOptions options{.raw = root_, .targets = {"all"}};
  write_store(import_ogb(options), {.out = scratch_ / "expected"});
  stream_ogb(options, {.out = scratch_ / "found"}, kEnough);
  expect_same_store(scratch_ / "expected", scratch_ / "found");
  EXPECT_EQ(open_dataset(scratch_ / "found").label_type(), (LabelType{Task::kRegression, 2}));
}

TEST_F(OgbStream, ErrorsOfEitherThreadAreOneLineAndLeaveNothing) {
  features_[30'001] = 1e9F;
  put();
  expect_bad("'node_feat.npy': row 10000, column 1 is 1e+09, beyond the f16 range");
  features_[30'001] = 0;
  edges_[299'999] = -1;
  put();
  expect_bad("'edge_index.npy': item 299999 is -1, which is negative");
  edges_[299'999] = 0;
  edges_[599'999] = 20'000;
  put();
  expect_bad("'edge_index.npy': item 599999 is 20000, the graph has nodes 0 to 19999");
  edges_[599'999] = 0;
  labels_[1] = 0.5F;
  put();
  expect_bad("which is no class");
  labels_[1] = 0;
  put({.method = 0});
  std::string bytes = test::read_bytes(root_ / "raw/data.npz");
  bytes[bytes.find("node_feat.npy") + 100'000] ^= 1;
  test::write_bytes(root_ / "raw/data.npz", bytes);
  expect_bad("'node_feat.npy': the checksum (CRC-32) is wrong");
  put({.method = 0});
  bytes = test::read_bytes(root_ / "raw/data.npz");
  bytes[bytes.find("edge_index.npy") + 14 + 128 + 8 * 1000] ^= 1;
  test::write_bytes(root_ / "raw/data.npz", bytes);
  expect_bad("'edge_index.npy': the checksum (CRC-32) is wrong");
}

TEST_F(OgbStream, TooLittleMemoryIsRefusedAtOnce) {
  put();
  EXPECT_COMPLAINT(stream_ogb({.raw = root_}, {.out = scratch_ / "out"}, 20'000'000), ErrorKind::kHostMemory,
                   "of memory, 0.02 GB are allowed");
  EXPECT_FALSE(fs::exists(scratch_ / "out"));
}

TEST(OgbStreamReal, AmazonPhoto) {
  const fs::path data = test::real_data_or_empty();
  if (data.empty()) GTEST_SKIP() << test::kNoRealData;
  const test::Scratch scratch;
  const OgbOptions options{.raw = data / "amazon-photo"};
  write_store(import_ogb(options), {.out = scratch / "expected"});
  stream_ogb(options, {.out = scratch / "found"}, kEnough);
  expect_same_store(scratch / "expected", scratch / "found");
}

TEST(OgbStreamReal, CsvIsNotStreamed) {
  const fs::path data = test::real_data_or_empty();
  if (data.empty()) GTEST_SKIP() << test::kNoRealData;
  const OgbOptions options{.raw = data / "amazon-computers"};
  EXPECT_FALSE(can_stream_ogb(options));
  EXPECT_GT(ogb_memory_bytes(options), 13'752U * 767 * 2 + 245'861 * 16);
}

}  // namespace
}  // namespace salient
