// engine/links/embedding_learner.h - an embedding model as what a trainer of links trains.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/links/link_learner.h"
#include "engine/links/link_options.h"
#include "engine/links/link_steps.h"
#include "engine/rank/known_links.h"
#include "store/dataset.h"

namespace salient {

/// What shapes the rows of a data set's nodes and relations.
EmbeddingShape shape_of(const Dataset& dataset, const LinkOptions& options);

class EmbeddingLearner final : public LinkLearner {
 public:
  /// As a run begins. @param dataset  has_links, typed; borrowed, as the options
  EmbeddingLearner(const Dataset& dataset, const LinkOptions& options);

  const LinkState& state() const { return state_; }

  double step(BatchKey key, std::span<const NodeId> batch) override;
  LinkRanks ranks(std::size_t split) override;
  FileDigest write_model(const std::filesystem::path& path) const override;
  FileDigest write_moments(const std::filesystem::path& path) const override;
  void read_model(const std::filesystem::path& path) override;
  void read_moments(const std::filesystem::path& path, std::int64_t steps) override;

 private:
  const Dataset& dataset_;
  const LinkOptions& options_;
  const std::vector<std::optional<std::uint32_t>> reverses_;
  const KnownLinks known_;
  LinkState state_;
  std::unique_ptr<LinkSteps> steps_{};  ///< from the first step on
};

}  // namespace salient
