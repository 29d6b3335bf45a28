// engine/train/link_evaluation.h - how well a model ranks the validation and test links among pairs that are none.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/infer/predictions.h"
#include "engine/train/evaluation.h"
#include "engine/train/link_model.h"

namespace salient {

/// Of links: MRR, hits@1, @3 and @10 of each link among its own negatives, as ogbl-citation2 has them, and ROC AUC and
/// average precision of links against negatives.
///
/// Negatives are LinkNegatives of key (0, 0, 0), the same in every run and epoch; with a strict rule none is an entry
/// of the graph, that is a training link. Rows of all ends are computed once, from sampled neighbours as those of nodes
/// are, and then scored block by block, each rank its blocks. Results have the same bits for any number of ranks.
///
/// Memory: 4 bytes for each node and a row of those that are ends; not more with more links, but for 4 bytes for each
///         of at most kMaxComparedPairs pairs of AUC and average precision, or of one negative a link.
class LinkEvaluation final : public Evaluation {
 public:
  /// AUC and average precision take all negatives of a link, or as many as make no more pairs than this, at least one.
  static constexpr std::size_t kMaxComparedPairs = std::size_t{1} << 22;

  /// As NodeEvaluation.
  LinkEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals, const Model& model);

  Metric metric() const override { return metric_; }
  bool has(EvaluationSet set) const override { return links_of(set).size() > 0; }
  Score score(EvaluationSet set, Model& model, int epoch) override;

 private:
  /// The nodes that are ends of a set's pairs, ascending.
  using Ends = std::vector<NodeId>;

  const LinkTable& links_of(EvaluationSet set) const;
  const Ends& ends_of(EvaluationSet set);
  at::Tensor rows_of(EvaluationSet set, Model& model, const Ends& ends, double& seconds);
  at::Tensor pairs_of(const LinkTable& links, std::size_t first, std::size_t count) const;
  void rank_links(const LinkTable& links, const at::Tensor& rows, const LinkDecoder& decoder, Score& score) const;

  const TrainOptions& options_;
  const TrainingRun& run_;
  SignalAgreement& signals_;
  const Metric metric_;
  const LinkRule rule_;
  const std::unique_ptr<Predictions> predictions_;  // null without links
  std::array<Ends, 2> ends_{};                      // of each set, once it was scored
  std::vector<NodeId> row_of_{};                    // [V] of the set that is scored
};

}  // namespace salient
