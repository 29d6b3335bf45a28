// engine/train/evaluation.h - validation and test of the model that is being trained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "engine/train/score.h"
#include "engine/train/signal_agreement.h"
#include "engine/train/train_options.h"
#include "engine/train/training_run.h"
#include "models/model.h"

namespace salient {

enum class EvaluationSet : std::uint8_t { kValid, kTest };

inline const char* name_of(EvaluationSet set) { return set == EvaluationSet::kValid ? "valid" : "test"; }

/// What computes predictions is kept from one evaluation to the next.
class Evaluation {
 public:
  Evaluation() = default;
  virtual ~Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  virtual Metric metric() const = 0;
  /// Whether there is anything to score.
  virtual bool has(EvaluationSet set) const = 0;

  /// A signal ends it early: signals.must_stop() holds then, and the score is of a part. Collective; blocks until done.
  /// The model is left in evaluation mode.
  /// @param epoch  whose model it is
  virtual Score score(EvaluationSet set, Model& model, int epoch) = 0;
};

/// As the options' task has it. @param run, signals, options  outlive it   @param model  that will be scored, on the
/// device    @throws as metric_of_run()
std::unique_ptr<Evaluation> make_evaluation(const TrainOptions& options, const TrainingRun& run,
                                            SignalAgreement& signals, const Model& model);

/// Of nodes. By resident predictions where the training steps are resident and the evaluation's fanouts allow them.
class NodeEvaluation final : public Evaluation {
 public:
  /// Logs a warning for a set without any known label; it is not scored.
  NodeEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals, const Model& model);

  Metric metric() const override { return metric_; }
  bool has(EvaluationSet set) const override { return !nodes_of(set).empty(); }

  /// Replaces the confusion matrix in the run directory, of up to kMaxConfusionClasses classes.
  Score score(EvaluationSet set, Model& model, int epoch) override;

 private:
  std::span<const NodeId> nodes_of(EvaluationSet set) const;
  void write_confusion_of(EvaluationSet set, int epoch, const Score& score);

  const TrainingRun& run_;
  SignalAgreement& signals_;
  const std::size_t batch_size_;
  const std::uint32_t seed_;
  const Metric metric_;
  const std::span<const NodeId> valid_, test_;      // empty if none of them has a label
  const std::unique_ptr<Predictions> predictions_;  // null without nodes
};

}  // namespace salient
