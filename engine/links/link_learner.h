// engine/links/link_learner.h - what a trainer of links of a knowledge graph trains: a model and its optimiser's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/files/file_io.h"
#include "core/types.h"
#include "engine/links/link_ranks.h"
#include "sampler/draws.h"

namespace salient {

/// Steps and ranks run on the caller's oneTBB arena, with equal bits for any number of threads.
class LinkLearner {
 public:
  LinkLearner() = default;
  LinkLearner(const LinkLearner&) = delete;
  LinkLearner& operator=(const LinkLearner&) = delete;
  virtual ~LinkLearner() = default;

  /// An optimiser's step by training links, both sides of each. @return the sum of the losses of 2 |batch| queries
  virtual double step(BatchKey key, std::span<const NodeId> batch) = 0;
  /// By its parameters of now. @param split  kValidLinks or kTestLinks
  virtual LinkRanks ranks(std::size_t split) = 0;

  /// One safetensors file each. @throws Error{kIo}
  virtual FileDigest write_model(const std::filesystem::path& path) const = 0;
  virtual FileDigest write_moments(const std::filesystem::path& path) const = 0;
  /// The inverse. @throws Error{kBadData} naming a tensor that is missing, or of another size
  virtual void read_model(const std::filesystem::path& path) = 0;
  /// @param steps  that the optimiser has done
  virtual void read_moments(const std::filesystem::path& path, std::int64_t steps) = 0;
};

}  // namespace salient
