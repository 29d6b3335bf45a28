// engine/links/link_steps.h - one optimiser step of an embedding model after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/links/embeddings.h"
#include "engine/links/link_options.h"
#include "engine/links/link_query.h"
#include "engine/links/row_optimiser.h"
#include "sampler/draws.h"
#include "store/link_table.h"

namespace salient {

/// What training moves.
struct LinkState {
  Embeddings embeddings{};
  RowMoments node_moments{}, relation_moments{};

  bool operator==(const LinkState&) const = default;
};

/// As a run begins.
LinkState initial_state(const EmbeddingShape& shape, const LinkOptions& options);

/// Steps over batches of training links; both sides of each are asked for.
///
/// Negatives and dropped numbers are functions of (seed, epoch, batch, link, side), sums of a row are in the order of
/// the batch: equal bits for any number of threads. Runs on the caller's oneTBB arena.
/// Memory beside the state: gradients of all nodes, and of a batch its rows and scores.
class LinkSteps {
 public:
  /// @param links  of training; borrowed, as the rest
  LinkSteps(const LinkTable& links, std::span<const std::optional<std::uint32_t>> reverses, const LinkOptions& options,
            LinkState& state);
  ~LinkSteps();

  /// @param batch  numbers of links   @return the sum of the losses of its 2 |batch| queries
  double step(BatchKey key, std::span<const NodeId> batch);

 private:
  class Batch;
  const LinkTable& links_;
  const std::span<const std::optional<std::uint32_t>> reverses_;
  const LinkOptions& options_;
  LinkState& state_;
  std::unique_ptr<Batch> memory_;
};

}  // namespace salient
