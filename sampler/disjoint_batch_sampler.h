// sampler/disjoint_batch_sampler.h - batches in which every seed has a tree of its own, as PyG's disjoint ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sampler/batch_sampler.h"

namespace salient {

/// Samples each seed of a batch alone, and numbers the nodes of all trees together: the seeds, then what the hop next
/// to them added to the tree of the first seed, to that of the second, ... A node that two seeds reach is there twice.
///
/// Determinism: the tree of a seed is what the sampler makes of the seed alone by the same key, so that the trees of
///              two seeds read the same random words for the same node and hop.
/// Cost:        a sample for each seed, and one copy of all that was sampled.
class DisjointBatchSampler final : public BatchSampler {
 public:
  /// @param of_seed  samples on the host, of a plain graph, by nothing that belongs to a whole batch
  explicit DisjointBatchSampler(std::unique_ptr<BatchSampler> of_seed) : of_seed_(std::move(of_seed)) {}

  /// @param seeds  [S] may repeat
  /// @throws as the sampler of a seed; Error{kUsage} for 2^31 nodes, or edges of a hop, in all trees together
  const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override;

  /// No degrees.
  void copy_to(const MfgMemory& memory) override;
  void record_places() override;

 private:
  /// Of all trees, tree by tree.
  struct Hop {
    std::vector<LocalId> degrees{};      ///< [rows]
    std::vector<LocalId> indices{};      ///< [edges] numbers in their tree
    std::vector<std::int64_t> places{};  ///< [edges] where they are recorded
  };

  std::size_t num_trees() const { return known_.size() / (hops_.size() + 1); }
  const LocalId* known_of(std::size_t tree) const { return &known_[tree * (hops_.size() + 1)]; }
  void append_tree(const MfgShape& tree);
  void number_nodes();
  void copy_hop(std::size_t number, const MfgMemory::Hop& memory) const;

  std::unique_ptr<BatchSampler> of_seed_;
  bool records_places_ = false;
  std::vector<LocalId> known_;    // [S, L + 1] nodes of the tree after each hop, the seed alone first
  std::vector<NodeId> nodes_;     // [N] tree by tree
  std::vector<LocalId> numbers_;  // [N] likewise, in the batch
  std::vector<Hop> hops_;         // [L] outermost first
  std::vector<LocalId> indptr_;   // scratch of a tree's hops, as is the next
  std::vector<MfgMemory::Hop> tree_memory_;
  MfgShape shape_;
};

}  // namespace salient
