// tests/models/resident/link_tree_gpu_test.cpp - trees of batches of links have the seeds of LinkSeeds, and keep of
// every row what the reference keeps without the batch's links.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/resident/tree.h"
#include "sampler/link_seeds.h"
#include "sampler/reference_sampler.h"
#include "tests/support/device_copy.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

/// Behind all work of the device.
template <class T>
std::vector<T> copy_to_host(const T* from, std::size_t count) {
  std::vector<T> values(count);
  cuda_check(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

constexpr std::size_t kMaxLinks = 48, kMaxBatch = 100;

/// A graph, some of whose entries are links in a shuffled order.
class Linked {
 public:
  explicit Linked(test::OwnedGraph made) : graph(test::sorted(std::move(made))) {
    for (NodeId v = 0; v < graph.view().num_nodes(); v += 2)
      for (const NodeId u : graph.view().row(v)) ends.insert(ends.end(), {u, v});
    for (NodeId v = 0; v + 3 < 40; ++v) ends.insert(ends.end(), {v, v + 3});  // pairs that may be no entries
    order.resize(ends.size() / 2);
    std::iota(order.begin(), order.end(), NodeId{0});
    std::ranges::sort(order, {}, [](NodeId i) { return i * 2654435761U; });
  }

  const test::OwnedGraph graph;
  std::vector<NodeId> ends{}, order{};
};

struct Kept {
  std::vector<NodeId> seeds;
  std::vector<std::vector<std::vector<NodeId>>> entries;  // of each node of a level, by hop
};

/// What a tree has after its hops.
Kept kept_of(const SampledTree& tree, std::size_t hops, std::int64_t fanout) {
  Kept kept;
  std::vector<NodeId> nodes = copy_to_host(tree.nodes(), static_cast<std::size_t>(tree.capacity(hops - 1)));
  const auto size_of = [&](std::size_t level) {
    return static_cast<std::size_t>(copy_to_host(tree.size_of(level), 1)[0]);
  };
  kept.seeds.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(size_of(0)));
  for (std::size_t h = 0; h + 1 < hops; ++h) {
    const std::size_t count = size_of(h);
    const std::vector<LocalId> first = copy_to_host(tree.growth(h).first_child, count + 1);
    std::vector<std::vector<NodeId>>& rows = kept.entries.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      const auto children = nodes.begin() + static_cast<std::ptrdiff_t>(count);
      rows.emplace_back(children + first[i], children + first[i + 1]);
    }
    EXPECT_EQ(count + static_cast<std::size_t>(first[count]), size_of(h + 1));
  }
  const std::size_t count = size_of(hops - 1);
  const std::vector<LocalId> numbers = copy_to_host(tree.last_hop().num_entries, count);
  const std::vector<NodeId> entries =
      copy_to_host(tree.last_hop().entries, static_cast<std::size_t>(tree.capacity(hops - 1) * fanout));
  std::vector<std::vector<NodeId>>& rows = kept.entries.emplace_back();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = entries.begin() + static_cast<std::ptrdiff_t>(i) * fanout;
    rows.emplace_back(row, row + numbers[i]);
  }
  return kept;
}

/// Ends of links and negatives, link by link, as LinkNegatives has them.
std::vector<NodeId> expected_seeds(const LinkNegatives& negatives, std::span<const NodeId> links, BatchKey key) {
  std::vector<NodeId> seeds;
  for (const NodeId i : links) {
    const NodePair link = negatives.link(i);
    seeds.insert(seeds.end(), {link.source, link.destination});
    for (int j = 0; j < negatives.rule().negatives; ++j) {
      const NodePair pair = negatives.of(key, i, link, j);
      const bool is_source = replaces_source(negatives.rule().corrupt, static_cast<std::uint32_t>(j));
      EXPECT_EQ(is_source ? pair.destination : pair.source, is_source ? link.destination : link.source);
      seeds.push_back(is_source ? pair.source : pair.destination);
    }
  }
  return seeds;
}

/// Each node of the tree keeps what it keeps in the reference's message-flow graph, in its order.
void expect_reference(const Kept& kept, const Mfg& mfg) {
  std::map<NodeId, std::size_t> number;
  for (std::size_t i = 0; i < mfg.nodes.size(); ++i) number[mfg.nodes[i]] = i;
  std::vector<NodeId> level = kept.seeds;
  for (std::size_t h = 0; h < kept.entries.size(); ++h) {
    const MfgHop& hop = mfg.hops[mfg.hops.size() - 1 - h];
    ASSERT_EQ(kept.entries[h].size(), level.size());
    const std::size_t count = level.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = number.at(level[i]);
      std::vector<NodeId> expected;
      for (auto e = hop.indptr[row]; e < hop.indptr[row + 1]; ++e)
        expected.push_back(mfg.nodes[static_cast<std::size_t>(hop.indices[static_cast<std::size_t>(e)])]);
      ASSERT_EQ(kept.entries[h][i], expected) << "hop " << h << ", node " << level[i];
    }
    for (std::size_t i = 0; i < count; ++i)
      level.insert(level.end(), kept.entries[h][i].begin(), kept.entries[h][i].end());
  }
}

