// engine/train/typed_link_evaluation.h - how well an encoder and a decoder rank links that have relations.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engine/infer/predictions.h"
#include "engine/links/embeddings.h"
#include "engine/links/link_ranks.h"
#include "engine/rank/known_links.h"
#include "engine/train/evaluation.h"
#include "engine/train/link_model.h"

namespace salient {

/// The decoder's rows of relations, and room for rows of all nodes, as those of an embedding model.
/// @param num_relations  of the graph    @throws Error{kInternal} of mlp, whose scores are of no pair of rows
Embeddings embeddings_of(const LinkDecoder& decoder, std::int64_t num_nodes, std::int64_t num_relations);

/// Ranks of both sides by engine/links/link_ranks.h, as embedding models have them: rows of all nodes of the types that
/// links are between once, from sampled neighbours, then every node of the type that is asked for, without those that a
/// link of any split has; or the negatives that the data set comes with. By mlp, whose scores are of no pair of rows,
/// among these, or among uniform ones, LinkNegatives of key (0, 0, 0). Each rank takes some of the links; results have
/// the same bits for any number of ranks.
///
/// Memory: a row for each node, 32 bytes for each link, and 64 MB.
class TypedLinkEvaluation final : public Evaluation {
 public:
  /// As NodeEvaluation.
  TypedLinkEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                      const Model& model);

  Metric metric() const override { return metric_; }
  bool has(EvaluationSet set) const override { return links_of(set).size() > 0; }

  /// Of the test writes test_relations.csv into the run directory: ranks_csv().
  Score score(EvaluationSet set, Model& model, int epoch) override;

 private:
  const LinkTable& links_of(EvaluationSet set) const;
  std::vector<float> rows_of(EvaluationSet set, Model& model);
  RanksOfSides ranks_of(EvaluationSet set, const LinkDecoder& decoder, std::vector<float> rows) const;
  RanksOfSides ranks_by_pairs(EvaluationSet set, const LinkDecoder& decoder, std::vector<float> rows) const;

  const TrainOptions& options_;
  const TrainingRun& run_;
  SignalAgreement& signals_;
  const Metric metric_;
  const std::vector<std::optional<std::uint32_t>> heads_;  // [R] as head_relations()
  const KnownLinks known_;
  const std::unique_ptr<Predictions> predictions_;  // null without links
};

}  // namespace salient
