// apps/predictor_batches.h - where a predictor's data set is, and what computes its batches: resident or eager.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/device/planned_data.h"
#include "engine/infer/predictions.h"
#include "engine/plan/step_kind.h"
#include "engine/train/train_options.h"
#include "loaders/batch_loader.h"
#include "models/model.h"
#include "models/numerics.h"
#include "store/dataset.h"

namespace salient {

/// What a predictor predicts with; all of it outlives the batches.
struct PredictedWith {
  const TrainOptions& options;  ///< of the run
  Numerics numerics;
  const Dataset& dataset;
  const Model& model;  ///< on the device
};

class PredictorBatches {
 public:
  /// On a GPU batches are resident where model and fanouts allow it, and graph and features fit into its memory, to
  /// which they are copied then; else eager, with data on the host. One line of the log says which. Blocks.
  ///
  /// @param loading  but for its data
  /// @param step     none: resident where it can be
  /// @throws Error{kNoDevice}, Error{kUsage} where it is to be resident and cannot be
  PredictorBatches(const RankPlace& place, const PredictedWith& with, LoaderOptions loading,
                   std::optional<StepKind> step);

  Predictions& predictions() { return *predictions_; }

  /// Those that have every layer's result, too; where predictions() are resident they are made by the first call.
  Predictions& eager();

 private:
  std::function<std::unique_ptr<Predictions>()> make_eager_;  ///< null: predictions_ is eager
  ResidentData data_;
  std::unique_ptr<Predictions> predictions_, eager_;
};

}  // namespace salient
