// engine/train/objective.h - the loss that a step minimises, and what an epoch's steps sum to.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "models/describe/regression_loss.h"
#include "store/data_schema.h"

namespace salient {

/// Cross entropy of softmax(logits) with (1 - s) * one-hot + s / num_classes, s = label smoothing (Szegedy et al., CVPR
/// 2016), summed over the rows; torch's CrossEntropyLoss(label_smoothing=s, reduction="sum").
///
/// @param logits  [S, C] f32   @param labels  int64 [S], -1 = unlabelled: adds nothing
/// @param class_weights  f32 [C] on the same device: a row counts as its class does, and of s each class, as torch's
///                       weight; undefined: all count alike
at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, double label_smoothing,
                             const at::Tensor& class_weights = {});

/// The losses of the known values, summed. @param outputs, values  f32 [S, T], in the same unit; NaN = not known
at::Tensor regression_loss_sum(const at::Tensor& outputs, const at::Tensor& values, RegressionLoss loss);

/// What a step minimises.
struct LossSpec {
  double label_smoothing = 0;          ///< of classes and labels
  std::vector<float> class_weights{};  ///< [C] of one class a node, see class_weights.h; empty: all count alike
  RegressionLoss regression = RegressionLoss::kMse;
  TargetScales target_scales{};  ///< of regression: the unit of outputs
};

/// The loss of each step of an epoch and its number of right predictions, kept on the device: no step waits. A loss is
/// summed over known labels, one of a seed or several. A step minimises that sum over all ranks, divided by
/// EpochSeeds::loss_divisor() of the global batch, so the result is the same for any number of ranks.
class Objective {
 public:
  Objective(const LossSpec& spec, std::size_t steps_per_epoch, at::Device device);

  void start_epoch();

  /// Records this rank's share of a step.
  ///
  /// @param logits  [S, C] f32
  /// @param y       int32 [S], classes: cross_entropy_sum(); int8 [S, C], several labels: multilabel_bce_loss_sum(); or
  ///                f32 [S, C], values as the data set has them: regression_loss_sum() in units of their deviations
  /// @return        the loss, summed over the known labels, with its graph
  at::Tensor loss_sum(std::size_t step, const at::Tensor& logits, const at::Tensor& y);

  /// The same of a loss that was computed elsewhere: without right predictions. @return  `sum`
  at::Tensor record(std::size_t step, at::Tensor sum);

  struct StepSums {
    double loss = 0;
    std::int64_t correct = 0;  ///< labels predicted right; 0 of values
  };
  /// Steps [first, end) over all ranks. Waits for the device. Collective.
  /// @param epoch   for the message
  /// @param inputs  says what the data are like, for the message about the run's first step: no update came before it,
  ///                so its loss depends on the data. Called on rank 0.
  /// @throws RankError{kDiverged} on all ranks, naming the first step whose loss is not finite, and the ranks.
  std::vector<StepSums> collect(Communicator& comm, int epoch, std::size_t first, std::size_t end,
                                const std::function<std::string()>& inputs) const;

  /// [steps_per_epoch, 2] of the epoch: loss and right predictions of each step, on the device. For what computes a
  /// step without loss_sum().
  double* sums() const { return sums_.mutable_data_ptr<double>(); }

  /// The first steps of an epoch that the device has told of.
  struct Told {
    double loss = 0;        ///< of this rank, summed
    std::size_t steps = 0;  ///< from start_epoch() on: those that were trained; 0 = nothing is known yet
  };
  /// For who watches: on a GPU what the call before asked for, as it does not wait, and asks again.
  /// @param first, end  steps that were trained since start_epoch()
  Told glance(std::size_t first, std::size_t end);

 private:
  double label_smoothing_;
  at::Tensor class_weights_;  // f32 [C], or undefined
  RegressionLoss regression_;
  at::Tensor means_, deviations_;  // f32 [C] of regression
  at::Tensor sums_;                // [steps_per_epoch, 2] f64: loss, correct; the counts are exact

  // Of glance().
  at::Tensor seen_;                  // sums_ as they were when they were asked for, in pinned memory; on a CPU sums_
  std::optional<c10::Event> asked_;  // behind the copy
  std::size_t asked_end_ = 0;
  Told told_{};
};

}  // namespace salient
