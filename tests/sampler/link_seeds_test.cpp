// tests/sampler/link_seeds_test.cpp - the pairs of a batch of links, whose negatives depend on no dealing.
#include "sampler/link_seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/graphs.h"

namespace salient {
namespace {

/// 400 nodes; links are the entries of the first rows.
struct Links {
  test::OwnedGraph graph = test::sorted(test::power_law_graph(400, 8, 3));
  std::vector<NodeId> ends{};

  Links() {
    for (NodeId v = 0; v < 100; ++v)
      for (const NodeId u : graph.view().row(v)) ends.insert(ends.end(), {u, v});
  }
  std::vector<NodeId> numbers() const {
    std::vector<NodeId> all(ends.size() / 2);
    std::iota(all.begin(), all.end(), NodeId{0});
    return all;
  }
  /// [n, count] destinations that say whose they are.
  std::vector<NodeId> hard(std::size_t count) const {
    std::vector<NodeId> all;
    for (std::size_t i = 0; i < ends.size() / 2; ++i)
      for (std::size_t j = 0; j < count; ++j) all.push_back(static_cast<NodeId>((i * count + j) % 400));
    return all;
  }
};

std::vector<NodePair> pairs_of(const LinkSeeds& seeds) {
  std::vector<NodePair> pairs;
  for (std::size_t i = 0; i < seeds.pairs().size(); i += 2)
    pairs.push_back({seeds.seeds()[static_cast<std::size_t>(seeds.pairs()[i])],
                     seeds.seeds()[static_cast<std::size_t>(seeds.pairs()[i + 1])]});
  return pairs;
}

TEST(LinkSeeds, ArePositivesThenNegativesLinkByLink) {
  const Links links;
  const std::vector<NodeId> batch{5, 17, 2, 60};
  const LinkRule rule{.negatives = 3, .corrupt = CorruptedEnd::kBoth};
  LinkSeeds seeds(LinkNegatives(links.graph.view(), rule, links.ends));
  const LinkNegatives negatives(links.graph.view(), rule);
  for (const BatchKey key : {BatchKey{1, 2, 3}, {1, 2, 4}}) {
    seeds.make(batch, batch, key);
    const std::vector<NodePair> pairs = pairs_of(seeds);
    ASSERT_EQ(pairs.size(), 16u);
    const std::set<NodeId> distinct(seeds.seeds().begin(), seeds.seeds().end());
    EXPECT_EQ(distinct.size(), seeds.seeds().size());
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const NodePair link{links.ends[2 * batch[k]], links.ends[2 * batch[k] + 1]};
      EXPECT_EQ(pairs[k], link);
      for (int j = 0; j < 3; ++j) {
        const NodePair& negative = pairs[4 + 3 * k + static_cast<std::size_t>(j)];
        EXPECT_EQ(negative, negatives.of(key, batch[k], link, j));
        EXPECT_EQ(j % 2 == 0 ? negative.source : negative.destination, j % 2 == 0 ? link.source : link.destination);
      }
    }
  }
}

TEST(LinkNegatives, OfAFileAreThoseOfTheLinkOrPairsOfAll) {
  const Links links;
  const std::vector<NodeId> hard = links.hard(4), pairs{1, 2, 3, 4, 5, 6};
  const LinkRule rule{.negatives = 3, .sampler = NegativeSampler::kGiven};
  const LinkNegatives of_link(links.graph.view(), rule, links.ends, {.destinations = hard, .of_link = 4});
  const LinkNegatives of_all(links.graph.view(), rule, links.ends, {.pairs = pairs});
  std::set<std::size_t> places, met;
  for (std::uint32_t epoch = 0; epoch < 40; ++epoch)
    for (int j = 0; j < 3; ++j) {
      const NodePair link = of_link.link(7), own = of_link.of({1, epoch, 0}, 7, link, j);
      EXPECT_EQ(own.source, link.source);
      const auto place = std::find(hard.begin() + 28, hard.begin() + 32, own.destination) - (hard.begin() + 28);
      ASSERT_LT(place, 4);
      places.insert(static_cast<std::size_t>(place));
      const NodePair any = of_all.of({1, epoch, 0}, 7, link, j);
      EXPECT_EQ(any.destination, any.source + 1);
      met.insert(any.source);
    }
  EXPECT_EQ(places.size(), 4u);
  EXPECT_EQ(met, (std::set<std::size_t>{1, 3, 5}));
}

TEST(LinkSeeds, RanksMakeTheSameNegativesAndSeeTheSameExclusions) {
  const Links links;
  const std::vector<NodeId> all = links.numbers();
  const std::span<const NodeId> batch = std::span(all).first(64);
  const std::vector<NodeId> hard = links.hard(5);
  for (const auto& [sampler, name] : names_of(NegativeSampler{})) {
    const LinkNegatives rule(links.graph.view(), {.negatives = 2, .sampler = sampler}, links.ends,
                             {.destinations = hard, .of_link = 5});
    LinkSeeds whole(rule), part(rule);
    whole.make(batch, batch, {7, 1, 5});
    const std::vector<NodePair> expected = pairs_of(whole);
    std::vector<NodePair> positives, negatives;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      part.make(batch.subspan(16 * rank, 16), batch, {7, 1, 5});
      const std::vector<NodePair> found = pairs_of(part);
      positives.insert(positives.end(), found.begin(), found.begin() + 16);
      negatives.insert(negatives.end(), found.begin() + 16, found.end());
      for (NodeId v = 0; v < 400; ++v)
        ASSERT_TRUE(std::ranges::equal(part.excluded().of(v), whole.excluded().of(v))) << "rank " << rank;
    }
    positives.insert(positives.end(), negatives.begin(), negatives.end());
    EXPECT_EQ(positives, expected) << name;
  }
}

