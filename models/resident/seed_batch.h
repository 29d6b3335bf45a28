// models/resident/seed_batch.h - what a batch begins with, by value or announced in device memory, and the beginning of
// its tree.
#pragma once

#include <cstdint>
#include <span>

#include "core/cuda/cuda.h"
#include "core/types.h"
#include "models/resident/step_header.h"

namespace salient {

struct SeedBatch {
  StepHeader header{};
  const NodeId* order = nullptr;  ///< device: training nodes in the order of the epoch; the seeds from first_seed on
};

/// What of a tree begins with a batch. Device memory.
struct TreeStart {
  StepHeader* header;             ///< [1] becomes the batch's
  NodeId* nodes;                  ///< [num_seeds] become its seeds
  LocalId* num_seeds;             ///< [1]
  unsigned long long* num_edges;  ///< [2, num_hops]: those of the batch before go to the second row
  std::uint32_t num_hops;
};

/// Both enqueue and return.
void start_tree(const SeedBatch& batch, const TreeStart& tree, cudaStream_t stream);
/// @param batch  device memory, which announce() wrote: can be captured
void start_tree(const SeedBatch* batch, const TreeStart& tree, cudaStream_t stream);

inline constexpr std::size_t kMaxAnnounced = 16;
/// Writes at most kMaxAnnounced of them to device memory. Enqueues and returns.
void announce(std::span<const SeedBatch> batches, SeedBatch* to, cudaStream_t stream);

}  // namespace salient
