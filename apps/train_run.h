// apps/train_run.h - a training run on this rank: what it works with, and its way from the options to the result.
#pragma once

#include <filesystem>

#include "apps/session.h"
#include "engine/plan/run_plan.h"
#include "engine/report/run_directory.h"
#include "engine/train/train_options.h"
#include "loaders/resident_data.h"
#include "store/dataset.h"

namespace salient {

struct TrainRun {
  Session session;
  TrainOptions said{};     ///< as the user chose them, `auto` and 0 included; what config.toml keeps
  TrainOptions options{};  ///< what they mean on this machine
  Dataset dataset{};
  RunPlan plan{};                     ///< where it goes, and how batches are computed
  ResidentData data{};                ///< what of it is in GPU memory
  RunDescription about{};             ///< for run.json
  std::filesystem::path directory{};  ///< of the run; only rank 0 needs to see it
};

/// Trains in `run.directory`, as many trials as were asked for, and prints the results. Rank 0 keeps run.json and the
/// report up to date, also when it fails. Collective. @return the exit code
int carry_out(TrainRun& run);

}  // namespace salient
