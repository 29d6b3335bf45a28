// tests/sampler/device_exclusions_test.cpp - what threads of a GPU find of excluded entries, played on the host, is
// what the host finds.
#include "sampler/device_exclusions.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/excluded_keys.h"
#include "tests/support/graphs.h"
#include "tests/support/played_exclusions.h"

namespace salient {
namespace {

DeviceCsr csr_of(const CsrGraph& graph) { return {graph.indptr.data(), graph.indices.data(), graph.num_nodes()}; }

void expect_places(const CsrGraph& graph, const std::vector<EntryKey>& keys) {
  const Exclusions expected = test::exclusions_of(graph, keys);
  const test::PlayedExclusions found(csr_of(graph), keys);
  for (std::uint32_t row = 0; row < graph.num_rows(); ++row) {
    const RestOfRow rest = found.view().rest_of(row);
    const std::span<const std::uint32_t> places = expected.of(row);
    ASSERT_EQ(rest.num_excluded(), places.size()) << "row " << row;
    for (std::uint32_t rank = 0; rank + places.size() < graph.degree(row); ++rank)
      ASSERT_EQ(rest.place_of(rank), place_of_rank(rank, places)) << "row " << row << ", rank " << rank;
  }
}

TEST(DeviceExclusions, AreThoseOfTheHost) {
  std::size_t num_excluded = 0;
  for (const double mean_degree : {1.0, 9.0, 60.0})
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const test::OwnedGraph graph = test::sorted(test::power_law_graph(300, mean_degree, seed + 1));
      const std::vector<EntryKey> keys = test::random_keys(graph.view(), seed);
      num_excluded += test::exclusions_of(graph.view(), keys).num_entries();
      ASSERT_NO_FATAL_FAILURE(expect_places(graph.view(), keys));
    }
  EXPECT_GT(num_excluded, 10'000u);
}

TEST(DeviceExclusions, ParallelEntriesAreOneRunAndKeysThatAreNoneExcludeNothing) {
  const std::vector<EdgeOffset> indptr{0, 7, 7, 8};
  const std::vector<NodeId> indices{0, 1, 1, 1, 2, 2, 2, 1};
  const CsrGraph graph{indptr, indices};
  expect_places(graph, {});
  expect_places(graph, {entry_key(0, 1)});
  expect_places(graph, {entry_key(0, 1), entry_key(0, 1), entry_key(0, 2)});
  expect_places(graph, {entry_key(0, 0), entry_key(0, 1), entry_key(0, 2), entry_key(2, 1)});
  expect_places(graph, {entry_key(1, 0), entry_key(2, 0), entry_key(2, 2)});
  const test::PlayedExclusions found(csr_of(graph), {kNoEntry, entry_key(0, 1), kNoEntry});
  EXPECT_EQ(found.view().rest_of(0).num_excluded(), 3u);
  EXPECT_EQ(found.view().rest_of(0).place_of(1), 4u);
  EXPECT_EQ(found.view().rest_of(2).num_excluded(), 0u);
}

}  // namespace
}  // namespace salient
