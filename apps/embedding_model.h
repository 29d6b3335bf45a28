// apps/embedding_model.h - an embedding model of a knowledge graph with its data set: what scores links by names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/link_command.h"
#include "engine/links/embeddings.h"
#include "engine/rank/known_links.h"
#include "store/dataset.h"

namespace salient {

/// The best checkpoint of a run, or an encoder's rows with the relations of its decoder.
class EmbeddingModel {
 public:
  /// @param said  another data set than the run's, if it names one
  /// @throws Error{kNoInput}, Error{kBadData} for a run or data set that is missing, damaged or of another one
  EmbeddingModel(const std::filesystem::path& run, const DataOptions& said, const LinkRunOptions& trained);

  /// The same of rows that an encoder has computed.
  /// @param dataset   shares what it points to   @param reverses  [relations] by which heads are asked for
  EmbeddingModel(const Dataset& dataset, Embeddings embeddings, std::vector<std::optional<std::uint32_t>> reverses)
      : dataset_(dataset), embeddings_(std::move(embeddings)), reverses_(std::move(reverses)) {}

  const Dataset& dataset() const { return dataset_; }
  std::int64_t width() const { return embeddings_.shape.node_width(); }

  /// None for a name that no relation has, or a reverse.
  std::optional<std::uint16_t> relation_named(std::string_view name) const;

  /// The rows of queries, [nodes, width].
  std::vector<float> query_rows(LinkSide side, std::uint16_t relation, std::span<const NodeId> nodes) const;

  /// As LinkScores. @param queries  of query_rows()    Runs on the caller's oneTBB arena.
  void score(std::span<const float> queries, std::int64_t first, std::int64_t count, float* out) const;

 private:
  const Dataset dataset_;
  const Embeddings embeddings_;
  const std::vector<std::optional<std::uint32_t>> reverses_;
};

}  // namespace salient
