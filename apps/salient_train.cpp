// apps/salient_train.cpp - argv -> options -> a training run.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/advice.h"
#include "apps/open_named_dataset.h"
#include "apps/passive_openmp.h"
#include "apps/placement.h"
#include "apps/run_config.h"
#include "apps/session.h"
#include "apps/train_command.h"
#include "apps/versions.h"
#include "core/console/log.h"
#include "core/console/trace.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/host/program.h"
#include "core/number_text.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/planned_data.h"
#include "engine/report/report_page.h"
#include "engine/report/run_directory.h"
#include "engine/train/checkpoint.h"
#include "engine/train/run_model.h"
#include "engine/train/trainer.h"
#include "engine/train/training_needs.h"
#include "engine/train/trials.h"
#include "store/dataset_name.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

constexpr const char* kProgram = "salient-train";
constexpr double kControlTimeout = 300;  // seconds; before --comm-timeout is known

/// Options that may differ between hosts.
constexpr std::string_view kOwnToAHost[] = {"data-root", "workers", "threads", "slots", "progress", "log-level", "out"};

void print_help() {
  std::cout << "salient-train - trains a graph neural network by sampled mini-batches\n\n"
               "  salient-train --dataset wordnet\n"
               "  salient-train --dataset data/my-graph --fanout 10,5 --hidden 128 --device cuda\n\n"
               "options (with their defaults); SALIENT_NAME variables and --config FILE.toml set them too:\n";
  options::print_help(std::cout, TrainCommand{});
  std::cout << std::flush;
}

RunDescription describe_run(const Dataset& dataset, const DataResidency& residency, const ComputeDevice& device,
                            const Communicator& comm) {
  RunDescription run{.program = std::string(kProgram) + " " + kVersion, .versions = library_versions()};
  run.machine = {{"host", host_name()},
                 {"cpu", cpu_model()},
                 {"cores", num_usable_cores()},
                 {"device", device.name()},
                 {"ranks", comm.size()},
                 {"communication", std::string(comm.name())},
                 {"features", name_of(residency.features)},
                 {"sampler", name_of(residency.graph)}};
  if (residency.features == Residency::kCached)
    run.machine["cached_rows"] = static_cast<std::int64_t>(residency.cached_rows);
  run.dataset = {{"name", dataset.name},
                 {"source", dataset.source_kind},
                 {"fingerprint", dataset.fingerprint},
                 {"nodes", static_cast<std::int64_t>(dataset.num_nodes())},
                 {"entries", dataset.num_edges()},
                 {"task", name_of(dataset.task)},
                 {dataset.task == Task::kMultiLabel ? "labels" : "classes", dataset.num_classes}};
  return run;
}

/// One of the two results of each trial; empty if there is none, for want of nodes.
std::vector<double> of_trials(const std::vector<TrainResult>& results, std::optional<double> TrainResult::*which) {
  std::vector<double> values;
  for (const TrainResult& result : results)
    if (result.*which) values.push_back(*(result.*which));
  return values;
}

/// The stable last lines of a run, or of several that differ in their seed.
void print_results(const std::vector<TrainResult>& results, const std::filesystem::path& directory) {
  const TrainResult& last = results.back();
  const auto print = [&](const std::string& set, const std::vector<double>& values, const std::string& best_epoch) {
    if (values.empty()) return;
    const bool is_one = results.size() == 1;
    log_result(set + " " + last.metric + " " +
               (is_one ? fixed(values[0], 4) + best_epoch : to_text(spread_of_trials(values), values.size())));
  };
  print("valid", of_trials(results, &TrainResult::valid), " (epoch " + std::to_string(last.best_epoch) + ")");
  print("test", of_trials(results, &TrainResult::test), "");
  log_result(timing_line(last.last_epoch));
  log_result("run directory " + directory.string());
}

/// Does the work of a run directory; rank 0 keeps its run.json and its report true whatever happens.
/// @param work  fills run.result. @return the signal that ended it, or 0
/// @return      the same
template <class Work>
int with_run_json(const std::filesystem::path& directory, RunDescription run, Communicator& comm, Work&& work) {
  const auto write_status = [&](const std::string& status) {
    if (comm.rank() != 0) return;
    write_run_json(directory, run, status);
    refresh_report(directory);
  };
  together(comm, [&] { write_status("running"); });
  try {
    const int interrupted_by = work(run);
    together(comm, [&] { write_status(interrupted_by == 0 ? "finished" : "interrupted"); });
    return interrupted_by;
  } catch (const std::exception& error) {
    try {
      write_status(std::string("failed: ") + error.what());
    } catch (const Error&) {  // the disk may be what failed: the first reason is the one to name
      mark_as_failed(directory);
    }
    throw;
  }
}

