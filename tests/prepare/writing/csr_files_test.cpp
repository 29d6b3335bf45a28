// tests/prepare/writing/csr_files_test.cpp - slices of a graph become two files.
#include "prepare/writing/csr_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/files/npy.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

CsrArrays slice(const std::vector<EdgeOffset>& indptr, const std::vector<NodeId>& indices) {
  CsrArrays rows;
  rows.indptr.assign(indptr.begin(), indptr.end());
  rows.indices.assign(indices.begin(), indices.end());
  return rows;
}

TEST(CsrFiles, SlicesMayLeaveRowsOutAndContinueOne) {
  const test::Scratch scratch;
  CsrArrays first = slice({0, 2, 3}, {1, 5, 0}), more = slice({0, 2}, {3, 4});
  first.self_loops = 1;
  more.duplicates = 7;
  StoreWriter store({.out = scratch / "store"});
  CsrFiles csr(store.folder(), 8);
  csr.append(1, first);  // rows 1 and 2
  csr.append(2, more);   // row 2 goes on
  csr.append(3, slice({0}, {}));
  csr.append(4, slice({0, 0, 1}, {2}));  // rows 4 and 5; 3, 6 and 7 are empty
  csr.close(store);
  EXPECT_EQ(csr.num_entries(), 6U);
  EXPECT_EQ(csr.self_loops(), 1U);
  EXPECT_EQ(csr.duplicates(), 7U);
  const NpyFile indptr(store.folder() / "indptr.npy"), indices(store.folder() / "indices.npy");
  EXPECT_EQ(indptr.header().shape, (std::vector<std::uint64_t>{9}));
  EXPECT_TRUE(std::ranges::equal(indptr.items<EdgeOffset>(), std::vector<EdgeOffset>{0, 0, 2, 5, 5, 5, 6, 6, 6}));
  EXPECT_EQ(indices.header().shape, (std::vector<std::uint64_t>{6}));
  EXPECT_TRUE(std::ranges::equal(indices.items<NodeId>(), std::vector<NodeId>{1, 5, 0, 3, 4, 2}));
}

}  // namespace
}  // namespace salient
