// tests/prepare/importers/real_ogb_test.cpp - real graphs in OGB's layouts, against their published sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "prepare/importers/ogb_importer.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

class RealOgb : public ::testing::Test {
 protected:
  void SetUp() override {
    if (data_.empty()) GTEST_SKIP() << test::kNoRealData;
  }
  const std::filesystem::path data_ = test::real_data_or_empty();
};

std::size_t num_distinct_edges(const RawGraph& graph) {
  std::set<std::pair<NodeId, NodeId>> edges;
  for (std::size_t m = 0; m < graph.sources.size(); ++m)
    edges.insert(std::minmax(graph.sources[m], graph.destinations[m]));
  return edges.size();
}

std::size_t num_nonzero_values(const RawGraph& graph) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < graph.features.rows.size(); i += 2)
    count += graph.features.rows[i] != std::byte{0} || graph.features.rows[i + 1] != std::byte{0};
  return count;
}

TEST_F(RealOgb, AmazonComputersFromCsv) {
  const RawGraph graph = import_ogb({.raw = data_ / "amazon-computers"});
  EXPECT_EQ(graph.name, "amazon-computers");
  EXPECT_EQ(graph.num_nodes, 13'752u);
  EXPECT_EQ(graph.sources.size(), 245'861u);
  EXPECT_EQ(num_distinct_edges(graph), 245'861u);
  EXPECT_EQ(graph.sources[1], 0u);
  EXPECT_EQ(graph.destinations[1], 6551u);
  EXPECT_EQ(graph.features.dim, 767);
  EXPECT_EQ(num_nonzero_values(graph), 3675081u);
  EXPECT_EQ(graph.num_classes, 10);
  EXPECT_EQ(graph.train.size(), 8'251u);
  EXPECT_EQ(graph.valid.size(), 2'750u);
  EXPECT_EQ(graph.test.size(), 2'751u);
}

TEST_F(RealOgb, AmazonPhotoFromArrays) {
  const RawGraph graph = import_ogb({.raw = data_ / "amazon-photo"});
  EXPECT_EQ(graph.num_nodes, 7'650u);
  EXPECT_EQ(graph.sources.size(), 119'081u);
  EXPECT_EQ(num_distinct_edges(graph), 119'081u);
  EXPECT_EQ(graph.features.dim, 745);
  EXPECT_EQ(num_nonzero_values(graph), 1'979'909u);  // ones, as NumPy counts them
  EXPECT_EQ(graph.num_classes, 8);
  EXPECT_EQ(graph.train.size(), 4'590u);
  EXPECT_EQ(graph.valid.size(), 1'530u);
  EXPECT_EQ(graph.test.size(), 1'530u);
}

TEST_F(RealOgb, PartialArxivIsRefusedInOneLine) {
  EXPECT_COMPLAINT(import_ogb({.raw = data_ / "ogbn-arxiv-partial", .name = "ogbn-arxiv"}), ErrorKind::kNoInput,
                   "missing: raw/edge.csv.gz, raw/node-feat.csv.gz; is the download complete?");
}

/// With the missing tables made up, labels, split and class names are ogbn-arxiv's own.
TEST_F(RealOgb, LabelsSplitAndNamesOfArxiv) {
  namespace fs = std::filesystem;
  const test::Scratch scratch;
  const fs::path root = scratch / "arxiv";
  fs::create_directories(root / "raw");
  for (const char* folder : {"split", "mapping"})
    fs::create_directory_symlink(data_ / "ogbn-arxiv-partial" / folder, root / folder);
  for (const char* file : {"node-label.csv.gz", "num-node-list.csv.gz"})
    fs::create_symlink(data_ / "ogbn-arxiv-partial/raw" / file, root / "raw" / file);
  std::string features;
  for (int i = 0; i < 169'343; ++i) features += "1\n";
  test::write_bytes(root / "raw/node-feat.csv.gz", features);  // plain text is read as well
  test::write_bytes(root / "raw/edge.csv.gz", "0,169342\n");
  test::write_bytes(root / "raw/num-edge-list.csv.gz", "1\n");

  const RawGraph graph = import_ogb({.raw = root});
  EXPECT_EQ(graph.name, "ogbn-arxiv");
  EXPECT_EQ(graph.labels.size(), 169'343u);
  EXPECT_EQ(graph.num_classes, 40);
  EXPECT_EQ(*std::ranges::max_element(graph.labels), 39);
  EXPECT_EQ(graph.train.size(), 90'941u);
  EXPECT_EQ(graph.valid.size(), 29'799u);
  EXPECT_EQ(graph.test.size(), 48'603u);
  ASSERT_EQ(graph.class_names.size(), 40u);
  EXPECT_EQ(graph.class_names[24], "arxiv cs lg");
}

}  // namespace
}  // namespace salient
