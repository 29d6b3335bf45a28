// tests/sampler/typed_links_test.cpp - links of typed graphs: what a batch does not see, and what stands for negatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "sampler/excluding_sampler.h"
#include "sampler/link_seeds.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/typed_rows.h"

namespace salient {
namespace {

/// Some places of some slots; of every 5th all.
Exclusions some_slots_of(const CsrGraph& graph, std::uint32_t seed) {
  Exclusions excluded;
  std::mt19937 random(seed);
  for (std::uint32_t row = 0; row < graph.num_rows(); row += 1 + static_cast<std::uint32_t>(random() % 3))
    for (std::uint32_t place = 0; place < graph.degree(row); ++place)
      if (row % 5 == 0 || random() % 3 == 0) excluded.add(row, place);
  excluded.finish();
  return excluded;
}

TEST(ExcludingSlots, EqualTheReferenceOverRandomSchemasByEveryDraw) {
  std::size_t num_excluded = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random);
    const SamplingRule rule = test::random_rule(random, rows);
    ExcludingSampler sampler(rows.view(), rule);
    Mfg found;
    for (std::uint32_t batch = 0; batch < 2; ++batch) {
      const Exclusions excluded = some_slots_of(rows.view(), seed + batch);
      num_excluded += excluded.num_entries();
      const std::vector<NodeId> seeds = test::random_seeds(random, rows.slots.num_nodes());
      sampler.sample(seeds, {seed, 1, batch}, excluded, found);
      ASSERT_EQ(found, reference_excluding_sample(rows.view(), rule, seeds, {seed, 1, batch},
                                                  [&](std::uint32_t row) { return excluded.of(row); }));
    }
    Exclusions none;
    none.finish();
    Mfg expected;
    const std::vector<NodeId> seeds = test::random_seeds(random, rows.slots.num_nodes());
    NeighborSampler(rows.view(), rule).sample(seeds, {seed, 2, 0}, expected);
    sampler.sample(seeds, {seed, 2, 0}, none, found);
    ASSERT_EQ(found, expected) << "nothing is excluded";
  }
  EXPECT_GT(num_excluded, 10'000u);
}

/// What a slot keeps, and what it may keep.
void expect_rest(const CsrGraph& graph, const SamplingRule& rule, const Exclusions& excluded, const Mfg& mfg) {
  const SlotTable& slots = *graph.slots;
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const MfgHop& hop = mfg.hops[mfg.hops.size() - 1 - h];
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
      const std::size_t type = slots.type_of(mfg.nodes[i]);
      const auto first = static_cast<std::size_t>(hop.row_begin[i]);
      for (std::size_t r = first; r < static_cast<std::size_t>(hop.row_begin[i + 1]); ++r) {
        const auto row =
            static_cast<std::uint32_t>(slots.row_of(type, mfg.nodes[i], static_cast<std::uint32_t>(r - first)));
        std::multiset<NodeId> allowed, kept;
        for (std::uint32_t place = 0; place < graph.degree(row); ++place)
          if (std::ranges::count(excluded.of(row), place) == 0) allowed.insert(graph.row(row)[place]);
        for (auto e = hop.indptr[r]; e < hop.indptr[r + 1]; ++e)
          kept.insert(mfg.nodes[static_cast<std::size_t>(hop.indices[static_cast<std::size_t>(e)])]);
        const auto limit = static_cast<std::uint32_t>(rule.fanout_of(hop.row_relation[r], h));
        ASSERT_EQ(kept.size(), std::min<std::size_t>(allowed.size(), limit));
        ASSERT_TRUE(std::includes(allowed.begin(), allowed.end(), kept.begin(), kept.end()));
      }
    }
  }
}

TEST(ExcludingSlots, HaveNoExcludedEntryAndKeepTheirFanouts) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random);
    SamplingRule rule = test::random_rule(random, rows);
    rule.draw = Draw::kUniform;
    const Exclusions excluded = some_slots_of(rows.view(), seed);
    Mfg mfg;
    ExcludingSampler(rows.view(), rule)
        .sample(test::random_seeds(random, rows.slots.num_nodes()), {seed, 0, 0}, excluded, mfg);
    expect_rest(rows.view(), rule, excluded, mfg);
  }
}

