// sampler/disjoint_batch_sampler.cpp - see disjoint_batch_sampler.h.
#include "sampler/disjoint_batch_sampler.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace salient {
namespace {

LocalId countable(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<LocalId>::max()))
    fail(ErrorKind::kUsage, "a batch with 2^31 edges or more in one hop", Topic::kBatch);
  return static_cast<LocalId>(count);
}

}  // namespace

void DisjointBatchSampler::record_places() {
  records_places_ = true;
  of_seed_->record_places();
}

const MfgShape& DisjointBatchSampler::sample(std::span<const NodeId> seeds, BatchKey key) {
  known_.clear();
  nodes_.clear();
  for (Hop& hop : hops_) {
    hop.degrees.clear();
    hop.indices.clear();
    hop.places.clear();
  }
  if (seeds.empty()) {  // of a rank that has run out
    hops_.resize(of_seed_->sample(seeds, key).hops.size());
    of_seed_->drop();
  }
  for (const NodeId& seed : seeds) append_tree(of_seed_->sample({&seed, 1}, key));
  number_nodes();
  return shape_;
}

/// Copies what was sampled last.
void DisjointBatchSampler::append_tree(const MfgShape& tree) {
  require(tree.typed_hops.empty(), "trees of their own are of plain graphs");
  const std::size_t num_hops = tree.hops.size(), first_node = nodes_.size();
  hops_.resize(num_hops);
  std::size_t num_rows = 0;
  for (const MfgShape::Hop& hop : tree.hops) num_rows += static_cast<std::size_t>(hop.num_dst) + 1;
  indptr_.resize(num_rows);
  tree_memory_.clear();
  LocalId* indptr = indptr_.data();
  known_.resize(known_.size() + num_hops + 1);
  LocalId* const known = known_.data() + known_.size() - (num_hops + 1);
  known[0] = tree.hops.back().num_dst;
  for (std::size_t h = 0; h < num_hops; ++h) {
    const MfgShape::Hop& of = tree.hops[h];
    Hop& hop = hops_[h];
    const std::size_t first = hop.indices.size();
    hop.indices.resize(static_cast<std::size_t>(countable(first + static_cast<std::size_t>(of.num_edges))));
    if (records_places_) hop.places.resize(hop.indices.size());
    tree_memory_.push_back({indptr, hop.indices.data() + first, records_places_ ? hop.places.data() + first : nullptr});
    indptr += of.num_dst + 1;
    known[num_hops - h] = of.num_src;
  }
  nodes_.resize(first_node + static_cast<std::size_t>(tree.num_nodes));
  of_seed_->copy_to({.nodes = nodes_.data() + first_node, .hops = tree_memory_});
  for (std::size_t h = 0; h < num_hops; ++h)
    for (LocalId row = 0; row < tree.hops[h].num_dst; ++row)
      hops_[h].degrees.push_back(tree_memory_[h].indptr[row + 1] - tree_memory_[h].indptr[row]);
}

/// By hops, and of each hop by trees, as the destinations of a hop are the first nodes.
void DisjointBatchSampler::number_nodes() {
  const std::size_t num_hops = hops_.size();
  numbers_.resize(nodes_.size());
  shape_ = {.num_nodes = countable(nodes_.size())};
  shape_.hops.resize(num_hops);
  LocalId next = 0;
  for (std::size_t level = 0; level <= num_hops; ++level) {
    std::size_t first_of_tree = 0;
    for (std::size_t tree = 0; tree < num_trees(); ++tree) {
      const LocalId* const known = known_of(tree);
      for (LocalId i = level == 0 ? 0 : known[level - 1]; i < known[level]; ++i)
        numbers_[first_of_tree + static_cast<std::size_t>(i)] = next++;
      first_of_tree += static_cast<std::size_t>(known[num_hops]);
    }
    if (level < num_hops) shape_.hops[num_hops - 1 - level].num_dst = next;
    if (level > 0) shape_.hops[num_hops - level].num_src = next;
  }
  for (std::size_t h = 0; h < num_hops; ++h) shape_.hops[h].num_edges = static_cast<LocalId>(hops_[h].indices.size());
}

void DisjointBatchSampler::copy_to(const MfgMemory& memory) {
  require(memory.degrees == nullptr, "a batch of trees has no degrees");
  for (std::size_t i = 0; i < nodes_.size(); ++i) memory.nodes[numbers_[i]] = nodes_[i];
  for (std::size_t h = 0; h < hops_.size(); ++h) copy_hop(h, memory.hops[h]);
}

void DisjointBatchSampler::copy_hop(std::size_t number, const MfgMemory::Hop& memory) const {
  const Hop& hop = hops_[number];
  const std::size_t level = hops_.size() - 1 - number;
  const auto each_row = [&](const auto& take) {  // (first node of the tree, number of the row, its degree)
    std::size_t first_of_tree = 0, row_in_hop = 0;
    for (std::size_t tree = 0; tree < num_trees(); ++tree) {
      const LocalId* const known = known_of(tree);
      for (LocalId row = 0; row < known[level]; ++row)
        take(first_of_tree, numbers_[first_of_tree + static_cast<std::size_t>(row)], hop.degrees[row_in_hop++]);
      first_of_tree += static_cast<std::size_t>(known[hops_.size()]);
    }
  };
  memory.indptr[0] = 0;
  each_row([&](std::size_t, LocalId row, LocalId degree) { memory.indptr[row + 1] = degree; });
  std::partial_sum(memory.indptr, memory.indptr + shape_.hops[number].num_dst + 1, memory.indptr);
  std::size_t entry = 0;
  each_row([&](std::size_t first_of_tree, LocalId row, LocalId degree) {
    for (LocalId to = memory.indptr[row]; to < memory.indptr[row] + degree; ++to, ++entry) {
      memory.indices[to] = numbers_[first_of_tree + static_cast<std::size_t>(hop.indices[entry])];
      if (memory.places != nullptr) memory.places[to] = hop.places[entry];
    }
  });
}

}  // namespace salient
