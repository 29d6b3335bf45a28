// tests/prepare/importers/ogb_layout_test.cpp - names of folders become names of OGB's sets.
#include "prepare/importers/ogb_layout.h"

#include <gtest/gtest.h>

#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(OgbLayout, NamesOfFolders) {
  for (const char* folder : {"ogbn_arxiv", "ogbn-arxiv", "arxiv", "ogbn_arxiv_pyg", "arxiv_pyg"})
    EXPECT_EQ(ogb_name_of_folder(folder), "ogbn-arxiv") << folder;
  for (const char* folder : {"papers100M-bin", "ogbn_papers100M", "papers100M-bin_pyg", "papers100M_pyg"})
    EXPECT_EQ(ogb_name_of_folder(folder), "ogbn-papers100M") << folder;
  EXPECT_EQ(ogb_name_of_folder("products"), "ogbn-products");
  for (const char* folder : {"amazon-computers", "ogbn-arxiv-partial", "ogbn_mine", "arxiv2"})
    EXPECT_EQ(ogb_name_of_folder(folder), folder);
}

TEST(OgbLayout, SetsOfOtherTasksAreNamed) {
  const auto is_named = [](const char* file, const char* rule) {
    const test::Scratch root;
    std::filesystem::create_directories((root / file).parent_path());
    std::filesystem::create_directories(root / "raw");
    test::write_bytes(root / file, "");
    EXPECT_COMPLAINT(find_ogb_layout(root.path(), ""), ErrorKind::kBadData, rule);
  };
  for (const char* file : {"raw/graph-label.csv.gz", "raw/graph-label.npz"})
    is_named(file, "a set of several graphs with a label each");
  is_named("split/random/split_dict.pt", "split_dict.pt, a Python pickle of ogb's DatasetSaver");
  is_named("split/time/train.pt", "link prediction sets (ogbl-...)");
}

}  // namespace
}  // namespace salient
