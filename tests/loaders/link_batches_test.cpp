// tests/loaders/link_batches_test.cpp - batches of links: pairs, and message-flow graphs without them, by any threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "loaders/batch_loader.h"
#include "sampler/link_seeds.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

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
