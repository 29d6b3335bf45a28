// tests/prepare/writing/csr_builder_test.cpp - the parallel builder equals the set of sets, on any graph and thread
// count.
#include "prepare/writing/csr_builder.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <ostream>

#include "core/error.h"
#include "core/philox.h"

namespace salient {
namespace {

struct Edges {
  std::vector<NodeId> sources, destinations;
};

/// Ends are skewed to low ids, so that there are repeats, self loops, long rows and isolated nodes.
Edges random_edges(NodeId num_nodes, std::size_t count, std::uint32_t seed) {
  const auto end = [&](std::uint32_t word) {
    const double u = word * 0x1p-32;
    return static_cast<NodeId>(u * u * u * num_nodes);
  };
  Edges edges;
  for (std::uint32_t m = 0; m < count; ++m) {
    const PhiloxBlock draw = philox4x32({{seed, 7}}, {{m, 0, 0, 0}});
    edges.sources.push_back(end(draw.word[0]));
    edges.destinations.push_back(end(draw.word[1]));
  }
  return edges;
}

CsrArrays built_by(int threads, NodeId num_nodes, const Edges& edges, EdgeDirections directions) {
  oneapi::tbb::task_arena arena(threads);
  return arena.execute([&] { return build_csr(num_nodes, edges.sources, edges.destinations, directions); });
}

struct Case {
  NodeId num_nodes;
  std::size_t num_edges;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << "V=" << c.num_nodes << " M=" << c.num_edges;
  }
};

class CsrBuilderProperty : public ::testing::TestWithParam<Case> {};

TEST_P(CsrBuilderProperty, EqualsTheReferenceForAnyThreadCount) {
  const auto [num_nodes, num_edges] = GetParam();
  for (const EdgeDirections directions : {EdgeDirections::kAsGiven, EdgeDirections::kBoth}) {
    const Edges edges = random_edges(num_nodes, num_edges, 1);
    const CsrArrays expected = build_csr_reference(num_nodes, edges.sources, edges.destinations, directions);
    for (const int threads : {1, 2, 4}) ASSERT_EQ(built_by(threads, num_nodes, edges, directions), expected) << threads;
  }
}

TEST_P(CsrBuilderProperty, OrderOfTheEdgesDoesNotMatter) {
  const auto [num_nodes, num_edges] = GetParam();
  Edges edges = random_edges(num_nodes, num_edges, 2);
  const CsrArrays forward = built_by(2, num_nodes, edges, EdgeDirections::kBoth);
  std::ranges::reverse(edges.sources);
  std::ranges::reverse(edges.destinations);
  std::swap(edges.sources, edges.destinations);  // nor does the direction, when both are wanted
  EXPECT_EQ(built_by(2, num_nodes, edges, EdgeDirections::kBoth), forward);
}

INSTANTIATE_TEST_SUITE_P(Generated, CsrBuilderProperty,
                         ::testing::Values(Case{1, 0}, Case{1, 3}, Case{2, 1}, Case{5, 0}, Case{10, 40},
                                           Case{1000, 300}, Case{1000, 20000}, Case{3, 300000}, Case{20000, 150000}));

TEST(CsrBuilder, CountsWhatItMet) {
  const CsrArrays graph = build_csr(4, {0, 1, 0, 2, 2}, {1, 0, 1, 2, 2}, EdgeDirections::kBoth);
  EXPECT_EQ((std::vector(graph.indptr.begin(), graph.indptr.end())), (std::vector<EdgeOffset>{0, 1, 2, 3, 3}));
  EXPECT_EQ((std::vector(graph.indices.begin(), graph.indices.end())), (std::vector<NodeId>{1, 0, 2}));
  EXPECT_EQ(graph.self_loops, 1u);
  EXPECT_EQ(graph.duplicates, 5u) << "0-1 three times makes six entries, of which two stay; 2-2 twice makes one";
}

TEST(CsrBuilder, KeepsDirectionsWhenAsked) {
  const CsrArrays graph = build_csr(3, {0, 0}, {1, 2}, EdgeDirections::kAsGiven);
  EXPECT_EQ((std::vector(graph.indptr.begin(), graph.indptr.end())), (std::vector<EdgeOffset>{0, 0, 1, 2}))
      << "s -> d: s in row d";
}

TEST(CsrBuilder, RefusesNodesOutsideTheGraph) {
  EXPECT_THROW(build_csr(3, {0, 3}, {1, 2}, EdgeDirections::kBoth), Error);
  EXPECT_THROW(build_csr(3, {0}, {1, 2}, EdgeDirections::kBoth), Error);
}

}  // namespace
}  // namespace salient
