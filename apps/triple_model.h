// apps/triple_model.h - a model of a knowledge graph with its data set: what scores triples by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/infer_options.h"
#include "engine/rank/blocked_ranks.h"
#include "engine/rank/known_links.h"
#include "sampler/link_seeds.h"
#include "store/dataset.h"

namespace salient {

/// A link with its relation's number.
struct AskedTriple {
  NodePair link{};
  std::uint16_t relation = 0;
};

/// Nodes at one end of links that are to be found.
struct AskedNodes {
  LinkSide side = LinkSide::kTail;
  std::uint16_t relation = 0;
  std::span<const NodeId> nodes{};
};

/// The best checkpoint of a run. Threads: one call at a time, each on the caller's oneTBB arena.
class TripleModel {
 public:
  explicit TripleModel(Dataset dataset) : dataset_(std::move(dataset)) {}
  TripleModel(const TripleModel&) = delete;
  TripleModel& operator=(const TripleModel&) = delete;
  virtual ~TripleModel() = default;

  const Dataset& dataset() const { return dataset_; }
  /// None for a name that no relation has, or a reverse.
  std::optional<std::uint16_t> relation_named(std::string_view name) const;

  virtual std::string model() const = 0;    ///< as --model says it
  virtual std::string decoder() const = 0;  ///< "" without one
  virtual RankBlocks blocks() const = 0;    ///< of scores()
  virtual std::vector<float> scores_of(std::span<const AskedTriple> triples) = 0;
  /// As LinkScores has them.
  virtual void scores(const AskedNodes& asked, std::int64_t first, std::int64_t count, float* out) = 0;

 private:
  const Dataset dataset_;
};

/// Whether config.toml says that the run is of such a model.
bool is_run_of_triples(const std::filesystem::path& run);

/// @param said  another data set than the run's, if it names one
/// @throws Error{kNoInput}, Error{kBadData} for a run or data set that is missing, damaged or of another one
std::unique_ptr<TripleModel> open_triple_model(const std::filesystem::path& run, const DataOptions& said);

}  // namespace salient
