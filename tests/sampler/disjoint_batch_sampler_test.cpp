// tests/sampler/disjoint_batch_sampler_test.cpp - every seed's tree is its own, and what the seed alone would have.
#include "sampler/disjoint_batch_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "sampler/reference_sampler.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/timed_graph.h"

namespace salient {
namespace {

using Seeds = std::vector<NodeId>;
using test::TimedGraph;

TimedGraph generated() { return test::timed(test::weighted(test::power_law_graph(500, 9, 1)), 20); }

/// The seed that each node of a batch was reached from.
std::vector<std::size_t> trees_of(const Mfg& mfg) {
  std::vector<std::size_t> tree(mfg.nodes.size(), mfg.nodes.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(mfg.hops.back().num_dst); ++i) tree[i] = i;
  for (auto hop = mfg.hops.rbegin(); hop != mfg.hops.rend(); ++hop)
    for (std::size_t row = 0; row + 1 < hop->indptr.size(); ++row)
      for (LocalId e = hop->indptr[row]; e < hop->indptr[row + 1]; ++e) {
        const auto source = static_cast<std::size_t>(hop->indices[static_cast<std::size_t>(e)]);
        if (tree[source] == mfg.nodes.size()) tree[source] = tree[row];
        EXPECT_EQ(tree[source], tree[row]) << "an edge joins two trees";
      }
  return tree;
}

/// One tree of a batch, its nodes numbered by themselves.
Mfg tree_in(const Mfg& batch, const std::vector<std::size_t>& tree_of, std::size_t tree) {
  Mfg own;
  std::vector<LocalId> number(batch.nodes.size(), -1);
  for (std::size_t i = 0; i < batch.nodes.size(); ++i) {
    if (tree_of[i] != tree) continue;
    number[i] = static_cast<LocalId>(own.nodes.size());
    own.nodes.push_back(batch.nodes[i]);
  }
  for (const MfgHop& hop : batch.hops) {
    MfgHop& of = own.hops.emplace_back();
    of.indptr.push_back(0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_src); ++i) of.num_src += tree_of[i] == tree;
    for (std::size_t row = 0; row < static_cast<std::size_t>(hop.num_dst); ++row) {
      if (tree_of[row] != tree) continue;
      ++of.num_dst;
      for (LocalId e = hop.indptr[row]; e < hop.indptr[row + 1]; ++e)
        of.indices.push_back(number[static_cast<std::size_t>(hop.indices[static_cast<std::size_t>(e)])]);
      of.indptr.push_back(static_cast<LocalId>(of.indices.size()));
    }
  }
  return own;
}

TEST(DisjointBatchSampler, TreesAreThoseOfTheirSeedsAlone) {
  const TimedGraph graph = generated();
  const Seeds seeds{3, 4, 490, 3, 17, 250};  // one is there twice
  for (const auto& [draw, name] : names_of(Draw{}))
    for (const auto& fanouts : {std::vector{3, 2}, {4, 3, 2}, {2, kAllNeighbors}}) {
      DisjointBatchSampler sampler(std::make_unique<HostBatchSampler>(graph.view(), SamplingRule{fanouts, draw}));
      for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 2, 3}}) {
        const Mfg batch = test::sample_with(sampler, seeds, key);
        const std::vector<std::size_t> tree_of = trees_of(batch);
        EXPECT_EQ(Seeds(batch.nodes.begin(), batch.nodes.begin() + 6), seeds);
        for (std::size_t i = 0; i < seeds.size(); ++i)
          ASSERT_EQ(tree_in(batch, tree_of, i), reference_sample(graph.view(), {fanouts, draw}, Seeds{seeds[i]}, key))
              << name << ' ' << i;
      }
    }
}

TEST(DisjointBatchSampler, SeedsOfOneTimeShareNothing) {
  const TimedGraph graph = generated();
  const std::vector<std::int64_t> of_nodes(graph.view().num_nodes(), 12);
  const std::span<const std::int64_t> times(of_nodes);
  const SamplingRule rule{{4, 3}};
  DisjointBatchSampler sampler(
      std::make_unique<TemporalBatchSampler>(graph.view(), rule, TimeRule{.order = TimeOrder::kUpTo}, times));
  const Seeds seeds{1, 2, 5, 9};
  const Mfg batch = test::sample_with(sampler, seeds, {1, 1, 1});
  const std::vector<std::size_t> tree_of = trees_of(batch);
  for (std::size_t i = 0; i < seeds.size(); ++i)
    EXPECT_EQ(tree_in(batch, tree_of, i),
              reference_temporal_sample(graph.view(), rule, {.order = TimeOrder::kUpTo}, Seeds{seeds[i]},
                                        std::vector<std::int64_t>{12}, {1, 1, 1})
                  .mfg);
}

TEST(DisjointBatchSampler, ABatchMayHaveNoSeeds) {
  const TimedGraph graph = generated();
  DisjointBatchSampler sampler(std::make_unique<HostBatchSampler>(graph.view(), SamplingRule{{3, 2}}));
  (void)test::sample_with(sampler, Seeds{1, 2}, {1, 1, 1});
  const Mfg batch = test::sample_with(sampler, {}, {1, 1, 1});
  EXPECT_TRUE(batch.nodes.empty());
  EXPECT_EQ(batch, reference_sample(graph.view(), {{3, 2}}, {}, {1, 1, 1}));
}

TEST(DisjointBatchSampler, PlacesAreThoseOfTheEntries) {
  const TimedGraph graph = generated();
  DisjointBatchSampler sampler(std::make_unique<HostBatchSampler>(graph.view(), SamplingRule{{3}}));
  sampler.record_places();
  const Seeds seeds{7, 8, 9};
  const MfgShape shape = sampler.sample(seeds, {1, 1, 1});
  std::vector<NodeId> nodes(static_cast<std::size_t>(shape.num_nodes));
  std::vector<LocalId> indptr(4), indices(static_cast<std::size_t>(shape.hops[0].num_edges));
  std::vector<std::int64_t> places(indices.size());
  const std::vector<MfgMemory::Hop> hops{{indptr.data(), indices.data(), places.data()}};
  sampler.copy_to({nodes.data(), hops});
  ASSERT_FALSE(places.empty());
  for (std::size_t e = 0; e < places.size(); ++e)
    EXPECT_EQ(graph.view().indices[static_cast<std::size_t>(places[e])], nodes[static_cast<std::size_t>(indices[e])]);
}

}  // namespace
}  // namespace salient
