// tests/models/resident/tree_gpu_test.cpp - the tree's nodes and the places of its entries are the sampler's.
#include "models/resident/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sampler/neighbor_sampler.h"
#include "tests/models/resident/sage_problem.h"

namespace salient {
namespace {

template <class T>
std::vector<T> read(const T* from, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  cuda_check(cudaMemcpy(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// By node: the places of its entries at a hop, in order.
using PlacesOf = std::map<NodeId, std::vector<EdgeOffset>>;

PlacesOf places_of(const Mfg& mfg, const MfgHop& hop) {
  PlacesOf found;
  for (LocalId i = 0; i < hop.num_dst; ++i)
    found[mfg.nodes[static_cast<std::size_t>(i)]] = {hop.places.begin() + hop.indptr[static_cast<std::size_t>(i)],
                                                     hop.places.begin() + hop.indptr[static_cast<std::size_t>(i) + 1]};
  return found;
}

/// A graph, in tiers or as it is, and a batch in a tree over it.
class TreePlaces : public testing::TestWithParam<std::tuple<std::vector<int>, Draw, bool>> {
 protected:
  TreePlaces() {
    std::vector<EdgeOffset> begins(indptr_.begin(), indptr_.end() - 1);
    std::vector<NodeId> indices = indices_;
    if (is_in_tiers()) {  // rows in the opposite order
      EdgeOffset next = 0;
      for (std::size_t v = begins.size(); v-- > 0;) {
        begins[v] = next;
        std::copy(indices_.begin() + indptr_[v], indices_.begin() + indptr_[v + 1], indices.begin() + next);
        next += indptr_[v + 1] - indptr_[v];
      }
    }
    on_device_indices_.emplace(indices, stream_);
    on_device_begins_.emplace(begins, stream_);
    std::iota(seeds_.begin(), seeds_.end(), NodeId{40});
    stream_.wait();
  }

  bool is_in_tiers() const { return std::get<2>(GetParam()); }
  SamplingRule rule() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }
  DeviceCsr csr() const {
    return {on_device_indptr_.get(), on_device_indices_->get(), test::kSageNodes,
            is_in_tiers() ? on_device_begins_->get() : nullptr};
  }

  SampledTree sampled(Places places) {
    SampledTree tree(csr(), rule(), test::kSageMaxSeeds, places);
    const StepHeader header{.seed = 5, .epoch = 2, .batch = 3, .num_seeds = static_cast<std::uint32_t>(seeds_.size())};
    tree.begin({header, on_device_seeds().get()}, stream_.get());
    tree.sample(stream_.get());
    stream_.wait();
    return tree;
  }
  const test::OnDevice<NodeId>& on_device_seeds() {
    if (!on_device_seeds_) on_device_seeds_.emplace(seeds_, stream_);
    return *on_device_seeds_;
  }

  Mfg expected() const {
    NeighborSampler sampler(graph_.view(), rule());
    sampler.record_places();
    Mfg mfg;
    sampler.sample(seeds_, {5, 2, 3}, mfg);
    return mfg;
  }

  const test::OwnedGraph graph_ = test::sorted(test::graph_with_gaps());
  const std::vector<EdgeOffset> indptr_{graph_.indptr.begin(), graph_.indptr.end()};
  const std::vector<NodeId> indices_{graph_.indices.begin(), graph_.indices.end()};
  const CudaStream stream_;
  const test::OnDevice<EdgeOffset> on_device_indptr_{indptr_, stream_};
  std::optional<test::OnDevice<NodeId>> on_device_indices_, on_device_seeds_;
  std::optional<test::OnDevice<EdgeOffset>> on_device_begins_;
  std::vector<NodeId> seeds_ = std::vector<NodeId>(50);
};

TEST_P(TreePlaces, AreThoseOfTheSampler) {
  const SampledTree tree = sampled(Places::kKept);
  const Mfg mfg = expected();
  for (std::size_t level = 0; level < rule().fanouts.size(); ++level) {
    const PlacesOf wanted = places_of(mfg, mfg.hops[rule().fanouts.size() - 1 - level]);
    const PlacedEntries entries = tree.placed_entries(level);
    const LocalId count = read(entries.num_nodes, 1)[0];
    ASSERT_GE(count, static_cast<LocalId>(wanted.size())) << "nodes are there once, or more often";
    const bool is_last = level + 1 == rule().fanouts.size();
    const std::vector<NodeId> nodes = read(tree.nodes(), count);
    const std::vector<LocalId> first = is_last ? std::vector<LocalId>() : read(entries.first_child, count + 1);
    const std::vector<LocalId> kept = is_last ? read(entries.num_entries, count) : std::vector<LocalId>();
    const std::vector<EdgeOffset> places =
        read(entries.places, is_last ? entries.capacity * entries.fanout : first[static_cast<std::size_t>(count)]);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto begin = places.begin() + (is_last ? static_cast<std::int64_t>(i) * entries.fanout : first[i]);
      const std::vector<EdgeOffset> found(begin, begin + (is_last ? kept[i] : first[i + 1] - first[i]));
      ASSERT_EQ(found, wanted.at(nodes[i])) << "level " << level << ", node " << nodes[i];
    }
  }
}

TEST_P(TreePlaces, ChangeNoNode) {
  const SampledTree with = sampled(Places::kKept), without = sampled(Places::kNotKept);
  const std::size_t last = rule().fanouts.size() - 1;
  const LastHop a = with.last_hop(), b = without.last_hop();
  const LocalId count = read(a.num_nodes, 1)[0];
  ASSERT_EQ(count, read(b.num_nodes, 1)[0]);
  EXPECT_EQ(read(a.nodes, count), read(b.nodes, count));
  const std::vector<LocalId> kept = read(a.num_entries, count);
  EXPECT_EQ(kept, read(b.num_entries, count));
  const std::vector<NodeId> entries = read(a.entries, with.capacity(last) * a.fanout),
                            others = read(b.entries, with.capacity(last) * a.fanout);
  for (std::size_t i = 0; i < kept.size(); ++i)
    for (std::size_t k = 0; k < static_cast<std::size_t>(kept[i]); ++k)
      ASSERT_EQ(entries[i * static_cast<std::size_t>(a.fanout) + k],
                others[i * static_cast<std::size_t>(a.fanout) + k]);
}

INSTANTIATE_TEST_SUITE_P(Fanouts, TreePlaces,
                         testing::Combine(testing::Values(std::vector{15, 10, 5}, std::vector{4, 12, 8},
                                                          std::vector{3, 20}, std::vector{5}),
                                          testing::Values(Draw::kUniform, Draw::kWithReplacement), testing::Bool()));

}  // namespace
}  // namespace salient