TEST(LinkSeeds, ExcludeTheirEntriesAndReverses) {
  const Links links;
  const std::vector<NodeId> batch{0, 9, 30, 31};
  LinkSeeds seeds(LinkNegatives(links.graph.view(), {}, links.ends));
  seeds.make(std::span(batch).first(1), batch, {1, 1, 1});
  const CsrGraph graph = links.graph.view();
  std::size_t count = 0;
  for (NodeId v = 0; v < 400; ++v)
    for (std::uint32_t place = 0; place < graph.degree(v); ++place) {
      const NodePair entry{graph.row(v)[place], v};
      const bool is_of_batch = std::ranges::any_of(batch, [&](NodeId i) {
        const NodePair link{links.ends[2 * i], links.ends[2 * i + 1]};
        return entry == link || entry == NodePair{link.destination, link.source};
      });
      EXPECT_EQ(std::ranges::count(seeds.excluded().of(v), place) > 0, is_of_batch);
      count += is_of_batch;
    }
  EXPECT_GE(count, 4u);
  LinkSeeds none(LinkNegatives(links.graph.view(), {.exclude = ExcludedEntries::kNone}, links.ends));
  none.make(batch, batch, {1, 1, 1});
  EXPECT_EQ(none.excluded().num_entries(), 0u);
}

// Pearson's test over 400 nodes: 399 degrees of freedom, 492 is a chance of 0.001.
TEST(LinkNegatives, AreUniformInAllNodes) {
  const Links links;
  const LinkNegatives negatives(links.graph.view(), {.negatives = 10});
  std::vector<int> counts(400);
  constexpr int kLinks = 10'000;
  for (std::uint32_t i = 0; i < kLinks; ++i)
    for (int j = 0; j < 10; ++j) ++counts[negatives.of({1, 1, 1}, i, {3, 4}, j).destination];
  double chi_square = 0;
  const double expected = kLinks * 10 / 400.0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 492);
}

