// tests/support/typed_graphs.h - a typed graph by hand, and random ones: their schemas, edges, features and labels.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "prepare/importers/typed_graph.h"

namespace salient::test {

inline RawFeatures rows_of(std::uint64_t count, int dim, float first, FeatureType type = FeatureType::kF16) {
  RawFeatures features{.type = type, .dim = dim};
  for (std::uint64_t i = 0; i < count * static_cast<std::uint64_t>(dim); ++i) {
    const float value = first + static_cast<float>(i % 64) / 8;
    append_feature_rows(features, &value, 1, "by hand");
  }
  return features;
}

/// 4 papers with 2 features, 3 authors with 2000 in sparse rows, 2 subjects without; papers have classes, cite each
/// other and paper 2 itself, author 2 wrote nothing. One edge is listed twice.
inline TypedGraph small_typed_graph() {
  TypedGraph graph;
  graph.schema = {
      .node_types = {{.name = "paper", .count = 4}, {.name = "author", .count = 3}, {.name = "subject", .count = 2}},
      .relations = {{.src = 0, .dst = 0, .name = "cites"},
                    {.src = 0, .dst = 1, .name = "written_by"},
                    {.src = 0, .dst = 2, .name = "about"},
                    {.src = 1, .dst = 0, .name = "rev_written_by", .reverse_of = 1},
                    {.src = 2, .dst = 0, .name = "rev_about", .reverse_of = 2}}};
  number_slots(graph.schema);
  graph.edges = {
      {{0, 2, 3}, {1, 2, 0}}, {{0, 1, 1, 2, 3, 0}, {0, 0, 1, 1, 1, 0}}, {{0, 1, 2, 3}, {0, 1, 1, 0}}, {}, {}};
  graph.features = {rows_of(4, 2, 1), {.dim = 2000, .layout = FeatureLayout::kCsr}, {}};
  graph.features[1].begin = {0, 1, 3, 3};
  graph.features[1].columns = {2, 0, 1};
  graph.features[1].rows = {std::byte{0},    std::byte{0x3C}, std::byte{0},
                            std::byte{0x40}, std::byte{0},    std::byte{0x3C}};
  graph.target.name = "small";
  graph.target.source_kind = "typed";
  graph.target.source_path = "by hand";
  graph.target.symmetrise = false;
  graph.target.num_nodes = 4;
  graph.target.labels = {0, 1, 2, -1};
  graph.target.num_classes = 3;
  graph.target.train = {2, 0};
  graph.target.valid = {1};
  graph.target.test = {3};
  return graph;
}

/// 1 to 6 types of 0 to 40 nodes, 1 to 12 relations of 0 to 200 edges; self relations, parallel relations, types that
/// no relation meets, repeats and self loops are among them.
inline TypedGraph random_typed_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint64_t>(random() % limit); };
  TypedGraph graph;
  const std::size_t num_types = 1 + below(6);
  for (std::size_t t = 0; t < num_types; ++t) {
    const std::uint64_t count = t == 0 ? 1 + below(40) : below(4) == 0 ? 0 : below(41);
    graph.schema.node_types.push_back({.name = "t" + std::to_string(t), .count = count});
    const int dim = count == 0 ? 0 : static_cast<int>(below(4));
    graph.features.push_back(
        dim == 0 ? RawFeatures{}
                 : rows_of(count, dim, static_cast<float>(t), below(2) == 0 ? FeatureType::kF16 : FeatureType::kF32));
  }
  const std::size_t num_given = 1 + below(6);
  const auto type = [&] { return static_cast<int>(below(num_types)); };
  for (std::size_t r = 0; r < num_given; ++r) {
    const Relation relation{.src = type(), .dst = type(), .name = "r" + std::to_string(r)};
    const std::uint64_t num_src = graph.schema.node_types[static_cast<std::size_t>(relation.src)].count;
    const std::uint64_t num_dst = graph.schema.node_types[static_cast<std::size_t>(relation.dst)].count;
    const std::uint64_t num_edges = num_src == 0 || num_dst == 0 || below(4) == 0 ? 0 : below(201);
    NodePairs pairs;
    for (std::uint64_t m = 0; m < num_edges; ++m) {
      pairs.sources.push_back(static_cast<NodeId>(below(num_src)));
      pairs.destinations.push_back(static_cast<NodeId>(below(num_dst)));
    }
    graph.schema.relations.push_back(relation);
    graph.edges.push_back(std::move(pairs));
  }
  for (std::size_t r = 0; r < num_given; ++r) {
    if (below(3) == 0) continue;
    const Relation forward = graph.schema.relations[r];
    graph.schema.relations.push_back(
        {.src = forward.dst, .dst = forward.src, .name = "rev_" + forward.name, .reverse_of = static_cast<int>(r)});
    graph.edges.emplace_back();
  }
  number_slots(graph.schema);
  graph.schema.target_type = type();
  const std::uint64_t labelled = graph.schema.target().count;
  graph.target.name = "random";
  graph.target.source_kind = "typed";
  graph.target.source_path = "drawn";
  graph.target.symmetrise = false;
  graph.target.num_nodes = labelled;
  graph.target.num_classes = 3;
  for (NodeId v = 0; v < labelled; ++v) {
    graph.target.labels.push_back(static_cast<std::int32_t>(below(3)));
    std::vector<NodeId>* const parts[] = {&graph.target.train, &graph.target.valid, &graph.target.test};
    parts[below(3)]->push_back(v);
  }
  return graph;
}

}  // namespace salient::test
