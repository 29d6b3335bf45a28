// apps/train_directory.cpp - see train_directory.h.
#include "apps/train_directory.h"

#include <string>

#include "apps/run_config.h"
#include "core/console/log.h"
#include "engine/train/checkpoint.h"
#include "engine/train/run_model.h"
#include "engine/train/trials.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

bool is_resumed(const TrainRun& run) { return !run.options.output.resume.empty(); }

fs::path wanted_directory(const TrainRun& run) {
  return is_resumed(run) ? run.options.output.resume : run.options.output.directory;
}

/// Those of a resumed run must fit what is asked for, before any of its files is changed.
void check_checkpoints(const TrainRun& run, const fs::path& directory) {
  const int num_ranks = run.session.comm->size();
  if (run.options.trials == 1)
    return check_latest_checkpoint(directory / "checkpoints", checkpoint_identity(run.options, run.dataset, num_ranks));
  for (int trial = 0; trial < run.options.trials; ++trial) {
    const TrainOptions one = trial_options(run.options, directory, trial, /*is_resumed=*/true);
    const fs::path checkpoints = fs::path(one.output.directory) / "checkpoints";
    if (fs::exists(checkpoints / "latest"))
      check_latest_checkpoint(checkpoints, checkpoint_identity(one, run.dataset, num_ranks));
  }
}

}  // namespace

void check_directory(const TrainRun& run) {
  check_run_directory(wanted_directory(run), is_resumed(run));
  if (is_resumed(run)) check_checkpoints(run, wanted_directory(run));
}

std::optional<RunLock> take_directory(TrainRun& run) {
  std::optional<RunLock> lock;
  std::string name;
  run.session.on_rank_0([&] {
    const fs::path directory = make_run_directory(
        wanted_directory(run), run.dataset.name + "-" + name_of(run.options.model.kind), is_resumed(run));
    lock.emplace(directory);
    if (is_resumed(run)) check_checkpoints(run, directory);
    log_to_file((directory / "log.txt").string());
    write_config(directory, run.said);
    name = directory.string();
  });
  run.session.comm->broadcast(name);
  run.directory = name;
  return lock;
}

}  // namespace salient