TEST(LinkNegatives, ByDegreeAreInProportionToItsPower) {
  const Links links;
  const CsrGraph graph = links.graph.view();
  const LinkNegatives negatives(graph, {.negatives = 10, .sampler = NegativeSampler::kDegree});
  double all = 0;
  for (NodeId v = 0; v < 400; ++v) all += std::pow(static_cast<double>(graph.degree(v)), 0.75);
  std::vector<int> counts(400);
  constexpr int kLinks = 10'000;
  for (std::uint32_t i = 0; i < kLinks; ++i)
    for (int j = 0; j < 10; ++j) ++counts[negatives.of({1, 1, 1}, i, {3, 4}, j).destination];
  double chi_square = 0;
  for (NodeId v = 0; v < 400; ++v) {
    const double expected = kLinks * 10 * std::pow(static_cast<double>(graph.degree(v)), 0.75) / all;
    if (expected == 0) {
      EXPECT_EQ(counts[v], 0);
      continue;
    }
    chi_square += (counts[v] - expected) * (counts[v] - expected) / expected;
  }
  EXPECT_LT(chi_square, 492);
}

TEST(LinkNegatives, InBatchAreEndsOfItsOtherLinks) {
  const Links links;
  const std::vector<NodeId> batch{5, 17, 2, 60, 61};
  const LinkRule rule{.negatives = 8, .sampler = NegativeSampler::kInBatch, .corrupt = CorruptedEnd::kBoth};
  const LinkNegatives negatives(links.graph.view(), rule, links.ends);
  using Pairs = std::set<std::pair<NodeId, NodeId>>;
  for (const NodeId i : batch) {
    const NodePair link = negatives.link(i);
    Pairs possible, seen;
    for (const NodeId other : batch) {
      possible.insert({link.source, negatives.link(other).destination});
      possible.insert({negatives.link(other).source, link.destination});
    }
    possible.erase({link.source, link.destination});
    for (std::uint32_t number = 0; number < 50; ++number)
      for (int j = 0; j < 8; ++j) {
        const NodePair pair = negatives.of({1, 1, number}, i, link, j, batch);
        EXPECT_EQ(j % 2 == 0 ? pair.source : pair.destination, j % 2 == 0 ? link.source : link.destination);
        seen.insert({pair.source, pair.destination});
      }
    EXPECT_EQ(seen, possible) << "400 draws of at most 8 pairs";
  }
}

TEST(LinkNegatives, JointOnesAreTheSameForAllLinks) {
  const Links links;
  const LinkRule rule{.negatives = 6, .sampler = NegativeSampler::kJoint, .corrupt = CorruptedEnd::kBoth};
  const LinkNegatives negatives(links.graph.view(), rule, links.ends);
  std::set<NodeId> of_batches;
  for (std::uint32_t number = 0; number < 30; ++number)
    for (int j = 0; j < 6; ++j) {
      const auto end = [&](NodeId i) {
        const NodePair pair = negatives.of({1, 1, number}, i, negatives.link(i), j);
        return j % 2 == 0 ? pair.destination : pair.source;
      };
      of_batches.insert(end(0));
      for (const NodeId i : {3u, 9u, 50u}) EXPECT_EQ(end(i), end(0));
    }
  EXPECT_GT(of_batches.size(), 100u);
}

TEST(LinkNegatives, StrictOnesAreNoEntries) {
  // node 0 aggregates from all but 7 of 20 nodes: (7, 0) and no other pair with destination 0 is left
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices;
  for (NodeId v = 0; v < 20; ++v) {
    for (NodeId u = 1; v < 10 && u < 20; ++u)
      if (u != 7) indices.push_back(u);
    indptr.push_back(static_cast<EdgeOffset>(indices.size()));
  }
  const CsrGraph graph{indptr, indices};
  const auto count_entries = [&](bool is_strict) {
    const LinkNegatives negatives(graph, {.negatives = 1, .is_strict = is_strict});
    int entries = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const NodePair pair = negatives.of({1, 1, 1}, i, {3, 4}, 0);
      EXPECT_EQ(pair.source, 3u);
      entries += pair.destination < 10 || pair.destination == 3;
    }
    return entries;
  };
  EXPECT_GT(count_entries(false), 400);
  EXPECT_LT(count_entries(true), 3) << "16 attempts, each in vain by a chance of one half";
}

}  // namespace
}  // namespace salient
