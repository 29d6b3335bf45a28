// tests/prepare/writing/valued_rows_test.cpp - edges with weights and times become the rows that a map of them says.
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "prepare/writing/csr_builder.h"
#include "prepare/writing/write_store.h"
#include "store/dataset.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

struct Edges {
  std::vector<NodeId> sources{}, destinations{};
  EdgeValues values{};
};

/// Few pairs and few times, so that both repeat.
Edges random_edges(NodeId num_nodes, std::size_t count, bool with_weights, bool with_times) {
  Edges edges;
  for (std::uint32_t m = 0; m < count; ++m) {
    const PhiloxBlock draw = philox4x32({{3, 7}}, {{m, num_nodes, 0, 0}});
    edges.sources.push_back(draw.word[0] % num_nodes);
    edges.destinations.push_back(draw.word[1] % num_nodes);
    if (with_weights) edges.values.weights.push_back(static_cast<float>(draw.word[2] % 1000) / 7);
    if (with_times) edges.values.times.push_back(static_cast<std::int64_t>(draw.word[3] % 9) - 4);
  }
  return edges;
}

/// The contract, written to be read: (time, neighbour, number) -> weight of the entries of each row.
CsrArrays built_by_maps(NodeId num_nodes, const Edges& edges, EdgeDirections directions, Repeats repeats) {
  const auto& [sources, destinations, values] = edges;
  using Row = std::map<std::tuple<std::int64_t, NodeId, std::size_t>, float>;
  std::vector<Row> rows(num_nodes);
  std::vector<std::map<NodeId, Row::iterator>> first_of(num_nodes);
  CsrArrays graph;
  const auto add = [&](NodeId row, NodeId neighbor, std::size_t m) {
    const float weight = values.weights.empty() ? 0 : values.weights[m];
    const auto known = first_of[row].find(neighbor);
    if (known != first_of[row].end() && repeats != Repeats::kKeep) {
      ++graph.duplicates;
      if (repeats == Repeats::kSum) known->second->second += weight;
      return;
    }
    const std::int64_t time = values.times.empty() ? 0 : values.times[m];
    first_of[row].emplace(neighbor, rows[row].emplace(std::tuple(time, neighbor, m), weight).first);
  };
  for (std::size_t m = 0; m < sources.size(); ++m) {
    add(destinations[m], sources[m], m);
    if (directions == EdgeDirections::kBoth && sources[m] != destinations[m]) add(sources[m], destinations[m], m);
  }
  graph.indptr.push_back(0);
  for (NodeId v = 0; v < num_nodes; ++v) {
    for (const auto& [place, weight] : rows[v]) {
      graph.indices.push_back(std::get<1>(place));
      graph.self_loops += std::get<1>(place) == v;
      if (!values.weights.empty()) graph.weights.push_back(weight);
      if (!values.times.empty()) graph.times.push_back(std::get<0>(place));
    }
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

TEST(ValuedRows, EqualTheMapForAnyThreadCount) {
  for (const auto& [num_nodes, count] : {std::pair<NodeId, std::size_t>{1, 0}, {1, 5}, {7, 300}, {900, 20'000}})
    for (const bool with_weights : {false, true})
      for (const bool with_times : {false, true})
        for (const Repeats repeats : {Repeats::kFirst, Repeats::kSum, Repeats::kKeep})
          for (const EdgeDirections directions : {EdgeDirections::kAsGiven, EdgeDirections::kBoth}) {
            const Edges edges = random_edges(num_nodes, count, with_weights, with_times);
            const CsrArrays expected = built_by_maps(num_nodes, edges, directions, repeats);
            for (const int threads : {1, 3}) {
              const CsrArrays found = oneapi::tbb::task_arena(threads).execute([&] {
                return build_csr(num_nodes, edges.sources, edges.destinations, directions, edges.values, repeats);
              });
              ASSERT_EQ(found, expected) << num_nodes << ' ' << with_weights << with_times << name_of(repeats);
            }
          }
}

TEST(ValuedRows, KnowTheirEdgesWhereThoseHaveFeatures) {
  for (const bool with_times : {false, true})
    for (const Repeats repeats : {Repeats::kFirst, Repeats::kKeep})
      for (const EdgeDirections directions : {EdgeDirections::kAsGiven, EdgeDirections::kBoth}) {
        Edges edges = random_edges(40, 3000, true, with_times);
        const CsrArrays plain = build_csr(40, edges.sources, edges.destinations, directions, edges.values, repeats);
        RawFeatures& features = edges.values.features;
        features = {.type = FeatureType::kF32, .dim = 2};
        for (std::uint32_t m = 0; m < 3000; ++m) {
          const float row[] = {static_cast<float>(m), edges.values.weights[m]};
          append_feature_rows(features, row, 2, "edges");
        }
        const CsrArrays graph = build_csr(40, edges.sources, edges.destinations, directions, edges.values, repeats);
        EXPECT_EQ(graph.indices, plain.indices);
        EXPECT_EQ(graph.weights, plain.weights);
        ASSERT_EQ(graph.edges.size(), graph.indices.size());
        const std::vector<std::byte> rows = edge_rows_of(features, graph, {});
        const auto* const values = reinterpret_cast<const float*>(rows.data());
        for (std::size_t v = 0; v < 40; ++v)
          for (auto e = static_cast<std::size_t>(graph.indptr[v]); e < static_cast<std::size_t>(graph.indptr[v + 1]);
               ++e) {
            const std::uint32_t m = graph.edges[e];
            const std::pair<NodeId, NodeId> ends{edges.sources[m], edges.destinations[m]};
            const bool is_reverse =
                directions == EdgeDirections::kBoth && ends == std::pair(NodeId(v), graph.indices[e]);
            ASSERT_TRUE(is_reverse || ends == std::pair(graph.indices[e], NodeId(v)));
            ASSERT_EQ(values[2 * e], static_cast<float>(m));
            ASSERT_EQ(values[2 * e + 1], graph.weights[e]) << "of one edge";
          }
      }
}

TEST(ValuedRows, RefuseWhatNoRowHolds) {
  const EdgeDirections both = EdgeDirections::kBoth;
  EXPECT_COMPLAINT(build_csr(3, {0, 1}, {1, 0}, both, {}, Repeats::kRefuse), 65,
                   "the edge from node 1 to node 0, number 1 from 0, repeats an entry of row");
  EXPECT_NO_THROW(build_csr(3, {0, 1}, {1, 0}, EdgeDirections::kAsGiven, {}, Repeats::kRefuse));
  EXPECT_COMPLAINT(build_csr(3, {0, 0}, {1, 1}, both, {.weights = {3e38F, 3e38F}}, Repeats::kSum), 65,
                   "have a sum that no float holds");
}

RawGraph timed_graph(bool symmetrise) {
  Edges edges = random_edges(60, 900, true, true);
  RawGraph graph;
  graph.name = "timed";
  graph.source_kind = "edges";
  graph.num_nodes = 60;
  graph.sources = std::move(edges.sources);
  graph.destinations = std::move(edges.destinations);
  graph.edge_values = std::move(edges.values);
  graph.symmetrise = symmetrise;
  return graph;
}

TEST(ValuedRows, AreWrittenAndVerified) {
  for (const bool symmetrise : {false, true})
    for (const std::optional<Repeats> repeats : {std::optional<Repeats>(), std::optional(Repeats::kFirst)}) {
      const test::Scratch scratch;
      RawGraph graph = timed_graph(symmetrise);
      graph.repeats = repeats;
      const CsrArrays expected = build_csr(60, graph.sources, graph.destinations,
                                           symmetrise ? EdgeDirections::kBoth : EdgeDirections::kAsGiven,
                                           graph.edge_values, repeats.value_or(Repeats::kKeep));
      write_store(std::move(graph), {.out = scratch / "store", .num_threads = 2});
      EXPECT_NO_THROW(verify_dataset(scratch / "store", 1));
      const Dataset dataset = open_dataset(scratch / "store", 1);
      EXPECT_TRUE(dataset.has_edge_weights && dataset.has_edge_times);
      EXPECT_TRUE(std::ranges::equal(dataset.graph.entries.weights, expected.weights));
      EXPECT_TRUE(std::ranges::equal(dataset.graph.entries.times, expected.times));
      EXPECT_TRUE(std::ranges::equal(dataset.graph.indices, expected.indices));
    }
}

}  // namespace
}  // namespace salient