void expect_batches(const Linked& linked, const SamplingRule& rule, const LinkRule& of_links) {
  const CudaStream stream;
  const CsrGraph graph = linked.graph.view();
  const test::OnDevice<EdgeOffset> indptr({graph.indptr.begin(), graph.indptr.end()}, stream);
  const test::OnDevice<NodeId> indices({graph.indices.begin(), graph.indices.end()}, stream);
  const test::OnDevice<NodeId> ends(linked.ends, stream), order(linked.order, stream);
  const TreeLinks links{.ends = ends.get(),
                        .negatives = static_cast<std::uint32_t>(of_links.negatives),
                        .corrupt = of_links.corrupt,
                        .is_strict = of_links.is_strict,
                        .exclude = of_links.exclude,
                        .max_batch = kMaxBatch};
  SampledTree tree({indptr.get(), indices.get(), graph.num_nodes()}, rule,
                   static_cast<std::int64_t>(kMaxLinks) * links.seeds_of_link(), Places::kNotKept, links);
  const LinkNegatives negatives(graph, of_links, linked.ends);
  LinkSeeds made(negatives);
  struct Share {
    std::uint32_t first, count, first_in_batch, in_batch;
  };
  std::uint32_t batch = 0;
  for (const Share& share : {Share{0, kMaxLinks, 0, kMaxBatch},
                             {52, kMaxLinks, 0, kMaxBatch},
                             {150, 7, 150, 7},
                             {300, 0, 290, 30},
                             {200, 1, 180, 60}}) {
    if (share.first_in_batch + share.in_batch > linked.order.size()) continue;
    const StepHeader header{.seed = 3,
                            .epoch = 2,
                            .batch = batch,
                            .first_seed = share.first,
                            .num_seeds = share.count,
                            .first_in_batch = share.first_in_batch,
                            .links_in_batch = share.in_batch};
    tree.begin({header, order.get()}, stream.get());
    tree.sample(stream.get());
    stream.wait();
    const BatchKey key{3, 2, batch++};
    const std::span<const NodeId> mine = std::span(linked.order).subspan(share.first, share.count);
    made.make(mine, std::span(linked.order).subspan(share.first_in_batch, share.in_batch), key);
    const std::vector<NodeId> distinct(made.seeds().begin(), made.seeds().end());
    const Mfg mfg =
        reference_excluding_sample(graph, rule, distinct, key, [&](NodeId v) { return made.excluded().of(v); });
    const Kept kept = kept_of(tree, rule.fanouts.size(), rule.fanouts.back());
    ASSERT_EQ(kept.seeds, expected_seeds(negatives, mine, key));
    ASSERT_NO_FATAL_FAILURE(expect_reference(kept, mfg));
  }
}

TEST(LinkTree, HasTheSeedsAndEntriesOfTheReference) {
  for (const double mean_degree : {2.0, 9.0, 40.0}) {
    const Linked linked(test::power_law_graph(600, mean_degree, 4));
    for (const auto& fanouts : {std::vector{15, 10, 5}, {32}, {3, 7}, {12, 20}})  // each of the kernels
      for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement})
        for (const LinkRule& rule : {LinkRule{.negatives = 1}, LinkRule{.negatives = 5, .corrupt = CorruptedEnd::kBoth},
                                     LinkRule{.negatives = 2, .corrupt = CorruptedEnd::kBoth, .is_strict = true},
                                     LinkRule{.negatives = 1, .exclude = ExcludedEntries::kNone}})
          ASSERT_NO_FATAL_FAILURE(expect_batches(linked, {fanouts, draw}, rule))
              << mean_degree << ", fanout " << fanouts.front() << ", " << rule.negatives << " negatives";
  }
}

// All links have one end in common, so that its row loses many entries, or all, and parallel ones with them.
TEST(LinkTree, OfAStarHasWhatTheReferenceHas) {
  test::OwnedGraph star;
  for (NodeId v = 1; v < 120; ++v) star.indices.insert(star.indices.end(), v % 4 == 0 ? 3 : 1, v);
  star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  for (NodeId v = 1; v < 120; ++v) {
    star.indices.push_back(0);
    star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  }
  const Linked linked(std::move(star));
  expect_batches(linked, {{15, 10, 5}}, {.negatives = 3});
  expect_batches(linked, {{2, 2}}, {.negatives = 1, .is_strict = true});
}

}  // namespace
}  // namespace salient
