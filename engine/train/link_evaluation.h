// engine/train/link_evaluation.h - how well a model ranks the validation and test links among pairs that are none.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/infer/predictions.h"
#include "engine/train/evaluation.h"
#include "engine/train/evaluation_negatives.h"
#include "engine/train/link_model.h"
#include "engine/train/timed_pairs.h"

namespace salient {

/// Of links: MRR, hits@1, @3 and @10 of each link among its own negatives, as ogbl-citation2 has them, and ROC AUC and
/// average precision of links against negatives.
///
/// Negatives are those that the data set comes with. Where these are pairs of all links, ranks are among all of them,
/// and hits@1, 3, 10, 20, 50 and 100 the share of links strictly above the K-th best, as ogbl-collab, -ppa and -ddi
/// have them; hits@K of fewer than K negatives are left out. Without any they are LinkNegatives of key (0, 0, 0), the
/// same in every run and epoch; with a strict rule none is an entry of the graph, that is a training link. Rows of all
/// ends are computed once, from sampled neighbours as those of nodes are, and then scored block by block, each rank its
/// blocks. Results have the same bits for any number of ranks. The test may see the validation links, by the options.
/// Links that have times, and their negatives, are scored by TimedPairs instead, each at its time.
///
/// Memory: 4 bytes for each node and a row of those that are ends; not more with more links, but for 4 bytes for each
///         of at most kMaxComparedPairs pairs of AUC and average precision, or of one negative a link; of shared
///         negatives 4 bytes for each link and negative. Another graph for a test that sees validation links.
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

  /// [number] scores of pairs. @param pair(i)  below number    @param link(i)  number of the link that a pair is of
  using ScorePairs =
      std::function<std::vector<float>(std::size_t number, const std::function<NodePair(std::size_t)>& pair,
                                       const std::function<std::size_t(std::size_t)>& link)>;
  /// A set that is scored.
  struct Scored {
    const LinkTable& links;
    const EvaluationNegatives& negatives;
    ScorePairs of_pairs;
  };
  /// Calls use(first, count) for the blocks of this rank, of items a rank computes at a time.
  template <class Use>
  void for_blocks(std::size_t begin, std::size_t end, std::size_t block, std::size_t& number, Use use) const;

  const LinkTable& links_of(EvaluationSet set) const;
  const EvaluationNegatives& negatives_of(EvaluationSet set);
  const Ends& ends_of(EvaluationSet set);
  at::Tensor rows_of(EvaluationSet set, Model& model, const Ends& ends, double& seconds);
  ScorePairs scores_by_rows(const at::Tensor& rows, const LinkDecoder& decoder) const;
  ScorePairs scores_at_times(const LinkTable& links, Model& model, const LinkDecoder& decoder);
  /// int64 [number, 2] rows of the ends of pairs. @param pair(i)  below number
  template <class Pair>
  at::Tensor pairs_of(std::size_t number, Pair pair) const;
  void rank_among_own(const Scored& scored, Score& score) const;
  void rank_among_shared(const Scored& scored, Score& score) const;
  std::vector<float> scores_of(const Scored& scored, std::size_t number,
                               const std::function<NodePair(std::size_t)>& pair) const;

  const TrainOptions& options_;
  const TrainingRun& run_;
  SignalAgreement& signals_;
  const Metric metric_;
  const LinkRule rule_;
  const std::unique_ptr<const Dataset> for_test_;   // that sees validation links; null: the run's
  std::unique_ptr<const TrainingRun> test_run_{};   // of that
  const std::unique_ptr<Predictions> predictions_;  // null without links
  std::unique_ptr<Predictions> of_test_{};          // of for_test_
  std::unique_ptr<TimedPairs> timed_{};             // of links with times, instead
  std::array<Ends, 2> ends_{};                      // of each set, once it was scored, as the next
  std::array<std::optional<EvaluationNegatives>, 2> negatives_{};
  std::vector<NodeId> row_of_{};  // [V] of the set that is scored
};

}  // namespace salient
