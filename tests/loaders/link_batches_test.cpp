// tests/loaders/link_batches_test.cpp - batches of links: pairs, and message-flow graphs without them, by any threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "core/error.h"
#include "loaders/batch_loader.h"
#include "sampler/link_seeds.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/graphs.h"
#include "tests/support/scratch.h"
#include "tests/support/timed_dataset.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};

struct LinkedDataset {
  LinkedDataset() {
    dataset.graph = graph.view();  // whose rows ascend
    for (NodeId v = 0; v < 200; ++v)
      for (const NodeId u : dataset.graph.row(v)) ends.insert(ends.end(), {u, v});
    order.resize(ends.size() / 2);
    std::iota(order.begin(), order.end(), NodeId{0});
  }

  /// Of rank `rank` of two: the first or the second half of each batch of 64.
  std::vector<BatchRequest> requests(std::size_t rank = 0, std::size_t num_ranks = 1) const {
    std::vector<BatchRequest> all;
    for (std::size_t at = 0; at + 64 <= order.size(); at += 64) {
      const std::span<const NodeId> batch = std::span(order).subspan(at, 64);
      all.push_back(
          {{1, 2, static_cast<std::uint32_t>(at / 64)}, batch.subspan(rank * 64 / num_ranks, 64 / num_ranks), batch});
    }
    return all;
  }
  LoaderOptions options(int num_workers) const {
    return {.rule = {kFanouts}, .links = LinkBatches{ends, rule}, .num_workers = num_workers};
  }

  LinkedDataset(const LinkedDataset&) = delete;
  LinkedDataset& operator=(const LinkedDataset&) = delete;

  test::OwnedGraph graph = test::sorted(test::power_law_graph(1500, 12, 1));
  Dataset dataset = test::generated_dataset(1500, 12, 9);
  std::vector<NodeId> ends{}, order{};
  LinkRule rule{.negatives = 2};
};

TEST(LinkBatches, AreTheReferencesForAnyWorkersAndRanks) {
  const LinkedDataset linked;
  LinkSeeds made(LinkNegatives(linked.dataset.graph, linked.rule, linked.ends));
  for (const std::size_t num_ranks : {1u, 2u})
    for (const int num_workers : {0, 1, 3}) {
      const std::vector<BatchRequest> requests = linked.requests(num_ranks - 1, num_ranks);
      ASSERT_GT(requests.size(), 10u);
      BatchLoader loader(linked.dataset, linked.options(num_workers));
      loader.start(requests);
      std::size_t count = 0;
      while (const Batch* batch = loader.next()) {
        const BatchRequest& request = requests.at(count++);
        made.make(request.seeds, request.batch, request.key);
        const std::vector<NodeId> seeds(made.seeds().begin(), made.seeds().end());
        const Mfg mfg = reference_excluding_sample(linked.dataset.graph, {kFanouts}, seeds, request.key,
                                                   [&](NodeId v) { return made.excluded().of(v); });
        test::expect_batch_of(mfg, *batch, linked.dataset, {request.key, seeds});
        EXPECT_EQ(static_cast<std::size_t>(batch->layout.num_pairs), request.seeds.size() * 3);
        EXPECT_TRUE(std::ranges::equal(test::part<LocalId>(*batch, batch->layout.pairs, request.seeds.size() * 6),
                                       made.pairs()));
        if (HasFailure()) return;
      }
      EXPECT_EQ(count, requests.size());
    }
}

