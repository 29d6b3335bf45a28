// tests/loaders/typed_link_batches_test.cpp - batches of links that have relations, by any workers and ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "loaders/batch_loader.h"
#include "loaders/link_relations.h"
#include "prepare/writing/write_typed_store.h"
#include "sampler/link_seeds.h"
#include "sampler/reference_sampler.h"
#include "store/open_store.h"
#include "tests/support/batches.h"
#include "tests/support/scratch.h"
#include "tests/support/typed_graphs.h"

namespace salient {
namespace {

using test::part;
const std::vector<int> kFanouts{3, 2};

/// 90 users with features and labels, and 70 items without: relations 0 user:near:user and 1 user:buys:item with their
/// reverses. Links are the edges of both.
TypedGraph shop() {
  TypedGraph graph;
  graph.schema = {.node_types = {{.name = "item", .count = 70}, {.name = "user", .count = 90}},
                  .relations = {{.src = 1, .dst = 1, .name = "near"},
                                {.src = 1, .dst = 0, .name = "buys"},
                                {.src = 1, .dst = 1, .name = "rev_near", .reverse_of = 0},
                                {.src = 0, .dst = 1, .name = "rev_buys", .reverse_of = 1}},
                  .target_type = 1};
  number_slots(graph.schema);
  graph.edges.resize(4);
  graph.features = {{}, test::rows_of(90, 3, 1)};
  std::mt19937 random(3);
  const NodeId counts[] = {90, 70};
  for (const std::uint16_t r : {std::uint16_t{0}, std::uint16_t{1}}) {
    std::set<std::pair<NodeId, NodeId>> edges;
    while (edges.size() < 200)
      edges.emplace(static_cast<NodeId>(random() % 90), static_cast<NodeId>(random() % counts[r]));
    for (const auto& [source, destination] : edges) {
      graph.edges[r].sources.push_back(source);
      graph.edges[r].destinations.push_back(destination);
      graph.links[0].ends.insert(graph.links[0].ends.end(), {70 + source, r == 0 ? 70 + destination : destination});
      graph.links[0].relations.push_back(r);
    }
  }
  graph.has_links = true;
  graph.target.name = "shop";
  graph.target.source_kind = "typed";
  graph.target.source_path = "by hand";
  graph.target.symmetrise = false;
  graph.target.num_nodes = 90;
  graph.target.num_classes = 2;
  for (NodeId v = 0; v < 90; ++v) graph.target.labels.push_back(static_cast<std::int32_t>(v % 2));
  return graph;
}

/// Of rank `rank` of `num_ranks`: its part of each batch of 64.
std::vector<BatchRequest> requests(std::span<const NodeId> order, std::size_t rank, std::size_t num_ranks) {
  std::vector<BatchRequest> all;
  for (std::size_t at = 0; at + 64 <= order.size(); at += 64) {
    const std::span<const NodeId> batch = order.subspan(at, 64);
    all.push_back(
        {{1, 2, static_cast<std::uint32_t>(at / 64)}, batch.subspan(rank * 64 / num_ranks, 64 / num_ranks), batch});
  }
  return all;
}

TEST(TypedLinkBatches, AreTheReferencesForAnyWorkersAndRanks) {
  const test::Scratch scratch;
  write_typed_store(shop(), {.out = scratch / "store", .num_threads = 1});
  const Dataset dataset = open_store(scratch / "store", 1, FeatureFile::kNeeded, GraphKind::kAny).dataset;
  const std::span<const NodeId> ends = dataset.links[kTrainLinks].ends;
  const std::span<const std::uint16_t> relations = dataset.links[kTrainLinks].relations;
  std::vector<NodeId> order(ends.size() / 2);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::ranges::shuffle(order, std::mt19937(1));
  const LinkRule rule{.negatives = 2, .corrupt = CorruptedEnd::kBoth};
  LinkSeeds made(LinkNegatives(dataset.graph, rule, ends, {}, link_relations_of(dataset, relations)));
  for (const std::size_t num_ranks : {1u, 2u})
    for (const int num_workers : {0, 3}) {
      const std::vector<BatchRequest> asked = requests(order, num_ranks - 1, num_ranks);
      BatchLoader loader(dataset, {.rule = {kFanouts},
                                   .links = LinkBatches{.ends = ends, .rule = rule, .relations = relations},
                                   .num_workers = num_workers});
      loader.start(asked);
      std::size_t count = 0;
      while (const Batch* batch = loader.next()) {
        const BatchRequest& request = asked.at(count++);
        made.make(request.seeds, request.batch, request.key);
        const std::vector<NodeId> seeds(made.seeds().begin(), made.seeds().end());
        const Mfg mfg = reference_excluding_sample(dataset.graph, {kFanouts}, seeds, request.key,
                                                   [&](std::uint32_t row) { return made.excluded().of(row); });
        const BatchLayout& layout = batch->layout;
        ASSERT_EQ(part<NodeId>(*batch, layout.nodes, static_cast<std::size_t>(layout.num_nodes)), mfg.nodes);
        for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
          const auto num_edges = static_cast<std::size_t>(layout.hops[h].num_edges);
          ASSERT_EQ(part<LocalId>(*batch, layout.hops[h].indices, num_edges), mfg.hops[h].indices);
          ASSERT_EQ(part<LocalId>(*batch, layout.hops[h].indptr, mfg.hops[h].indptr.size()), mfg.hops[h].indptr);
        }
        ASSERT_EQ(static_cast<std::size_t>(layout.num_pairs), request.seeds.size() * 3);
        const std::vector<LocalId> pairs = part<LocalId>(*batch, layout.pairs, request.seeds.size() * 9);
        ASSERT_TRUE(std::ranges::equal(pairs, made.pairs()));
        for (std::size_t i = 0; i < request.seeds.size(); ++i)
          ASSERT_EQ(pairs[3 * i + 2], dataset.links[kTrainLinks].relations[request.seeds[i]]);
        const std::vector<LocalId> labels = part<LocalId>(*batch, layout.y, seeds.size());
        EXPECT_EQ(std::ranges::count(labels, -1), std::ssize(labels)) << "items have no labels: none is read";
      }
      EXPECT_EQ(count, 6u);
    }
}

TEST(TypedLinkBatches, RelationsAndTheirReversesAreEachOthersWhicheverWayTheyAreKnown) {
  Dataset dataset;
  dataset.types = shop().schema;
  const std::vector<std::uint16_t> none;
  const auto reverses = [&] {
    std::vector<int> slots;
    for (const LinkedRelation& of : link_relations_of(dataset, none).all)
      slots.push_back(of.reverse_slot ? static_cast<int>(*of.reverse_slot) : -1);
    return slots;
  };
  const auto slot = [&](std::size_t r) { return static_cast<int>(dataset.types.relations[r].slot); };
  const std::vector<int> expected{slot(2), slot(3), slot(0), slot(1)};
  EXPECT_EQ(reverses(), expected);
  for (Relation& relation : dataset.types.relations) relation.reverse_of.reset();
  EXPECT_EQ(reverses(), expected) << "by their names";
  dataset.types.relations[3].name = "bought_by";
  EXPECT_EQ(reverses(), (std::vector<int>{slot(2), -1, slot(0), -1})) << "of names that say nothing";
}

}  // namespace
}  // namespace salient
