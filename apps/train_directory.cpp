// apps/train_directory.cpp - see train_directory.h.
#include "apps/train_directory.h"

#include <string>
#include <vector>

#include "apps/resumed_options.h"
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
  const auto check = [&](const fs::path& folder, const TrainOptions& options) {
    if (has_checkpoint(folder / "checkpoints"))
      check_latest_checkpoint(folder / "checkpoints",
                              checkpoint_identity(options, run.dataset, run.session.comm->size()));
  };
  if (run.options.trials == 1) return check(directory, run.options);
  for (int trial = 0; trial < run.options.trials; ++trial) {
    const TrainOptions one = trial_options(run.options, directory, trial, /*is_resumed=*/true);
    check(one.output.directory, one);
  }
}

/// What is not as it was before the run ended, and what that does to the step size. Of trials the first one's epochs.
void say_what_changed(const TrainRun& run, const TrainOptions& before, const fs::path& directory) {
  const TrainOptions now = as_written(run.said);
  const std::vector<std::string> changes = option_changes(before, now);
  for (const std::string& change : changes) log_info("resumed with another option: " + change);
  if (changes.empty() || run.options.trials > 1 || !has_checkpoint(directory / "checkpoints")) return;
  const int epoch = read_origin(directory / "checkpoints", "latest").epoch;
  if (const std::string line = step_size_change(before.optimisation, now.optimisation, epoch); !line.empty())
    log_warning(line);
}

}  // namespace

void check_directory(const TrainRun& run) {
  check_run_directory(wanted_directory(run), is_resumed(run));
  if (!is_resumed(run)) return;
  check_checkpoints(run, wanted_directory(run));
  say_what_changed(run, read_written_options(wanted_directory(run)), wanted_directory(run));
}

std::optional<RunLock> take_directory(TrainRun& run) {
  std::optional<RunLock> lock;
  std::string name;
  run.session.on_rank_0([&] {
    const fs::path directory = make_run_directory(
        wanted_directory(run), run.dataset.name + "-" + name_of(run.options.model.kind), is_resumed(run));
    lock.emplace(directory);
    std::optional<TrainOptions> before;
    if (is_resumed(run)) {
      check_checkpoints(run, directory);
      before = read_written_options(directory);
    }
    write_config(directory, run.said);  // first: with it the run can be resumed, wherever it ends
    log_to_file((directory / "log.txt").string());
    if (before) say_what_changed(run, *before, directory);
    name = directory.string();
  });
  run.session.comm->broadcast(name);
  run.directory = name;
  return lock;
}

}  // namespace salient