TrainResult train_once(const TrainOptions& options, const TrainingRun& training, const RunDescription& about) {
  TrainResult result;
  (void)with_run_json(training.directory, about, training.comm, [&](RunDescription& run) {
    result = Trainer(options, training).run();
    if (result.interrupted_by != 0) return result.interrupted_by;
    if (result.valid) {
      run.result["best_epoch"] = result.best_epoch;
      run.result["valid_" + result.metric] = *result.valid;
    }
    if (result.test) run.result["test_" + result.metric] = *result.test;
    return 0;
  });
  return result;
}

/// Trial `index` in its own directory, from its checkpoint if it has one.
TrainResult train_trial(const TrainOptions& all, int index, const TrainingRun& trials, const RunDescription& about) {
  Communicator& comm = trials.comm;
  const std::filesystem::path& directory = trials.directory;
  std::string is_resumed;       // rank 0 sees the directory
  std::optional<RunLock> lock;  // a trial's directory is a run directory itself
  together(comm, [&] {
    const std::filesystem::path folder = trial_options(all, directory, index, false).output.directory;
    if (comm.rank() != 0) return;
    std::filesystem::create_directories(folder);
    lock.emplace(folder);
    is_resumed = std::filesystem::exists(folder / "checkpoints" / "latest") ? "yes" : "no";
    write_config(folder, trial_options(all, directory, index, false));
  });
  comm.broadcast(is_resumed);
  const TrainOptions options = trial_options(all, directory, index, is_resumed == "yes");
  if (comm.rank() == 0)
    log_info("trial " + std::to_string(index + 1) + " of " + std::to_string(all.trials) + ", seed " +
             std::to_string(options.seed));
  return train_once(options, {trials.dataset, trials.data, trials.device, comm, options.output.directory}, about);
}

/// @return  the signal that ended it, or 0
int train_trials(const TrainOptions& options, const TrainingRun& trials, const RunDescription& about,
                 std::vector<TrainResult>& results) {
  return with_run_json(trials.directory, about, trials.comm, [&](RunDescription& run) {
    for (int trial = 0; trial < options.trials; ++trial) {
      results.push_back(train_trial(options, trial, trials, about));
      if (results.back().interrupted_by != 0) return results.back().interrupted_by;
    }
    run.result["trials"] = options.trials;
    const auto add = [&](const std::string& set, const std::vector<double>& values) {
      if (values.empty()) return;
      const TrialSpread spread = spread_of_trials(values);
      run.result[set + "_" + results.back().metric] = spread.mean;
      run.result[set + "_" + results.back().metric + "_deviation"] = spread.deviation;
    };
    add("valid", of_trials(results, &TrainResult::valid));
    add("test", of_trials(results, &TrainResult::test));
    return 0;
  });
}

/// @return the exit code
int train_and_report(const TrainOptions& options, const TrainingRun& training, const RunDescription& about) {
  const std::filesystem::path& directory = training.directory;
  const Communicator& comm = training.comm;
  std::vector<TrainResult> results;
  if (options.trials > 1)
    (void)train_trials(options, training, about, results);
  else
    results.push_back(train_once(options, training, about));
  if (const int signal = results.back().interrupted_by; signal != 0) {
    if (comm.rank() == 0) log_warning("interrupted; continue with salient-train --resume " + directory.string());
    return 128 + signal;
  }
  if (comm.rank() == 0) {
    log_info("report: " + (directory / "report.html").string());
    print_results(results, directory);
  }
  return 0;
}

/// The checkpoints that a resumed run goes on from must fit what is asked for, before any of its files is changed.
void check_checkpoints(const std::filesystem::path& directory, const TrainOptions& options, const Dataset& dataset,
                       int num_ranks) {
  if (options.trials == 1)
    return check_latest_checkpoint(directory / "checkpoints", checkpoint_identity(options, dataset, num_ranks));
  for (int trial = 0; trial < options.trials; ++trial) {
    const TrainOptions one = trial_options(options, directory, trial, /*is_resumed=*/true);
    const std::filesystem::path checkpoints = std::filesystem::path(one.output.directory) / "checkpoints";
    if (std::filesystem::exists(checkpoints / "latest"))
      check_latest_checkpoint(checkpoints, checkpoint_identity(one, dataset, num_ranks));
  }
}

/// What make_common_run_directory() would say, without a trace on disk.
void check_directory(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  const bool is_resumed = !options.output.resume.empty();
  check_run_directory(is_resumed ? options.output.resume : options.output.directory, is_resumed);
  if (is_resumed) check_checkpoints(options.output.resume, options, dataset, num_ranks);
}

