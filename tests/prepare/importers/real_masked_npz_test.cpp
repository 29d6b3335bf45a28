// tests/prepare/importers/real_masked_npz_test.cpp - tolokers and minesweeper against their published sizes.
#include <gtest/gtest.h>

#include <algorithm>

#include "prepare/importers/masked_npz_importer.h"
#include "tests/support/real_data.h"

namespace salient {
namespace {

class RealMaskedNpz : public ::testing::Test {
 protected:
  void SetUp() override {
    if (data_.empty()) GTEST_SKIP() << test::kNoRealData;
  }
  const std::filesystem::path data_ = test::real_data_or_empty();
};

TEST_F(RealMaskedNpz, Tolokers) {
  const RawGraph graph = import_masked_npz({.file = data_ / "tolokers.npz"});
  EXPECT_EQ(graph.num_nodes, 11'758u);
  EXPECT_EQ(graph.sources.size(), 519'000u);
  EXPECT_EQ(graph.features.dim, 10);
  EXPECT_EQ(graph.num_classes, 2);
  EXPECT_EQ(std::ranges::count(graph.labels, 1), 2'566);
  EXPECT_EQ(graph.train.size() + graph.valid.size() + graph.test.size(), 11'758u);
}

TEST_F(RealMaskedNpz, MinesweeperHasTenSplits) {
  std::vector<std::vector<NodeId>> seen;
  for (int mask = 0; mask < 10; ++mask) {
    const RawGraph graph = import_masked_npz({.file = data_ / "minesweeper.npz", .mask = mask});
    EXPECT_EQ(graph.num_nodes, 10'000u);
    EXPECT_EQ(graph.sources.size(), 39'402u);
    EXPECT_EQ(graph.features.dim, 7);
    EXPECT_EQ(graph.train.size(), 5'000u);
    EXPECT_EQ(graph.valid.size(), 2'500u);
    EXPECT_EQ(graph.test.size(), 2'500u);
    EXPECT_TRUE(std::ranges::find(seen, graph.train) == seen.end());
    seen.push_back(graph.train);
  }
}

}  // namespace
}  // namespace salient
