// engine/apps/salient_train.cpp - argv -> options -> a training run.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>
#include <string>

#include "engine/apps/open_named_dataset.h"
#include "engine/apps/versions.h"
#include "engine/comm/communicator.h"
#include "engine/core/error.h"
#include "engine/core/interrupt.h"
#include "engine/core/log.h"
#include "engine/core/machine.h"
#include "engine/core/progress.h"
#include "engine/core/timer.h"
#include "engine/core/trace.h"
#include "engine/core/version.h"
#include "engine/report/run_directory.h"
#include "engine/train/memory_plan.h"
#include "engine/train/train_options.h"
#include "engine/train/trainer.h"

namespace salient {
namespace {

constexpr const char* kProgram = "salient-train";

/// LibTorch's OpenMP threads spin after each region and take the cores from the batch workers. The variable is read
/// when the library is loaded, before main: so set it and start over, once.
void restart_with_passive_openmp(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  (void)setenv("OMP_WAIT_POLICY", "passive", 1);
  (void)execv("/proc/self/exe", argv);  // returns only if it failed: then run on, a little slower
}

void print_help() {
  std::cout << "salient-train - trains a graph neural network by sampled mini-batches\n\n"
               "  salient-train --dataset wordnet\n"
               "  salient-train --dataset data/my-graph --fanout 10,5 --hidden 128 --device cuda\n\n"
               "options (with their defaults); SALIENT_NAME variables and --config FILE.toml set them too:\n";
  options::print_help(std::cout, TrainCommand{});
  std::cout << std::flush;
}

void print_versions() {
  std::cout << kProgram << ' ' << kVersion << '\n';
  for (const auto& [library, version] : library_versions()) std::cout << library << ' ' << version << '\n';
  std::cout << std::flush;
}

void set_terminal(const TrainOptions& options) {
  set_progress_mode(options.progress == "none"    ? ProgressMode::kNone
                    : options.progress == "plain" ? ProgressMode::kPlain
                                                  : ProgressMode::kAuto);
  set_log_level(options.log_level == "debug"     ? LogLevel::kDebug
                : options.log_level == "warning" ? LogLevel::kWarning
                : options.log_level == "off"     ? LogLevel::kOff
                                                 : LogLevel::kInfo);
}

RunDescription describe_run(const Dataset& dataset, const ComputeDevice& device) {
  RunDescription run{.program = std::string(kProgram) + " " + kVersion, .versions = library_versions()};
  run.machine = {{"host", host_name()},
                 {"cpu", cpu_model()},
                 {"cores", std::to_string(num_usable_cores())},
                 {"device", device.name()}};
  run.dataset = {{"name", dataset.name},
                 {"source", dataset.source_kind},
                 {"fingerprint", dataset.fingerprint},
                 {"nodes", std::to_string(dataset.num_nodes())},
                 {"entries", std::to_string(dataset.num_edges())}};
  return run;
}

std::string fixed4(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

/// The stable last lines of a run.
void print_result(const TrainResult& result, const Dataset& dataset, const std::filesystem::path& directory) {
  if (result.best_epoch > 0)
    log_result("valid accuracy " + fixed4(result.valid_accuracy) + " (epoch " + std::to_string(result.best_epoch) +
               ")");
  if (!dataset.test.empty()) log_result("test accuracy " + fixed4(result.test_accuracy));
  log_result(timing_line(result.last_epoch));
  log_result("run directory " + directory.string());
}

/// Trains, and keeps run.json true whatever happens. @return the exit code
int run_in(const std::filesystem::path& directory, const TrainOptions& options, const Dataset& dataset,
           const ComputeDevice& device, Communicator& comm) {
  RunDescription run = describe_run(dataset, device);
  write_run_json(directory, run, "running");
  try {
    const TrainResult result = Trainer(options, dataset, device, comm, directory).run();
    if (result.was_interrupted) {
      write_run_json(directory, run, "interrupted");
      log_warning("interrupted; continue with salient-train --resume " + directory.string());
      return 128 + interrupt_signal().load();
    }
    run.result = {{"best_epoch", std::to_string(result.best_epoch)},
                  {"valid_accuracy", fixed4(result.valid_accuracy)},
                  {"test_accuracy", fixed4(result.test_accuracy)}};
    write_run_json(directory, run, "finished");
    print_result(result, dataset, directory);
    return 0;
  } catch (const std::exception& error) {
    write_run_json(directory, run, std::string("failed: ") + error.what());
    throw;
  }
}

int train(const TrainOptions& wanted, bool is_dry_run) {
  check(wanted);
  set_terminal(wanted);
  install_interrupt_handlers();
  const auto comm = make_self_communicator();
  const int cores = num_usable_cores();
  const ComputeDevice device = ComputeDevice::choose(wanted.device, 0, wanted.threads > 0 ? wanted.threads : cores);
  TrainOptions options = resolve_for_machine(wanted, device, 1);
  const Timer loading;
  const Dataset dataset = open_named_dataset(options.dataset, options.data_root);
  char seconds[32];
  (void)std::snprintf(seconds, sizeof seconds, "%.1f s", loading.seconds());
  log_info(dataset.name + (dataset.source_kind == "synthetic" ? " (synthetic)" : "") + ": " +
           std::to_string(dataset.num_nodes()) + " nodes, " + std::to_string(dataset.num_edges()) + " entries, " +
           std::to_string(dataset.feature_dim) + " features, " + std::to_string(dataset.num_classes) +
           " classes, opened in " + seconds);
  const MemoryPlan plan = plan_memory(options, dataset, device);
  if (is_dry_run) {
    log_result(to_text(plan));
    check(plan);
    log_result("dry run: everything is in place, nothing was trained");
    return 0;
  }
  check(plan);
  const bool is_resumed = !options.resume.empty();
  const std::filesystem::path directory =
      make_run_directory(is_resumed ? options.resume : options.out, dataset.name + "-" + options.model, is_resumed);
  options.out = directory.string();
  log_to_file((directory / "log.txt").string());
  std::ostringstream config;
  options::print_toml(config, options);
  replace_text_file(directory / "config.toml", config.str());
  if (options.trace) {
    Trace::global().open(directory / "trace.json", comm->rank());
    Trace::global().name_row(trace_row::kMain, "main");
    Trace::global().name_row(trace_row::kComputeStream, "compute stream");
  }
  return run_in(directory, options, dataset, device, *comm);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  using namespace salient;
  try {
    restart_with_passive_openmp(argv);
    const TrainCommand command = read_train_command({argv + 1, static_cast<std::size_t>(argc - 1)},
                                                    [](const char* name) { return std::getenv(name); });
    if (command.actions.help) return print_help(), 0;
    if (command.actions.version) return print_versions(), 0;
    if (command.actions.print_config) {
      check(command.options);
      options::print_toml(std::cout, command.options);
      return 0;
    }
    return train(command.options, command.actions.dry_run);
  } catch (...) {
    return report_current_exception(kProgram);
  }
}
