// tests/prepare/writing/edge_buckets_test.cpp - sorting on disk gives what sorting in memory gives, for every shape of degrees.
#include "prepare/writing/edge_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/npy.h"
#include "core/philox.h"
#include "prepare/writing/csr_builder.h"
#include "prepare/writing/csr_files.h"
#include "prepare/writing/stream_plan.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

struct Edges {
  NodeId num_nodes = 0;
  std::vector<NodeId> rows{}, columns{};
};

/// `row_of` and `column_of` make ids out of random words.
template <class RowOf, class ColumnOf>
Edges random_edges(NodeId num_nodes, std::size_t count, RowOf row_of, ColumnOf column_of) {
  Edges edges{.num_nodes = num_nodes};
  for (std::size_t m = 0; m < count; ++m) {
    const PhiloxBlock words = philox4x32({{1, 2}}, {{static_cast<std::uint32_t>(m), 0, 0, 0}});
    edges.rows.push_back(row_of(words.word[0]) % num_nodes);
    edges.columns.push_back(column_of(words.word[1]) % num_nodes);
  }
  return edges;
}

class EdgeBucketsTest : public ::testing::Test {
 protected:
  /// Spreads over `num_buckets` files, sorts within `memory` bytes, and puts the slices together.
  CsrArrays sorted_on_disk(const Edges& edges, unsigned num_buckets, std::size_t buffer_keys, std::size_t memory) {
    EdgeBuckets open(scratch_ / "bucket-", 0, entry_key(edges.num_nodes - 1, 0xFFFFFFFF), num_buckets, buffer_keys);
    for (std::size_t m = 0; m < edges.rows.size(); ++m) open.add(entry_key(edges.rows[m], edges.columns[m]));
    Progress progress("test", 0, "entries");
    num_slices_ = 0;
    largest_slice_ = 0;
    CsrArrays graph;
    graph.indptr.assign(edges.num_nodes + std::size_t{1}, 0);
    for (const EdgeBucket& bucket : open.close())
      sort_bucket(bucket, memory, progress, [&](NodeId first_row, const CsrArrays& rows) {
        ++num_slices_;
        largest_slice_ = std::max(largest_slice_, rows.indices.size());
        for (std::size_t i = 0; i + 1 < rows.indptr.size(); ++i)
          graph.indptr[first_row + i + 1] += rows.indptr[i + 1] - rows.indptr[i];
        graph.indices.insert(graph.indices.end(), rows.indices.begin(), rows.indices.end());
        graph.self_loops += rows.self_loops;
        graph.duplicates += rows.duplicates;
      });
    for (NodeId v = 0; v < edges.num_nodes; ++v) graph.indptr[v + 1] += graph.indptr[v];
    EXPECT_TRUE(fs::is_empty(scratch_.path())) << "every file is deleted";
    return graph;
  }
  void expect_same(const Edges& edges, unsigned num_buckets, std::size_t buffer_keys, std::size_t memory) {
    const CsrArrays expected =
        build_csr_reference(edges.num_nodes, edges.columns, edges.rows, EdgeDirections::kAsGiven);
    const CsrArrays found = sorted_on_disk(edges, num_buckets, buffer_keys, memory);
    EXPECT_TRUE(found == expected) << num_buckets << " buckets, " << memory << " bytes";
  }

  const test::Scratch scratch_;
  std::size_t num_slices_ = 0, largest_slice_ = 0;
};

const auto anything = [](std::uint32_t word) { return word; };

TEST_F(EdgeBucketsTest, EvenDegrees) {
  const Edges edges = random_edges(1000, 50'000, anything, anything);
  for (const unsigned buckets : {2U, 3U, 7U, 256U})
    for (const std::size_t buffer_keys : {1U, 100U, 100'000U}) expect_same(edges, buckets, buffer_keys, 1 << 20);
}

TEST_F(EdgeBucketsTest, OneRowHoldsMostEntries) {
  const Edges edges = random_edges(
      200'000, 300'000, [](std::uint32_t word) { return word % 8 == 0 ? word / 8 : 777; }, anything);
  expect_same(edges, 16, 1000, kMinSortBytes);
  EXPECT_LE(largest_slice_, kMinSortBytes / sizeof(NodeId)) << "no slice is larger than the memory";
  EXPECT_GT(num_slices_, 50U);
}

TEST_F(EdgeBucketsTest, OneEdgeAgainAndAgain) {
  expect_same(random_edges(
                  5, 100'000, [](std::uint32_t) { return 3U; }, [](std::uint32_t) { return 3U; }),
              4, 64, kMinSortBytes);
  expect_same(random_edges(
                  5, 100'000, [](std::uint32_t) { return 4U; }, [](std::uint32_t w) { return w % 2; }),
              4, 64, kMinSortBytes);
}

TEST_F(EdgeBucketsTest, FewEdgesAmongManyNodesAndTheGreatestIds) {
  expect_same(random_edges(300'000, 10, anything, anything), 3, 8, kMinSortBytes);
  expect_same({.num_nodes = 1}, 2, 8, kMinSortBytes);
  expect_same({.num_nodes = 1, .rows = {0, 0}, .columns = {0, 0}}, 2, 8, kMinSortBytes);
  EdgeBuckets open(scratch_ / "high-", 0, entry_key(0xFFFFFFFE, 0xFFFFFFFF), 256, 4);
  open.add(entry_key(0xFFFFFFFE, 0xFFFFFFFD));
  const std::vector<EdgeBucket> buckets = open.close();
  ASSERT_EQ(buckets.size(), 1U);
  EXPECT_EQ(row_of_key(buckets[0].last), 0xFFFFFFFEU);
  EXPECT_LE(buckets[0].first, entry_key(0xFFFFFFFE, 0xFFFFFFFD));
  fs::remove(buckets[0].file);
}

TEST_F(EdgeBucketsTest, AFileThatCannotBeMadeIsAnErrorThatNamesIt) {
  EdgeBuckets open("/dev/null/bucket-", 0, 100, 2, 1);
  EXPECT_COMPLAINT(open.add(1), ErrorKind::kIo, "/dev/null/bucket-0: cannot create");
}

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

TEST(StreamPlan, RefusesTooLittleMemoryAndSaysWhatIsNeeded) {
  const StreamSize papers{.num_nodes = 111'059'956, .num_keys = 3'231'371'744, .row_bytes = 256, .num_threads = 16};
  EXPECT_COMPLAINT(plan_stream(papers, 500'000'000, "papers"), ErrorKind::kHostMemory,
                   "papers: needs at least 0.62 GB of memory, 0.50 GB are allowed");
  for (const std::uint64_t gb : {1U, 2U, 8U, 64U}) {
    const StreamPlan plan = plan_stream(papers, gb * 1'000'000'000, "papers");
    EXPECT_LT(plan.sort_bytes, gb * 1'000'000'000);
    EXPECT_LE(plan.num_buckets * plan.buffer_keys * 8, plan.sort_bytes);
    EXPECT_GE(plan.buffer_keys, 1024U);
    EXPECT_GT(plan.disk_bytes, 55'000'000'000U);  // features 28.4 GB, keys 25.9, indptr and labels 1.3
    EXPECT_LT(plan.disk_bytes, 69'000'000'000U);
    EXPECT_LE(sort_bytes(papers.num_keys, papers.num_nodes) / plan.num_buckets, plan.sort_bytes / 2);
  }
}

}  // namespace
}  // namespace salient
