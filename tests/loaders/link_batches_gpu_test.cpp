// tests/loaders/link_batches_gpu_test.cpp - batches of links whose graph is in GPU memory are the references', by any
// workers and ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/cuda/cuda.h"
#include "loaders/batch_loader.h"
#include "loaders/resident_data.h"
#include "sampler/link_seeds.h"
#include "sampler/reference_sampler.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{5, 3};
constexpr std::size_t kBatch = 64;

struct LinkedDataset {
  LinkedDataset() {
    dataset.graph = graph.view();  // whose rows ascend
    for (NodeId v = 0; v < 100; ++v)
      for (const NodeId u : dataset.graph.row(v)) ends.insert(ends.end(), {u, v});
    order.resize(ends.size() / 2);
    std::iota(order.begin(), order.end(), NodeId{0});
  }
  LinkedDataset(const LinkedDataset&) = delete;
  LinkedDataset& operator=(const LinkedDataset&) = delete;

  /// The last one of `num_ranks` ranks'.
  std::vector<BatchRequest> requests(std::size_t num_ranks) const {
    std::vector<BatchRequest> all;
    const std::size_t share = kBatch / num_ranks;
    for (std::size_t at = 0; at + kBatch <= order.size(); at += kBatch) {
      const std::span<const NodeId> batch = std::span(order).subspan(at, kBatch);
      all.push_back({{1, 2, static_cast<std::uint32_t>(at / kBatch)}, batch.last(share), batch});
    }
    return all;
  }

  test::OwnedGraph graph = test::sorted(test::power_law_graph(1500, 12, 1));
  Dataset dataset = test::generated_dataset(1500, 12, 9);
  std::vector<NodeId> ends{}, order{};
};

/// All batches of an epoch.
void expect_batches(const LinkedDataset& linked, const LinkRule& rule, const DataResidency& residency,
                    std::size_t num_ranks, int num_workers) {
  const std::vector<BatchRequest> requests = linked.requests(num_ranks);
  const ResidentData data(linked.dataset, residency, {.rule = {kFanouts}, .excludes_links = true});
  const CudaStream stream;
  BatchLoader loader(linked.dataset, {.rule = {kFanouts},
                                      .links = LinkBatches{linked.ends, rule},
                                      .num_workers = num_workers,
                                      .to_device = true,
                                      .data = data.view()});
  LinkSeeds made(LinkNegatives(linked.dataset.graph, rule, linked.ends));
  loader.start(requests);
  std::size_t count = 0;
  while (const Batch* batch = loader.next(stream.get())) {
    std::vector<std::byte> slab(batch->layout.bytes);
    cuda_check(cudaMemcpyAsync(slab.data(), batch->data, slab.size(), cudaMemcpyDeviceToHost, stream.get()));
    stream.wait();
    Batch on_host = *batch;
    on_host.data = slab.data();
    const BatchRequest& request = requests.at(count++);
    made.make(request.seeds, request.batch, request.key);
    const std::vector<NodeId> seeds(made.seeds().begin(), made.seeds().end());
    const Mfg mfg = reference_excluding_sample(linked.dataset.graph, {kFanouts}, seeds, request.key,
                                               [&](NodeId v) { return made.excluded().of(v); });
    test::expect_batch_of(mfg, on_host, linked.dataset, {request.key, seeds});
    EXPECT_TRUE(
        std::ranges::equal(test::part<LocalId>(on_host, on_host.layout.pairs,
                                               request.seeds.size() * static_cast<std::size_t>(2 + 2 * rule.negatives)),
                           made.pairs()));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(count, requests.size());
  EXPECT_GT(count, 5u);
}

TEST(LinkBatchesOnDevice, AreTheReferencesForAnyWorkersAndRanks) {
  const LinkedDataset linked;
  for (const DataResidency& residency :
       {DataResidency{.graph = GraphResidency::kDevice},
        DataResidency{.features = Residency::kDevice, .graph = GraphResidency::kDevice},
        DataResidency{.graph = GraphResidency::kDevice, .graph_entries = 6000}})
    for (const std::size_t num_ranks : {1U, 2U, 4U})
      for (const int num_workers : {0, 1, 5})
        ASSERT_NO_FATAL_FAILURE(expect_batches(linked, {.negatives = 2}, residency, num_ranks, num_workers));
}

TEST(LinkBatchesOnDevice, OfEveryRuleOfNegatives) {
  const LinkedDataset linked;
  for (const NegativeSampler sampler :
       {NegativeSampler::kUniform, NegativeSampler::kDegree, NegativeSampler::kInBatch, NegativeSampler::kJoint})
    for (const ExcludedEntries exclude : {ExcludedEntries::kPair, ExcludedEntries::kNone})
      ASSERT_NO_FATAL_FAILURE(expect_batches(linked,
                                             {.negatives = 3,
                                              .sampler = sampler,
                                              .corrupt = CorruptedEnd::kBoth,
                                              .is_strict = exclude == ExcludedEntries::kPair,
                                              .exclude = exclude},
                                             {.graph = GraphResidency::kDevice}, 1, 3));
}

}  // namespace
}  // namespace salient
