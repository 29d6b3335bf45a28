// tests/prepare/importers/ogb_layout_test.cpp - names of folders become names of OGB's sets.
#include "prepare/importers/ogb_layout.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace salient
