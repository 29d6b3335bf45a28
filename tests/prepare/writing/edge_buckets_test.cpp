// tests/prepare/writing/edge_buckets_test.cpp - sorting on disk gives what sorting in memory gives, for any degrees.
#include "prepare/writing/edge_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "prepare/writing/csr_builder.h"
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

}  // namespace
}  // namespace salient
