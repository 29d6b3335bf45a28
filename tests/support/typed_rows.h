// tests/support/typed_rows.h - random typed graphs as samplers see them, without a store: rows, rules and seeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "core/csr_graph.h"
#include "sampler/sampling_rule.h"

namespace salient::test {

/// A typed graph that owns its arrays.
struct TypedRows {
  SlotTable slots{};
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{};
  std::vector<float> weights{};
  CsrGraph view() const { return {indptr, indices, &slots, {weights, {}}}; }
};

/// Sizes of random graphs, at most.
struct RowsOptions {
  std::uint64_t most_types = 6, most_relations = 12, most_nodes = 60;
};

/// Types, some without nodes, and relations between them; rows of 0 to 8 entries, of which some are parallel, now and
/// then one of 10^4.
inline TypedRows random_rows(std::mt19937& random, const RowsOptions& options = {}) {
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint64_t>(random() % limit); };
  TypedRows rows;
  const std::size_t num_types = 1 + below(options.most_types), num_relations = below(options.most_relations + 1);
  std::vector<std::vector<std::uint16_t>> into(num_types);
  std::vector<std::size_t> source;
  for (std::uint16_t r = 0; r < num_relations; ++r) {
    into[below(num_types)].push_back(r);
    source.push_back(below(num_types));
  }
  for (std::size_t t = 0; t < num_types; ++t)
    rows.slots.append(t == 0          ? 1 + below(options.most_nodes)
                      : below(4) == 0 ? 0
                                      : below(options.most_nodes + 1),
                      into[t]);
  for (std::uint64_t row = 0; row < rows.slots.num_rows(); ++row) {
    const std::size_t type = rows.slots.type_of_row(row);
    const auto slot = static_cast<std::uint32_t>((row - rows.slots.slot_begin[type]) % rows.slots.num_slots[type]);
    const std::size_t src = source[rows.slots.relation_of(type, slot)];
    const std::uint64_t count = rows.slots.num_nodes_of(src);
    const std::uint64_t degree = count == 0 ? 0 : below(500) == 0 ? 10'000 : below(9);
    const auto from = rows.indices.size();
    for (std::uint64_t e = 0; e < degree; ++e)
      rows.indices.push_back(static_cast<NodeId>(rows.slots.node_begin[src] + below(count)));
    std::sort(rows.indices.begin() + static_cast<std::ptrdiff_t>(from), rows.indices.end());
    rows.indptr.push_back(static_cast<EdgeOffset>(rows.indices.size()));
  }
  for (std::size_t e = 0; e < rows.indices.size(); ++e) rows.weights.push_back(static_cast<float>(e * 7 % 5));
  return rows;
}

inline SamplingRule random_rule(std::mt19937& random, const TypedRows& rows) {
  constexpr Draw kDraws[] = {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor, Draw::kWeighted};
  constexpr int kFanouts[] = {0, 1, 2, 3, 5, 40, 100, kAllNeighbors};
  SamplingRule rule{.fanouts = std::vector<int>(1 + random() % 3, 2), .draw = kDraws[random() % 4]};
  if (random() % 4 == 0) return rule;
  for (std::size_t r = 0; r < rows.slots.relations.size(); ++r) {
    std::vector<int>& fanouts = rule.relation_fanouts.emplace_back();
    for (std::size_t h = 0; h < rule.fanouts.size(); ++h) fanouts.push_back(kFanouts[random() % std::size(kFanouts)]);
  }
  return rule;
}

inline std::vector<NodeId> random_seeds(std::mt19937& random, std::uint64_t num_nodes) {
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < num_nodes; ++v)
    if (random() % 5 == 0) seeds.push_back(v);
  std::shuffle(seeds.begin(), seeds.end(), random);
  return seeds;
}

}  // namespace salient::test