/// 20 users with the ids 0 to 19 and 30 items behind them. Relations: 0 user:likes:user and 1 user:buys:item, with the
/// reverses 2 and 3. Links are all edges.
struct Shop {
  using Edges = std::set<std::pair<NodeId, NodeId>>;  // source, destination

  Shop() {
    std::mt19937 random(5);
    const auto below = [&](NodeId limit) { return static_cast<NodeId>(random() % limit); };
    while (likes.size() < 60) likes.emplace(below(20), below(20));
    while (buys.size() < 120) buys.emplace(below(20), 20 + below(30));
    slots.append(20, std::vector<std::uint16_t>{0, 2, 3});
    slots.append(30, std::vector<std::uint16_t>{1});
    for (NodeId user = 0; user < 20; ++user)
      add_row(likes, user, false), add_row(likes, user, true), add_row(buys, user, true);
    for (NodeId item = 20; item < 50; ++item) add_row(buys, item, false);
    for (const auto& [relation, edges] : {std::pair{0, likes}, {1, buys}})
      for (const auto& [source, destination] : edges) {
        ends.insert(ends.end(), {source, destination});
        of_links.push_back(static_cast<std::uint16_t>(relation));
      }
  }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  void add_row(const Edges& edges, NodeId node, bool is_reverse) {
    for (const auto& [source, destination] : edges)
      if ((is_reverse ? source : destination) == node) indices.push_back(is_reverse ? destination : source);
    std::sort(indices.begin() + indptr.back(), indices.end());
    indptr.push_back(static_cast<EdgeOffset>(indices.size()));
  }
  CsrGraph view() const { return {indptr, indices, &slots}; }
  LinkRelations relations() const { return {{{0, 0, 0, 1}, {0, 1, 0, 2}, {0, 0, 1, {}}, {1, 0, 2, {}}}, of_links}; }
  LinkNegatives negatives(const LinkRule& rule) const { return {view(), rule, ends, {}, relations()}; }

  Edges likes{}, buys{};
  SlotTable slots{};
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{}, ends{};
  std::vector<std::uint16_t> of_links{};
};

TEST(TypedLinks, ExcludeTheirEntriesAndThoseOfTheReverseRelation) {
  const Shop shop;
  const std::vector<NodeId> batch{3, 40, 70, 71, 150};
  LinkSeeds seeds(shop.negatives({}));
  seeds.make(std::span(batch).first(1), batch, {1, 1, 1});
  std::set<std::tuple<std::uint16_t, NodeId, NodeId>> hidden;  // relation without its reverse, the pair
  for (const NodeId i : batch) {
    hidden.emplace(shop.of_links[i], shop.ends[2 * i], shop.ends[2 * i + 1]);
    if (shop.of_links[i] == 0) hidden.emplace(0, shop.ends[2 * i + 1], shop.ends[2 * i]);
  }
  std::size_t count = 0;
  for (std::uint32_t row = 0; row < shop.view().num_rows(); ++row) {
    const std::size_t type = shop.slots.type_of_row(row);
    const NodeId node = shop.slots.node_of_row(type, row);
    const std::uint16_t relation = shop.slots.relation_of(
        type, static_cast<std::uint32_t>((row - shop.slots.slot_begin[type]) % shop.slots.num_slots[type]));
    for (std::uint32_t place = 0; place < shop.view().degree(row); ++place) {
      const NodeId neighbor = shop.view().row(row)[place];
      const auto edge = relation < 2 ? std::tuple(relation, neighbor, node)
                                     : std::tuple(static_cast<std::uint16_t>(relation - 2), node, neighbor);
      const bool is_hidden = std::ranges::count(seeds.excluded().of(row), place) > 0;
      EXPECT_EQ(is_hidden, hidden.contains(edge)) << row;
      count += is_hidden;
    }
  }
  EXPECT_GE(count, 10u) << "each link twice";
}

