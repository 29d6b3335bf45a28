// engine/train/link_rows.h - rows of the ends of links, from sampled neighbours, on every rank.
#pragma once

#include <span>

#include "engine/comm/communicator.h"
#include "engine/infer/predictions.h"
#include "engine/train/evaluation.h"
#include "engine/train/signal_agreement.h"
#include "engine/train/train_options.h"
#include "engine/train/training_run.h"
#include "models/model.h"

namespace salient {

/// For which links. Borrows all.
struct LinkRowsOf {
  const TrainOptions& options;
  const TrainingRun& run;
  SignalAgreement& signals;
  EvaluationSet set;
};

/// Sets rows to those of `nodes`, as the encoder predicts them; the same on every rank, of which each computes some.
/// @param rows  [nodes, hidden width] 0
/// @return      how long it took; after a signal, which signals.must_stop() tells, rows are of a part
/// @throws Error{kDiverged} where a row is not of numbers. Collective
double compute_rows(const LinkRowsOf& of, Model& model, Predictions& predictions, std::span<const NodeId> nodes,
                    std::span<float> rows);

/// Values become the sums over ranks, of which all but one have 0: exact. Collective.
void share_values(Communicator& comm, std::span<float> values);

/// @throws Error{kDiverged} on all ranks where one is not a number
void require_numbers(Communicator& comm, std::span<const float> scores);

}  // namespace salient
