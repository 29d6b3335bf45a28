// apps/path_model.h - a path-based model of a knowledge graph with its data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/path_command.h"
#include "apps/triple_model.h"
#include "engine/paths/path_inputs.h"

namespace salient {

class PathModel final : public TripleModel {
 public:
  /// As open_triple_model(). @param trained  the run's options
  PathModel(const std::filesystem::path& run, const DataOptions& said, const PathRunOptions& trained);

  std::string model() const override { return "nbfnet"; }
  std::string decoder() const override { return ""; }
  /// All candidates at once, as a pass scores them.
  RankBlocks blocks() const override;
  /// A pass for each head and relation. Memory: an item a triple
  std::vector<float> scores_of(std::span<const AskedTriple> triples) override;
  void scores(const AskedNodes& asked, std::int64_t first, std::int64_t count, float* out) override;

 private:
  const PathGraph graph_;
  const std::vector<std::optional<std::uint32_t>> reverses_;
  PathParameters parameters_;
};

}  // namespace salient