TEST(TypedLinks, NegativesAreOfTheTypeOfTheirEnd) {
  const Shop shop;
  for (const NegativeSampler sampler : {NegativeSampler::kUniform, NegativeSampler::kDegree, NegativeSampler::kJoint}) {
    const LinkNegatives negatives =
        shop.negatives({.negatives = 6, .sampler = sampler, .corrupt = CorruptedEnd::kBoth});
    std::set<NodeId> users, items;
    for (NodeId i = 0; i < shop.of_links.size(); ++i)
      for (std::uint32_t epoch = 0; epoch < 10; ++epoch)
        for (int j = 0; j < 6; ++j) {
          const NodePair link = negatives.link(i), pair = negatives.of({1, epoch, 0}, i, link, j);
          EXPECT_EQ(j % 2 == 0 ? pair.source : pair.destination, j % 2 == 0 ? link.source : link.destination);
          const NodeId end = j % 2 == 0 ? pair.destination : pair.source;
          (j % 2 == 0 && shop.of_links[i] == 1 ? items : users).insert(end);
        }
    EXPECT_LT(*users.rbegin(), 20u) << name_of(sampler);
    EXPECT_GE(*items.begin(), 20u) << name_of(sampler);
    EXPECT_LT(*items.rbegin(), 50u);
    EXPECT_GT(users.size(), 12u);
    EXPECT_GT(items.size(), 15u);
  }
}

TEST(TypedLinks, StrictNegativesAreNoEntriesOfTheRelation) {
  const Shop shop;
  const auto count_entries = [&](bool is_strict) {
    const LinkNegatives negatives = shop.negatives({.negatives = 4, .is_strict = is_strict});
    int entries = 0;
    for (NodeId i = 60; i < shop.of_links.size(); ++i)
      for (int j = 0; j < 4; ++j) {
        const NodePair pair = negatives.of({1, 1, 1}, i, negatives.link(i), j);
        entries += shop.buys.contains({pair.source, pair.destination});
      }
    return entries;
  };
  EXPECT_GT(count_entries(false), 50);
  EXPECT_EQ(count_entries(true), 0) << "16 attempts, each in vain by a chance of one fifth";
}

TEST(TypedLinks, PairsHaveTheirRelationForAnyRanks) {
  const Shop shop;
  std::vector<NodeId> batch(24);
  std::iota(batch.begin(), batch.end(), NodeId{50});
  using Triple = std::tuple<NodeId, NodeId, LocalId>;
  const auto triples = [](const LinkSeeds& seeds) {
    std::vector<Triple> all;
    for (std::size_t p = 0; p < seeds.num_pairs(); ++p)
      all.emplace_back(seeds.seeds()[static_cast<std::size_t>(seeds.pairs()[3 * p])],
                       seeds.seeds()[static_cast<std::size_t>(seeds.pairs()[3 * p + 1])], seeds.pairs()[3 * p + 2]);
    return all;
  };
  const LinkRule rule{.negatives = 2, .corrupt = CorruptedEnd::kBoth};
  LinkSeeds whole(shop.negatives(rule)), part(shop.negatives(rule));
  whole.make(batch, batch, {7, 1, 5});
  const std::vector<Triple> expected = triples(whole);
  ASSERT_EQ(expected.size(), 72u);
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (const std::size_t p : {i, 24 + 2 * i, 25 + 2 * i})
      EXPECT_EQ(std::get<2>(expected[p]), shop.of_links[batch[i]]);
  std::vector<Triple> positives, negatives;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    part.make(std::span(batch).subspan(6 * rank, 6), batch, {7, 1, 5});
    const std::vector<Triple> found = triples(part);
    positives.insert(positives.end(), found.begin(), found.begin() + 6);
    negatives.insert(negatives.end(), found.begin() + 6, found.end());
    for (std::uint32_t row = 0; row < shop.view().num_rows(); ++row)
      ASSERT_TRUE(std::ranges::equal(part.excluded().of(row), whole.excluded().of(row)));
  }
  positives.insert(positives.end(), negatives.begin(), negatives.end());
  EXPECT_EQ(positives, expected);
}

}  // namespace
}  // namespace salient
