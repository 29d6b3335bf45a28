// models/resident/tree_links.h - batches of links as trees: their seeds are the ends of links and of negatives, and
// their rows lack the batch's own links.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/seed_batch.h"
#include "sampler/device_csr.h"
#include "sampler/exclusion_memory.h"
#include "sampler/link_rule.h"

namespace salient {

/// The links that batches are of: the order of an epoch has their numbers. Negatives are those of LinkNegatives, by a
/// sampler whose negatives keep an end of their link, kUniform.
struct TreeLinks {
  const NodeId* ends = nullptr;  ///< [n, 2] device, outlives the trees
  std::uint32_t negatives = 1;   ///< of each
  CorruptedEnd corrupt{};
  bool is_strict = false;
  ExcludedEntries exclude{};
  std::int64_t max_batch = 0;  ///< links of a batch of all ranks at most

  /// Seeds of link i are those from i * seeds_of_link() on: source, destination, and what replaces an end in each
  /// negative. A node that is an end twice is there twice.
  std::int64_t seeds_of_link() const { return 2 + std::int64_t{negatives}; }
};

/// The beginnings of one tree's batches.
class LinkStart {
 public:
  /// @param graph  device memory, outlives this, as does what `links` points to; rows ascend by neighbour
  /// @throws Error{kDeviceMemory}
  LinkStart(const DeviceCsr& graph, const TreeLinks& links);

  /// As start_tree(): header.num_seeds of the tree are nodes, the batch's are links. Then finds what the batch of all
  /// ranks does not see.
  /// Oracle: LinkSeeds, in tests/models/resident/link_tree_gpu_test.cpp.
  void start(const SeedBatch& batch, const TreeStart& tree, cudaStream_t stream) const;
  void start(const SeedBatch* announced, const TreeStart& tree, cudaStream_t stream) const;

  /// Of the batch that was started last: the same memory for all of them. Null: it sees all entries.
  DeviceExclusions excluded() const;
  const TreeLinks& links() const { return links_; }

  /// GPU memory of one of them at most. Needs no GPU.
  static constexpr std::int64_t bytes(std::int64_t max_batch) { return ExclusionMemory::planned_bytes(2 * max_batch); }

 private:
  void enqueue(const SeedBatch& given, const SeedBatch* announced, const TreeStart& tree, cudaStream_t stream) const;

  DeviceCsr graph_;
  TreeLinks links_;
  DeviceArray<std::byte> memory_;
  ExclusionMemory excluded_{};
};

}  // namespace salient
