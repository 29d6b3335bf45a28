// apps/link_scorer.h - a run that predicts links as a function: scores of pairs, and the likeliest links of nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/best_links.h"
#include "apps/predictor.h"
#include "store/dataset.h"

namespace salient {

/// Holds the data set and a row for each of its nodes. Threads: one call at a time.
class LinkScorer {
 public:
  LinkScorer() = default;
  LinkScorer(const LinkScorer&) = delete;
  LinkScorer& operator=(const LinkScorer&) = delete;
  virtual ~LinkScorer() = default;

  virtual const Dataset& dataset() const = 0;
  virtual PredictorFacts facts() const = 0;
  virtual std::string decoder() const = 0;
  /// Of a knowledge graph; none for a name that no relation has, or a reverse.
  virtual std::optional<std::uint16_t> relation_named(std::string_view name) const = 0;

  /// The score of one link, as salient-infer gives it. @param relation  of a knowledge graph
  virtual float score(std::uint16_t relation, const NodePair& link) = 0;

  /// The same of nodes and candidates, as LinkScores has them, and how many of them at a time.
  virtual void scores(const BestLinks& wanted, std::span<const NodeId> nodes, std::int64_t first, std::int64_t count,
                      float* out) = 0;
  virtual RankBlocks blocks() const = 0;
};

/// Of whichever model the run has; null for a run that predicts nodes.
/// @throws as Predictor and open_triple_model()
/// Cost: of a run with an encoder, predicts all nodes once
std::unique_ptr<LinkScorer> open_link_scorer(const std::string& run, const PredictorOptions& options);

}  // namespace salient
