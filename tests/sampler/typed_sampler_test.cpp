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
#include "tests/support/typed_rows.h"

namespace salient {
namespace {

constexpr std::uint32_t kNumSchemas = 200;

using test::random_rows;
using test::random_rule;
using test::random_seeds;
using test::TypedRows;

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
