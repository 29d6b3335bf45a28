// apps/train_run.cpp - see train_run.h.
#include "apps/train_run.h"

#include <optional>
#include <string>
#include <vector>

#include "apps/run_config.h"
#include "apps/train_warnings.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/number_text.h"
#include "engine/report/report_page.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trainer.h"
#include "engine/train/trials.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// A figure of each trial that has it; empty if there is none, for want of nodes.
std::vector<double> results_of_trials(const std::vector<TrainResult>& results, Figures TrainResult::*which,
                                      Metric metric) {
  std::vector<double> values;
  for (const TrainResult& result : results)
    if (const std::optional<double>& value = (result.*which)[metric]) values.push_back(*value);
  return values;
}

/// What the last lines show: the metric, and what people ask for beside it.
std::vector<Metric> shown_metrics(Metric metric, Task task, bool is_of_links) {
  std::vector<Metric> shown{metric};
  const auto add = [&](Metric other) {
    if (other != metric) shown.push_back(other);
  };
  if (is_of_links) {
    for (const Metric other : {Metric::kMrr, Metric::kHitsAt1, Metric::kHitsAt3, Metric::kHitsAt10, Metric::kHitsAt20,
                               Metric::kHitsAt50, Metric::kHitsAt100, Metric::kRocAuc, Metric::kAveragePrecision})
      add(other);
    return shown;
  }
  switch (task) {
    case Task::kMultiClass: add(Metric::kAccuracy); break;
    case Task::kMultiLabel: break;
    case Task::kRegression:
      add(Metric::kR2);
      add(Metric::kRmse);
      add(Metric::kMae);
      break;
  }
  return shown;
}

/// The stable last lines of a run, or of several that differ in their seed.
void print_results(const std::vector<TrainResult>& results, const TrainRun& run) {
  const fs::path& directory = run.directory;
  const bool is_of_links = predicts_links(run.options);
  const TrainResult& last = results.back();
  const auto print = [&](const std::string& set, Figures TrainResult::*which, const std::string& best_epoch) {
    std::string line;
    for (const Metric metric : shown_metrics(last.metric, run.dataset.task, is_of_links)) {
      const std::vector<double> values = results_of_trials(results, which, metric);
      if (values.empty()) continue;
      line.append(line.empty() ? " " : ", ").append(name_of(metric)).append(" ");
      line += results.size() == 1 ? figure_text(metric, values[0]) : to_text(spread_of_trials(values), values.size());
    }
    if (!line.empty()) log_result(set + line + (results.size() == 1 ? best_epoch : ""));
  };
  print("valid", &TrainResult::valid_figures, " (epoch " + std::to_string(last.best_epoch) + ")");
  print("test", &TrainResult::test_figures, "");
  log_result(timing_line(last.last_epoch));
  log_result("run directory " + directory.string());
  const bool has_next = !is_of_links || (!run.dataset.types.is_typed() && !run.dataset.has_link_times);
  if (results.size() == 1 && has_next)
    log_info("next: salient-infer --run " + directory.string() + " --nodes all " +
             (is_of_links ? "--top-k 10" : "--format csv"));
}

/// Does the work of a run directory; rank 0 keeps its run.json and its report true whatever happens.
/// @param work  fills about.result and returns the signal that ended it, or 0
/// @return      what work returns
template <class Work>
int with_run_json(const Session& session, const fs::path& directory, RunDescription about, Work&& work) {
  const auto write_status = [&](const std::string& status) {
    write_run_json(directory, about, status);
    refresh_report(directory);
  };
  session.on_rank_0([&] { write_status("running"); });
  try {
    const int signal = work(about);
    session.on_rank_0([&] { write_status(signal == 0 ? "finished" : "interrupted"); });
    return signal;
  } catch (const std::exception& error) {
    try {
      if (session.is_rank_0()) write_status(std::string("failed: ") + error.what());
    } catch (const Error&) {  // the disk may be what failed: the first reason is the one to report
      mark_as_failed(directory);
    }
    throw;
  }
}

TrainResult train_once(TrainRun& run, const TrainOptions& options, const fs::path& directory) {
  TrainResult result;
  (void)with_run_json(run.session, directory, run.about, [&](RunDescription& about) {
    const Session& session = run.session;
    result = Trainer(options, {run.dataset, run.data, session.device, *session.comm, run.plan, directory}).run();
    if (result.interrupted_by != 0) return result.interrupted_by;
    if (result.valid) about.result["best_epoch"] = result.best_epoch;
    result.valid_figures.for_each(
        [&](const std::string& name, Metric, double value) { about.result["valid_" + name] = value; });
    result.test_figures.for_each(
        [&](const std::string& name, Metric, double value) { about.result["test_" + name] = value; });
    return 0;
  });
  return result;
}

/// Trial `index` in its own directory, from its checkpoint if it has one.
TrainResult train_trial(TrainRun& run, int index) {
  const TrainOptions fresh = trial_options(run.options, run.directory, index, /*is_resumed=*/false);
  const fs::path folder = fresh.output.directory;
  std::string is_resumed;       // rank 0 sees the directory
  std::optional<RunLock> lock;  // a trial's directory is a run directory itself
  run.session.on_rank_0([&] {
    fs::create_directories(folder);
    lock.emplace(folder);
    is_resumed = has_checkpoint(folder / "checkpoints") ? "yes" : "no";
    write_config(folder, trial_options(run.said, run.directory, index, /*is_resumed=*/false));
    log_info("trial " + std::to_string(index + 1) + " of " + std::to_string(run.options.trials) + ", seed " +
             std::to_string(fresh.seed));
  });
  run.session.comm->broadcast(is_resumed);
  return train_once(run, trial_options(run.options, run.directory, index, is_resumed == "yes"), folder);
}

void add_spread(Facts& facts, const std::string& name, const std::vector<double>& values) {
  if (values.empty()) return;
  const TrialSpread spread = spread_of_trials(values);
  facts[name] = spread.mean;
  facts[name + "_deviation"] = spread.deviation;
}

std::vector<TrainResult> train_trials(TrainRun& run) {
  std::vector<TrainResult> results;
  (void)with_run_json(run.session, run.directory, run.about, [&](RunDescription& about) {
    for (int trial = 0; trial < run.options.trials; ++trial) {
      results.push_back(train_trial(run, trial));
      if (results.back().interrupted_by != 0) return results.back().interrupted_by;
    }
    about.result["trials"] = run.options.trials;
    for (const auto& [metric, name] : names_of(Metric{})) {
      add_spread(about.result, std::string("valid_") + name,
                 results_of_trials(results, &TrainResult::valid_figures, metric));
      add_spread(about.result, std::string("test_") + name,
                 results_of_trials(results, &TrainResult::test_figures, metric));
    }
    return 0;
  });
  return results;
}

}  // namespace

int carry_out(TrainRun& run) {
  const std::vector<TrainResult> results =
      run.options.trials > 1 ? train_trials(run) : std::vector{train_once(run, run.options, run.directory)};
  const int signal = results.back().interrupted_by;
  if (run.session.is_rank_0() && signal != 0)
    log_warning("interrupted; continue with salient-train --resume " + run.directory.string());
  if (run.session.is_rank_0() && signal == 0) {
    log_info("report: " + (run.directory / "report.html").string());
    print_results(results, run);
    warn_of_chance(run.dataset, results.back());
  }
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace salient
