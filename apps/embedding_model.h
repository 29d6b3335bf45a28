// apps/embedding_model.h - an embedding model of a knowledge graph with its data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/link_command.h"
#include "apps/triple_model.h"
#include "engine/links/embeddings.h"

namespace salient {

/// The best checkpoint of a run, or an encoder's rows with the relations of its decoder.
class EmbeddingModel final : public TripleModel {
 public:
  /// As open_triple_model(). @param trained  the run's options
  EmbeddingModel(const std::filesystem::path& run, const DataOptions& said, const LinkRunOptions& trained);

  /// Of rows that an encoder has computed.
  /// @param model     the encoder   @param dataset  shares what it points to
  /// @param reverses  [relations] by which heads are asked for
  EmbeddingModel(std::string model, const Dataset& dataset, Embeddings embeddings,
                 std::vector<std::optional<std::uint32_t>> reverses)
      : TripleModel(dataset),
        model_(std::move(model)),
        embeddings_(std::move(embeddings)),
        reverses_(std::move(reverses)) {}

  std::string model() const override { return model_; }
  std::string decoder() const override { return name_of(embeddings_.shape.decoder); }
  RankBlocks blocks() const override { return rank_blocks(kDefaultRankBytes, embeddings_.shape.node_width()); }
  std::vector<float> scores_of(std::span<const AskedTriple> triples) override;
  void scores(const AskedNodes& asked, std::int64_t first, std::int64_t count, float* out) override;

 private:
  const std::string model_ = "none";
  const Embeddings embeddings_;
  const std::vector<std::optional<std::uint32_t>> reverses_;
};

}  // namespace salient
