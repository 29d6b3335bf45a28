// engine/train/train_options.h - everything that a training run depends on, as plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/console/console_options.h"
#include "engine/comm/comm_options.h"
#include "engine/device/machine_options.h"
#include "engine/plan/fanouts_of.h"
#include "engine/plan/step_kind.h"
#include "engine/plan/time_options.h"
#include "engine/report/metric.h"
#include "engine/train/schedule.h"
#include "models/describe/decoder_kind.h"
#include "models/describe/link_loss.h"
#include "models/describe/model_options.h"
#include "models/describe/regression_loss.h"
#include "sampler/link_rule.h"
#include "sampler/sampling_rule.h"
#include "sampler/seed_dealing.h"
#include "store/label_table.h"

namespace salient {

/// Which data set.
struct DataOptions {
  std::string dataset{};  ///< a name below `root`, a directory, or synthetic:NAME[:scale]
  std::string root = "data";

  bool operator==(const DataOptions&) const = default;
};

inline constexpr int kAutoBatchSize = 0;  ///< of a command line: auto_batch_size() decides

/// The batches of training.
struct BatchOptions {
  std::vector<int> fanout = {15, 10, 5};  ///< neighbours kept per node, the seeds' own hop first; -1 keeps all
  FanoutsOf fanout_of{};                  ///< of relations of a typed graph, instead of `fanout`; in evaluation too
  Draw draw = Draw::kUniform;             ///< of those, in evaluation too
  TimeOptions time{};                     ///< which edges a seed sees, in evaluation too
  int size = 1024;                        ///< seeds per rank and step
  int global_size = 0;                    ///< seeds per step over all ranks; 0 = ranks x size
  DealKind deal = DealKind::kEven;        ///< of those to the ranks

  bool operator==(const BatchOptions&) const = default;
};

/// How the parameters move.
struct OptimisationOptions {
  int epochs = 20;
  double lr = 0.003;
  ScheduleKind schedule = ScheduleKind::kConstant;
  double warmup = 0;            ///< epochs over which the step size rises from 0
  double plateau_factor = 0.5;  ///< of ScheduleKind::kPlateau, as the next
  int plateau_patience = 10;
  double weight_decay = 0;
  double label_smoothing = 0;
  std::string class_weights = "none";    ///< or "balanced", or a file: class_weights_of()
  std::optional<RegressionLoss> loss{};  ///< of regression; none: kMse, and of other tasks cross entropy

  bool operator==(const OptimisationOptions&) const = default;
};

/// How good the model is, and what follows from it.
struct EvaluationOptions {
  std::optional<Metric> metric{};  ///< that chooses the best epoch; none: what suits the data set
  std::vector<int> fanout = {20, 20, 20};
  int batch_size = 1024;
  int every = 1;     ///< epochs between validations
  int patience = 0;  ///< epochs without a better validation result before the run ends; 0 = never

  bool operator==(const EvaluationOptions&) const = default;
};

/// What a run is to predict.
enum class RunTask : std::uint8_t {
  kMultiClass,  ///< as the next two, the data set's Task
  kMultiLabel,
  kRegression,
  kLink,
};

constexpr auto names_of(RunTask) {
  return std::to_array<EnumName<RunTask>>({{RunTask::kMultiClass, "multi-class"},
                                           {RunTask::kMultiLabel, "multi-label"},
                                           {RunTask::kRegression, "regression"},
                                           {RunTask::kLink, "link"}});
}

/// What the test's messages are.
enum class TestMessages : std::uint8_t {
  kTrain,       ///< the training links, as everywhere
  kTrainValid,  ///< the validation links, too, where the rules of a benchmark allow it, as ogbl-collab's do
};

constexpr auto names_of(TestMessages) {
  return std::to_array<EnumName<TestMessages>>(
      {{TestMessages::kTrain, "train"}, {TestMessages::kTrainValid, "train+valid"}});
}

/// Of RunTask::kLink: how links are scored, and what against.
struct LinkTrainOptions {
  DecoderKind decoder = DecoderKind::kDot;
  LinkLoss loss = LinkLoss::kBce;
  LinkRule rule{};           ///< of training; evaluation has uniform negatives, eval_negatives of them
  int eval_negatives = 100;  ///< of each validation and test link of a data set that comes with none
  TestMessages test_messages = TestMessages::kTrain;
  bool has_pair_features = false;  ///< of links with times (loaders/pair_features.h), scored beside the decoder

  bool operator==(const LinkTrainOptions&) const = default;
};

/// What a run leaves behind.
struct OutputOptions {
  std::string directory{};   ///< of the run; empty = a new one
  int checkpoint_every = 1;  ///< epochs; 0 = only the best and the last
  int keep = 3;              ///< checkpoints beside the best one
  std::string resume{};      ///< the run directory that is continued
  bool trace = false;

  bool operator==(const OutputOptions&) const = default;
};

struct TrainOptions {
  DataOptions data{};
  std::optional<RunTask> task{};  ///< that the data set must have; none: any but links
  ModelOptions model{};           ///< but for in_dim, num_classes and seed, which model_options_of() fills in
  BatchOptions batches{};
  LinkTrainOptions links{};
  OptimisationOptions optimisation{};
  EvaluationOptions evaluation{};
  MachineOptions machine{};
  std::optional<Precision> precision{};  ///< none: what resolve() finds
  std::optional<StepKind> step{};        ///< none: resident where the run allows it
  std::vector<float> class_weights{};    ///< no option: what class_weights_of() makes of optimisation.class_weights
  CommOptions comm{};
  OutputOptions output{};
  ConsoleOptions console{};
  std::uint32_t seed = 1;  ///< of all randomness
  int trials = 1;          ///< runs with the seeds seed, seed + 1, ...
  bool deterministic = false;

  bool operator==(const TrainOptions&) const = default;
};

inline bool predicts_links(const TrainOptions& options) { return options.task == RunTask::kLink; }

/// BatchOptions::size of a run that has kAutoBatchSize: 1024, or the largest power of two, from 16 on, with which an
/// epoch has ten steps.
inline int auto_batch_size(std::size_t num_train, int num_ranks) {
  int size = 1024;
  while (size > 16 && static_cast<std::size_t>(size) * static_cast<std::size_t>(num_ranks) * 10 > num_train) size /= 2;
  return size;
}

/// Seeds of a step, over all ranks.
inline std::size_t global_batch_of(const TrainOptions& options, int num_ranks) {
  const BatchOptions& batches = options.batches;
  if (batches.global_size > 0) return static_cast<std::size_t>(batches.global_size);
  return static_cast<std::size_t>(batches.size) * static_cast<std::size_t>(num_ranks);
}

/// The most seeds of a step that a rank gets.
inline std::size_t largest_share(const TrainOptions& options, std::size_t num_seeds, int num_ranks) {
  return largest_share(std::min(num_seeds, global_batch_of(options, num_ranks)), num_ranks, options.batches.deal);
}

}  // namespace salient
