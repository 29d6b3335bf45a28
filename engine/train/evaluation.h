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

/// By resident predictions where the training steps are resident and the evaluation's fanouts allow them. What computes
/// them is kept from one evaluation to the next.
class Evaluation {
 public:
  /// Logs a warning for a set without any known label; it is not scored.
  /// @param run, signals  outlive this   @param model  that will be scored, on the device
  /// @throws as metric_for().
  Evaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals, const Model& model);

  Metric metric() const { return metric_; }
  bool has_nodes(EvaluationSet set) const { return !nodes_of(set).empty(); }

  /// Replaces the confusion matrix in the run directory, of up to kMaxConfusionClasses classes. A signal ends it early:
  /// signals.must_stop() holds then, and the score counts part of the nodes. Collective; blocks until done. The model
  /// is left in evaluation mode.
  /// @param epoch  whose model it is
  Score score(EvaluationSet set, Model& model, int epoch);

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
