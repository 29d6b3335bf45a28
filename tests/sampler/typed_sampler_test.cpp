// tests/sampler/typed_sampler_test.cpp - slots are sampled as the reference says, over random schemas, by every draw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/error.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::uint32_t kNumSchemas = 200;

/// A typed graph that owns its arrays.
struct TypedRows {
  SlotTable slots{};
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{};
  std::vector<float> weights{};
  CsrGraph view() const { return {indptr, indices, &slots, {weights, {}}}; }
};

/// 1 to 6 types of 0 to 60 nodes, 0 to 12 relations between them; rows of 0 to 8 entries, of which some are parallel,
/// and now and then one of 10^4.
TypedRows random_rows(std::mt19937& random) {
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint64_t>(random() % limit); };
  TypedRows rows;
  const std::size_t num_types = 1 + below(6), num_relations = below(13);
  std::vector<std::vector<std::uint16_t>> into(num_types);
  std::vector<std::size_t> source;
  for (std::uint16_t r = 0; r < num_relations; ++r) {
    into[below(num_types)].push_back(r);
    source.push_back(below(num_types));
  }
  for (std::size_t t = 0; t < num_types; ++t)
    rows.slots.append(t == 0 ? 1 + below(60) : below(4) == 0 ? 0 : below(61), into[t]);
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

SamplingRule random_rule(std::mt19937& random, const TypedRows& rows) {
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

std::vector<NodeId> random_seeds(std::mt19937& random, std::uint64_t num_nodes) {
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < num_nodes; ++v)
    if (random() % 5 == 0) seeds.push_back(v);
  std::shuffle(seeds.begin(), seeds.end(), random);
  return seeds;
}

TEST(TypedSampler, EqualsTheReferenceOverRandomSchemas) {
  for (std::uint32_t seed = 0; seed < kNumSchemas; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const TypedRows rows = random_rows(random);
    const SamplingRule rule = random_rule(random, rows);
    NeighborSampler sampler(rows.view(), rule);
    Mfg mfg;
    for (std::uint32_t batch = 0; batch < 3; ++batch) {
      const std::vector<NodeId> seeds = random_seeds(random, rows.slots.num_nodes());
      const BatchKey key{seed, 1, batch};
      sampler.sample(seeds, key, mfg);
      ASSERT_EQ(mfg, reference_sample(rows.view(), rule, seeds, key));
    }
  }
}

TEST(TypedSampler, RowsAreSlotsAndKeepTheirFanouts) {
  for (std::uint32_t seed = 0; seed < kNumSchemas; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const TypedRows rows = random_rows(random);
    const CsrGraph graph = rows.view();
    SamplingRule rule = random_rule(random, rows);
    if (rule.draw == Draw::kWithReplacement || rule.draw == Draw::kWeighted) rule.draw = Draw::kUniform;
    Mfg mfg;
    NeighborSampler(graph, rule).sample(random_seeds(random, rows.slots.num_nodes()), {seed, 0, 0}, mfg);
    for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
      const MfgHop& hop = mfg.hops[mfg.hops.size() - 1 - h];
      ASSERT_EQ(hop.row_begin.size(), static_cast<std::size_t>(hop.num_dst) + 1);
      ASSERT_EQ(hop.row_relation.size() + 1, hop.indptr.size());
      for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
        const std::size_t type = rows.slots.type_of(mfg.nodes[i]);
        const auto first = static_cast<std::size_t>(hop.row_begin[i]),
                   end = static_cast<std::size_t>(hop.row_begin[i + 1]);
        ASSERT_EQ(end - first, rows.slots.num_slots[type]);
        for (std::size_t r = first; r < end; ++r) {
          const auto slot = static_cast<std::uint32_t>(r - first);
          ASSERT_EQ(hop.row_relation[r], rows.slots.relation_of(type, slot));
          const auto row = graph.row(rows.slots.row_of(type, mfg.nodes[i], slot));
          const auto limit = static_cast<std::uint32_t>(rule.fanout_of(hop.row_relation[r], h));
          std::vector<NodeId> kept;
          for (auto e = static_cast<std::size_t>(hop.indptr[r]); e < static_cast<std::size_t>(hop.indptr[r + 1]); ++e)
            kept.push_back(mfg.nodes[static_cast<std::size_t>(hop.indices[e])]);
          std::ranges::sort(kept);
          ASSERT_EQ(kept.size(), std::min<std::size_t>(row.size(), limit));
          ASSERT_TRUE(std::ranges::includes(row, kept)) << "entries of the slot, none twice";
        }
      }
    }
  }
}