/// Rank 0 makes the run directory and keeps it to itself; all ranks learn its name.
std::filesystem::path make_common_run_directory(Communicator& comm, TrainOptions& options, const Dataset& dataset,
                                                std::optional<RunLock>& lock) {
  together(comm, [&] {
    if (comm.rank() != 0) return;
    const bool is_resumed = !options.output.resume.empty();
    const std::filesystem::path directory =
        make_run_directory(is_resumed ? options.output.resume : options.output.directory,
                           dataset.name + "-" + name_of(options.model.kind), is_resumed);
    lock.emplace(directory);
    if (is_resumed) check_checkpoints(directory, options, dataset, comm.size());
    options.output.directory = directory.string();
    log_to_file((directory / "log.txt").string());
    write_config(directory, options);
  });
  comm.broadcast(options.output.directory);
  return options.output.directory;
}

/// trace.json of rank 0, trace-rank-R.json of the others that see the run directory.
void open_trace(const std::filesystem::path& directory, int rank) {
  if (rank > 0 && !std::filesystem::is_directory(directory)) return;
  Trace::global().open(directory / (rank == 0 ? "trace.json" : "trace-rank-" + std::to_string(rank) + ".json"), rank);
  Trace::global().name_row(trace_row::kMain, "main");
  Trace::global().name_row(trace_row::kComputeStream, "compute stream");
}

/// @param control  host communication, for what must be agreed on before the device is known.
int train(const TrainOptions& wanted, bool is_dry_run, const Launch& launch, Communicator& control) {
  set_terminal(wanted.console, launch);
  require_equal_programs(control, kProgram, common_configuration(wanted, kOwnToAHost));
  install_interrupt_handlers();
  const Session session = open_session(wanted.machine, wanted.comm, launch, control);
  const ComputeDevice& device = session.device;
  Communicator& comm = *session.comm;
  together(comm, [&] {
    if (!device.is_cuda() && wanted.precision != Precision::kFp32)
      fail(ErrorKind::kNoDevice, "--precision " + name_of(wanted.precision) + " needs a GPU, and there is none");
  });
  TrainOptions options = wanted;
  fit_to_machine(options.machine, device, launch.cores);
  const Placement placement = log_placement(comm, launch, device, options.machine.workers, session.place);
  Dataset dataset = open_dataset_together(comm, launch, options.data);
  DataPlan plan;
  together(comm, [&] {
    require_trainable(options, dataset);
    plan = plan_residency(request_of(options.machine), dataset,
                          needs_of_training(options, dataset, device.is_cuda(), comm.size()),
                          free_memory(device, launch.ranks_on_host));
  });
  if (device.is_cuda()) log_info(summary_of(plan, dataset));
  if (is_dry_run && comm.rank() == 0) log_result(to_text(plan));
  together(comm, [&] { check(plan); });
  if (is_dry_run) {
    together(comm, [&] {
      if (comm.rank() == 0) check_directory(options, dataset, comm.size());
    });
    if (comm.rank() == 0) log_result("dry run: everything is in place, nothing was trained");
    return 0;
  }
  const std::int64_t spare = (plan.available.host_bytes - plan.host_bytes) * launch.ranks_on_host;
  use_huge_pages(dataset, plan.residency.graph == GraphResidency::kHost ? spare / 2 : 0, comm, launch);
  ResidentData data;
  together(comm, [&] { data = ResidentData(dataset, plan.residency); });
  std::optional<RunLock> lock;
  const std::filesystem::path directory = make_common_run_directory(comm, options, dataset, lock);
  if (options.output.trace) together(comm, [&] { open_trace(directory, comm.rank()); });
  RunDescription about = describe_run(dataset, plan.residency, device, comm);
  about.placement = placement;
  return train_and_report(options, {dataset, data, device, comm, directory}, about);
}

/// What main() does on each rank.
int run_rank(const Launch& launch, std::span<const char* const> args) {
  const auto control = launch.size > 1 ? make_mpi_communicator(launch, kControlTimeout) : make_self_communicator();
  TrainCommand command;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
  const auto look_up = [](const char* name) -> const char* { return std::getenv(name); };
  together(*control, [&] { command = read_train_command(args, look_up); });
  const TrainActions& actions = command.actions;
  const bool is_teller = launch.rank == 0;
  if (actions.help) return is_teller ? print_help() : void(), 0;
  if (actions.version) return is_teller ? print_versions(kProgram) : void(), 0;
  together(*control, [&] { refuse(problems_of(command.options)); });
  if (actions.print_config) {
    if (is_teller) options::print_toml(std::cout, command.options);
    return 0;
  }
  return train(command.options, actions.dry_run, launch, *control);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  salient::start_program();
  salient::restart_with_passive_openmp(argv);
  const int code = salient::run_ranks(salient::kProgram, salient::train_advice, [&](const salient::Launch& launch) {
    return salient::run_rank(launch, {argv + 1, static_cast<std::size_t>(argc - 1)});
  });
  return salient::end_program(salient::kProgram, code);
}