// A batch's own links are never among its messages, in either direction and in no hop.
TEST(LinkBatches, NoHopHasALinkOfTheBatch) {
  const LinkedDataset linked;
  BatchLoader loader(linked.dataset, linked.options(2));
  const std::vector<BatchRequest> requests = linked.requests();
  loader.start(requests);
  std::size_t count = 0, num_entries = 0;
  while (const Batch* batch = loader.next()) {
    std::vector<std::pair<NodeId, NodeId>> links;
    for (const NodeId i : requests[count++].batch)
      links.push_back(std::minmax(linked.ends[2 * i], linked.ends[2 * i + 1]));
    std::ranges::sort(links);
    const auto* const nodes = batch->at<const NodeId>(batch->layout.nodes);
    for (const HopLayout& hop : batch->layout.hops)
      for (LocalId v = 0; v < hop.num_dst; ++v)
        for (LocalId e = batch->at<const LocalId>(hop.indptr)[v]; e < batch->at<const LocalId>(hop.indptr)[v + 1];
             ++e) {
          const NodeId source = nodes[batch->at<const LocalId>(hop.indices)[e]];
          ASSERT_FALSE(std::ranges::binary_search(links, std::pair<NodeId, NodeId>(std::minmax(source, nodes[v]))));
          ++num_entries;
        }
  }
  EXPECT_GT(num_entries, 10'000u);
}

/// Links of a graph whose entries have times, each with that of its entry.
struct TimedLinks : test::TimedDataset {
  TimedLinks() {
    for (NodeId v = 0; v < 300; ++v)
      for (EdgeOffset e = dataset.graph.indptr[v]; e < dataset.graph.indptr[v + 1]; ++e) {
        ends.insert(ends.end(), {dataset.graph.indices[static_cast<std::size_t>(e)], v});
        times.push_back(edge_times[static_cast<std::size_t>(e)]);
      }
    order.resize(times.size());
    std::iota(order.begin(), order.end(), NodeId{0});
  }
  LoaderOptions options(const TimeRule& time, int num_workers) const {
    return {.rule = {kFanouts}, .time = time, .links = LinkBatches{ends, rule, times}, .num_workers = num_workers};
  }

  std::vector<NodeId> ends{}, order{};
  std::vector<std::int64_t> times{};
  LinkRule rule{.negatives = 2, .corrupt = CorruptedEnd::kBoth};
};

TEST(LinkBatches, SeeThePastOfTheirLinksForAnyWorkers) {
  const TimedLinks timed;
  const std::vector<BatchRequest> requests = test::requests_of(timed.order, 64);
  LinkSeeds made(LinkNegatives(timed.dataset.graph, timed.rule, timed.ends), timed.times);
  const LinkNegatives negatives(timed.dataset.graph, timed.rule);
  for (const TimeRule& time : {TimeRule{}, TimeRule{.window = 5}, TimeRule{.strategy = TimeStrategy::kLast}})
    for (const int num_workers : {0, 3}) {
      BatchLoader loader(timed.dataset, timed.options(time, num_workers));
      loader.start(requests);
      std::size_t count = 0, num_repeated = 0;
      while (const Batch* batch = loader.next()) {
        const BatchRequest& request = requests.at(count++);
        made.make(request.seeds, request.seeds, request.key);
        const std::vector<NodeId> seeds(made.seeds().begin(), made.seeds().end());
        num_repeated += seeds.size() - std::set<NodeId>(seeds.begin(), seeds.end()).size();
        const Mfg mfg =
            reference_temporal_sample(timed.dataset.graph, {kFanouts}, time, seeds, made.seed_times(), request.key).mfg;
        test::expect_batch_of(mfg, *batch, timed.dataset, {request.key, seeds});
        const auto pairs = test::part<LocalId>(*batch, batch->layout.pairs, request.seeds.size() * 6);
        const auto expect_pair = [&](std::size_t p, NodePair ends, NodeId link) {
          const auto source = static_cast<std::size_t>(pairs[2 * p]), to = static_cast<std::size_t>(pairs[2 * p + 1]);
          EXPECT_EQ((NodePair{seeds[source], seeds[to]}), ends);
          EXPECT_EQ(made.seed_times()[source], timed.times[link]);
          EXPECT_EQ(made.seed_times()[to], timed.times[link]) << "a negative is asked for at its link's time";
        };
        for (std::size_t i = 0; i < request.seeds.size(); ++i) {
          const NodeId link = request.seeds[i];
          const NodePair ends{timed.ends[2 * link], timed.ends[2 * link + 1]};
          expect_pair(i, ends, link);
          for (const int j : {0, 1})
            expect_pair(request.seeds.size() + 2 * i + static_cast<std::size_t>(j),
                        negatives.of(request.key, link, ends, j), link);
        }
        if (HasFailure()) return;
      }
      EXPECT_EQ(count, requests.size());
      EXPECT_GT(num_repeated, 100u) << "nodes are seen at several times";
    }
}

// A link is the only entry of its time and its end: nobody can see it at its own time, and everybody one later.
TEST(LinkBatches, ALinkIsNotSeenAtItsOwnTime) {
  const std::vector<EdgeOffset> indptr{0, 0, 1, 1};
  const std::vector<NodeId> indices{0};  // 0 -> 1
  const std::vector<std::int64_t> edge_times{7};
  Dataset dataset = test::generated_dataset(3, 1, 2);
  dataset.graph = {.indptr = indptr, .indices = indices, .entries = {.times = edge_times}};
  const std::vector<NodeId> ends{0, 1, 0, 1, 0, 1}, order{0, 1, 2};
  const std::vector<std::int64_t> times{6, 7, 8};
  BatchLoader loader(dataset, {.rule = {{kAllNeighbors}},
                               .time = TimeRule{},
                               .links = LinkBatches{ends, {.negatives = 1}, times},
                               .num_workers = 0});
  loader.start(test::requests_of(order, 1));
  std::vector<LocalId> num_edges;
  while (const Batch* batch = loader.next()) {
    const auto* const pairs = batch->at<const LocalId>(batch->layout.pairs);
    const auto* const row = batch->at<const LocalId>(batch->layout.hops[0].indptr) + pairs[1];
    num_edges.push_back(row[1] - row[0]);
  }
  EXPECT_EQ(num_edges, (std::vector<LocalId>{0, 0, 1}));
}

TEST(LinkBatches, RefuseToSeeTheirLinks) {
  const TimedLinks timed;
  EXPECT_COMPLAINT(BatchLoader(timed.dataset, timed.options({.order = TimeOrder::kUpTo}, 0)), ErrorKind::kUsage,
                   "predicted from what was before it");
}

TEST(LinkBatches, ARankWithoutLinksHasABatch) {
  const LinkedDataset linked;
  BatchLoader loader(linked.dataset, linked.options(0));
  const std::span<const NodeId> batch = std::span(linked.order).first(3);
  loader.start({{{1, 1, 0}, batch.first(0), batch}});
  const Batch* made = loader.next();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->layout.num_pairs, 0);
  EXPECT_EQ(made->layout.num_seeds, 0);
}

}  // namespace
}  // namespace salient