TEST(TypedSampler, OfOneTypeAndOneRelationItDrawsWhatThePlainGraphDraws) {
  const test::OwnedGraph graph = test::power_law_graph(500, 20, 3);
  SlotTable slots;
  slots.append(500, std::vector<std::uint16_t>{0});
  CsrGraph typed = graph.view();
  typed.slots = &slots;
  const std::vector<NodeId> seeds{499, 3, 17, 250};
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor}) {
    const SamplingRule rule{{15, 70, kAllNeighbors}, draw};
    Mfg plain, found;
    NeighborSampler(graph.view(), rule).sample(seeds, {4, 5, 6}, plain);
    NeighborSampler(typed, rule).sample(seeds, {4, 5, 6}, found);
    for (MfgHop& hop : found.hops) {
      EXPECT_EQ(hop.row_relation, std::vector<std::uint16_t>(static_cast<std::size_t>(hop.num_dst), 0));
      hop.row_begin.clear();
      hop.row_relation.clear();
    }
    EXPECT_EQ(found, plain);
  }
}

/// Chi-square over the subsets of 2 of 5 that two slots of a node keep: each equally likely, the slots independent.
TEST(TypedSampler, SlotsDrawIndependently) {
  TypedRows rows;
  rows.slots.append(1, std::vector<std::uint16_t>{0, 1});
  rows.slots.append(5, {});
  for (int slot = 0; slot < 2; ++slot) {
    for (NodeId v = 1; v <= 5; ++v) rows.indices.push_back(v);
    rows.indptr.push_back(static_cast<EdgeOffset>(rows.indices.size()));
  }
  NeighborSampler sampler(rows.view(), {{2}});
  std::map<std::pair<std::set<NodeId>, std::set<NodeId>>, int> count_of;
  constexpr int kBatches = 200'000, kCells = 100;
  Mfg mfg;
  const NodeId seed = 0;
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    sampler.sample({&seed, 1}, {7, 0, batch}, mfg);
    const auto node = [&](int e) {
      return mfg.nodes[static_cast<std::size_t>(mfg.hops[0].indices[static_cast<std::size_t>(e)])];
    };
    ++count_of[{{node(0), node(1)}, {node(2), node(3)}}];
  }
  EXPECT_EQ(count_of.size(), std::size_t{kCells});
  double chi_square = 0;
  for (const auto& [cell, count] : count_of) {
    const double expected = double{kBatches} / kCells;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 99 + 5 * std::sqrt(2.0 * 99));
}

TEST(TypedSampler, RefusesFanoutsThatAreNone) {
  TypedRows rows;
  rows.slots.append(1, std::vector<std::uint16_t>{0, 1});
  rows.indptr = {0, 0, 0};
  using Fanouts = std::vector<std::vector<int>>;
  const auto refused = [&](Fanouts fanouts) {
    const SamplingRule rule{.fanouts = {2, 2}, .relation_fanouts = std::move(fanouts)};
    EXPECT_THROW(NeighborSampler(rows.view(), rule), Error);
  };
  refused({{2, 2}});
  refused({{2, 2}, {2}});
  refused({{2, 2}, {2, -2}});
  refused({{2, 2}, {2, 1 << 16}});
  EXPECT_NO_THROW(NeighborSampler(rows.view(), {.fanouts = {2, 2}, .relation_fanouts = {{0, -1}, {5, 65535}}}));
}

}  // namespace
}  // namespace salient
