// tests/models/resident/row_factors_gpu_test.cpp - factors of nodes by counting each row's entries and self loops.
#include "models/resident/row_factors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/device_copy.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

using test::OnDevice;

constexpr NodeId kNodes = 500;

/// Ascending rows, of which every third has two self loops.
test::OwnedGraph graph_with_loops() {
  const test::OwnedGraph plain = test::power_law_graph(kNodes, 6, 1);
  test::OwnedGraph graph;
  for (NodeId v = 0; v < kNodes; ++v) {
    for (const NodeId entry : plain.view().row(v))
      if (entry != v) graph.indices.push_back(entry);
    if (v % 3 == 0) graph.indices.insert(graph.indices.end(), 2, v);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return test::sorted(std::move(graph));
}

/// @param origin  where begins count from, in entries: rows before it begin below 0, as those of a graph in tiers may
void expect_factors(const test::OwnedGraph& graph, EdgeOffset origin) {
  const CudaStream stream;
  const OnDevice<EdgeOffset> indptr({graph.indptr.begin(), graph.indptr.end()}, stream);
  const OnDevice<NodeId> indices({graph.indices.begin(), graph.indices.end()}, stream);
  std::vector<EdgeOffset> begin_of_rows(graph.indptr.begin(), graph.indptr.end() - 1);
  for (EdgeOffset& begin : begin_of_rows) begin -= origin;
  const OnDevice<EdgeOffset> begins(begin_of_rows, stream);
  const OnDevice<NodeFactor> factors(std::vector<NodeFactor>(kNodes, {-1, -1}), stream);
  find_node_factors({indptr.get(), indices.get() + origin, kNodes, begins.get()}, factors.get(), stream.get());
  const std::vector<NodeFactor> found = factors.read(stream);
  for (NodeId v = 0; v < kNodes; ++v) {
    const std::span<const NodeId> row = graph.view().row(v);
    const auto loops = static_cast<double>(std::ranges::count(row, v));
    const double square = 1 / (static_cast<double>(row.size()) - loops + 1);
    ASSERT_NEAR(found[v].root, std::sqrt(square), 1e-6) << "node " << v;
    ASSERT_NEAR(found[v].own, square * (1 - loops), 1e-6) << "node " << v;
  }
}

TEST(RowFactors, CountSelfLoopsWhereverRowsBegin) {
  const test::OwnedGraph graph = graph_with_loops();
  const auto end = static_cast<EdgeOffset>(graph.indices.size());
  for (const EdgeOffset origin : {EdgeOffset{0}, end / 2, end}) expect_factors(graph, origin);
}

}  // namespace
}  // namespace salient
