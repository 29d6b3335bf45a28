// benchmarks/scaling_bench.cpp - the same epochs on 1, 2, 4, ... ranks of one job, and what the exchange costs.
//
// Each row is a training of its own on the first R ranks, with the workers and threads that R ranks alone would get;
// the other ranks sleep. `efficiency` is the first row's rank-seconds over this row's. `all-reduce` is the time of an
// epoch's exchanges on rank 0 and includes the wait for slower ranks, or is missing where they are inside a step;
// `spread` is the standard deviation of a step's time without the exchange; `alone` is one such exchange with nothing
// around it, `bare` the library's call by itself, in the same run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/advice.h"
#include "apps/open_named_dataset.h"
#include "apps/pinning.h"
#include "apps/rank_table.h"
#include "apps/session.h"
#include "benchmarks/bench_exchange.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/bench_training.h"
#include "benchmarks/verbs.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/timed_threads.h"
#include "core/memory_size.h"
#include "engine/comm/agreement.h"
#include "engine/comm/launch.h"
#include "engine/comm/make_communicator.h"
#include "engine/comm/mpi_communicator.h"
#include "engine/comm/numa_affinity.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/planned_data.h"
#include "engine/train/train_options.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "store/synthetic.h"
#include "store/synthetic_nodes.h"

namespace salient {
namespace {

constexpr double kPatience = 3600;    // seconds that idle ranks wait for a row
constexpr double kNoCopiesGb = 1e-9;  // less than a row; 0 would be what is left

struct ScalingOptions {
  std::vector<int> ranks{};
  std::vector<Residency> placements{};
  std::vector<double> copies_gb{};
  bool drawn_features = false;
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, ScalingOptions>
void visit_fields(Self& self, Visit&& field) {
  field("ranks", self.ranks,
        "numbers of ranks to measure, the first being what others compare with; empty = 1,2,4,...");
  field("placements", self.placements,
        "of feature rows, each measured for every number of ranks: host, cached, device, sharded; empty = --features");
  field("copies-gb", self.copies_gb,
        "GPU memory for copies of other GPUs' rows, each measured where `sharded` is one of the placements, 0 = no "
        "copies; empty = --cache-gb");
  field("drawn-features", self.drawn_features,
        "with --features sharded and a generated data set: rows are drawn into the GPUs, not into host memory, which "
        "may then be smaller than all of them");
  field("json", self.json, "also write the result to this file");
}

using BenchCommand = TrainingBench<ScalingOptions>;

std::vector<int> rows_of(const std::vector<int>& wanted, int num_ranks) {
  if (wanted.empty()) return thread_counts(num_ranks);
  for (const int n : wanted)
    if (n < 1 || n > num_ranks)
      fail(ErrorKind::kUsage, "--ranks: from 1 to the " + std::to_string(num_ranks) +
                                  " that were started; start more with mpirun -np N salient-bench scaling");
  return wanted;
}

/// One row to measure.
struct Setting {
  std::string name{};
  int num_ranks = 0;
  std::optional<Residency> features{};
  double cache_gb = 0;  ///< as --cache-gb
};

/// Placements in turns, so that none is measured when the machine is warmer.
std::vector<Setting> settings_of(const BenchCommand& command, const std::vector<int>& rows) {
  std::vector<Setting> settings;
  for (const int num_ranks : rows) {
    const std::string name = std::to_string(num_ranks) + (num_ranks == 1 ? " rank" : " ranks");
    const MachineOptions& machine = command.train.options.machine;
    if (command.own.placements.empty()) settings.push_back({name, num_ranks, machine.features, machine.cache_gb});
    for (const Residency features : command.own.placements) {
      const bool has_sizes = features == Residency::kSharded && !command.own.copies_gb.empty();
      if (!has_sizes) settings.push_back({name + ", " + name_of(features), num_ranks, features, machine.cache_gb});
      for (const double size : has_sizes ? command.own.copies_gb : std::vector<double>{})
        settings.push_back(
            {name + ", sharded, " + to_text(size) + " GB of copies", num_ranks, features, std::max(size, kNoCopiesGb)});
    }
  }
  return settings;
}

struct Row {
  int num_ranks = 0;
  EpochTimes epoch{};
  EpochMetrics last{};
  double steps = 0;  ///< per epoch
  std::size_t num_gradients = 0;
  ExchangeTimes exchange{BenchReport::kNone, BenchReport::kNone};
};

/// A generated data set without memory for its feature rows; `rows` draws them. Collective.
Dataset open_without_rows(const BenchCommand& command, Communicator& control, const Launch& launch, RowWriter& rows) {
  const TrainOptions& options = command.train.options;
  SyntheticOptions of_rows, of_rest;
  together(control, [&] {
    require_option(options.machine.features == Residency::kSharded, "--drawn-features: with --features sharded");
    require_option(command.own.placements.empty(), "--drawn-features: not with --placements");
    of_rows = of_rest = parse_synthetic_name(options.data.dataset);
  });
  of_rest.feature_dim = 0;
  Dataset dataset = open_generated_dataset(of_rest, control, launch);
  dataset.feature_dim = of_rows.feature_dim;
  dataset.features = {nullptr, dataset.num_nodes(), dataset.feature_row_bytes(), dataset.fp8_scale};
  const auto kept = std::make_shared<SyntheticOptions>(of_rows);  // which the nodes refer to
  rows = [kept, nodes = std::make_shared<SyntheticNodes>(*kept)](std::size_t first, std::size_t count, std::byte* out) {
    nodes->write_features(first, count, out);
  };
  return dataset;
}

/// The place of this rank if only the first `num_ranks` had been started.
Launch part_of(Launch launch, int num_ranks) {
  const int cores_of_host = std::min(launch.cores_of_host, launch.cores * launch.ranks_on_host);
  launch.size = num_ranks;
  launch.ranks_on_host = std::min(launch.ranks_on_host, num_ranks);  // ranks fill one host after the other
  launch.num_hosts = std::min(launch.num_hosts, num_ranks);
  launch.cores = std::max(1, std::min(cores_of_host / launch.ranks_on_host, num_usable_cores()));
  return launch;
}

/// Of the ranks of `launch` alone. Collective over them.
Session open_row(const TrainOptions& wanted, const Launch& launch) {
  const int threads = wanted.machine.threads > 0 ? wanted.machine.threads : launch.cores;
  const ComputeDevice device = ComputeDevice::choose(wanted.machine.device, launch.local_rank, threads);
  Session session{.launch = launch,
                  .device = device,
                  .comm = launch.size == 1
                              ? make_self_communicator()
                              : make_communicator(communicator_options(wanted.comm, wanted.machine, device), launch)};
  session.numa_nodes = pin_near_device(*session.comm, launch, device);
  return session;
}

/// Collective over the ranks of `launch`.
Row measure(const TrainOptions& wanted, const Launch& launch, const Dataset& dataset, const RowWriter& rows) {
  const Session session = open_row(wanted, launch);
  TrainOptions options = wanted;
  fit_to_machine(options.machine, session.device, launch.cores);
  options.output.checkpoint_every = 0;
  (void)log_rank_table(session, options.machine.workers);
  std::optional<ScratchFolder> folder;
  const RunPlan plan = plan_training(place_of(session), options, dataset);
  together(*session.comm, [&] {
    check(plan.data);
    if (launch.rank == 0) folder.emplace();
  });
  const ResidentData data = make_resident(place_of(session), dataset, plan.data, rows);
  Trainer trainer(
      options, {dataset, data, session.device, *session.comm, plan, folder ? folder->path() : std::filesystem::path()});
  const TrainResult result = trainer.run();
  if (result.interrupted_by != 0) fail(ErrorKind::kUsage, "interrupted");
  Row row{.num_ranks = launch.size, .last = result.epochs.back(), .num_gradients = trainer.num_gradients()};
  row.epoch = epoch_times(result.epochs);
  row.steps = static_cast<double>(row.last.step) / static_cast<double>(result.epochs.size());
  if (launch.size > 1) row.exchange = time_exchange(*session.comm, launch, session.device, row.num_gradients);
  return row;
}

void add_row(BenchReport& report, const std::string& name, const Row& row, double first_rank_seconds) {
  const double exchange = row.last.allreduce_seconds.value_or(BenchReport::kNone);
  const int num_ranks = row.num_ranks;
  report.add_row(
      name, {row.epoch.median, row.epoch.best, first_rank_seconds / (num_ranks * row.epoch.median), row.steps,
             *row.last.blocked_seconds, exchange, exchange / *row.last.epoch_seconds, exchange / row.steps,
             row.last.step_spread_seconds.value_or(BenchReport::kNone), row.exchange.seconds, row.exchange.bare_seconds,
             row.exchange.seconds / row.exchange.bare_seconds, *row.last.loss});
}

BenchReport new_report(const TrainOptions& options, const Dataset& dataset) {
  BenchReport report("scaling",
                     "training epochs of " + name_of(options.model.kind) + " on " + dataset.name +
                         (dataset.source_kind == "synthetic" ? " (synthetic)" : "") + ", " +
                         std::to_string(dataset.num_nodes()) + " nodes, " + std::to_string(dataset.num_edges()) +
                         " entries, fanout " + to_text(options.batches.fanout),
                     {kMedianEpoch,
                      kBestEpoch,
                      {"efficiency", "efficiency", 1, 2},
                      {"steps_per_epoch", "steps", 1, 0},
                      kBlockedSeconds,
                      {"allreduce_seconds", "all-reduce s", 1, 3},
                      {"allreduce_share", "share", 1, 3},
                      {"allreduce_seconds_per_step", "us/step", 1e6, 1},
                      {"step_spread_seconds", "spread us", 1e6, 1},
                      {"exchange_seconds", "alone us", 1e6, 1},
                      {"bare_exchange_seconds", "bare us", 1e6, 1},
                      {"exchange_over_bare", "x bare", 1, 2},
                      {"loss", "loss", 1, 5}});
  report.add_settings(options);
  return report;
}

int run(const Launch& launch, Arguments arguments) {
  const auto control = launch.size > 1 ? make_mpi_communicator(launch, kPatience) : make_self_communicator();
  BenchCommand command;
  std::vector<int> rows;
  together(*control, [&] {
    command = read_training_bench<ScalingOptions>(arguments, {"--dataset=synthetic:products", "--epochs=6"});
    rows = rows_of(command.own.ranks, launch.size);
    for (const double size : command.own.copies_gb)
      require_option(are_gigabytes(size), std::string("--copies-gb: each ") + kGigabytesRule);
  });
  const TrainOptions& options = command.train.options;
  if (launch.rank > 0) {  // rank 0 speaks for all
    set_progress_mode(ProgressMode::kNone);
    set_log_level(LogLevel::kWarning);
  }
  RowWriter drawn;
  const Dataset dataset = without_evaluation(
      command.own.drawn_features ? open_without_rows(command, *control, launch, drawn)
                                 : open_named_dataset(options.data.dataset, options.data.root, *control, launch));
  BenchReport report = new_report(options, dataset);
  const std::vector<NumaNode> nodes = numa_nodes();
  std::vector<int> all_nodes;
  for (const NumaNode& node : nodes) all_nodes.push_back(node.number);
  double first_rank_seconds = 0;
  std::size_t num_gradients = 0;
  for (const Setting& setting : settings_of(command, rows)) {
    (void)stay_on(nodes, all_nodes);  // each row places its ranks anew
    std::optional<Row> row;
    TrainOptions chosen = options;
    chosen.machine.features = setting.features;
    chosen.machine.cache_gb = setting.cache_gb;
    together(*control, [&] {  // `measure` communicates, but not over `control`
      if (launch.rank < setting.num_ranks) row = measure(chosen, part_of(launch, setting.num_ranks), dataset, drawn);
    });
    if (!row) continue;
    if (first_rank_seconds == 0) first_rank_seconds = setting.num_ranks * row->epoch.median;
    num_gradients = row->num_gradients;
    add_row(report, setting.name, *row, first_rank_seconds);
  }
  together(*control, [&] {
    if (launch.rank != 0) return;
    report.add_setting("gradients", num_gradients);
    report.add_note("median of " + std::to_string(options.optimisation.epochs - 1) +
                    " epochs after one to warm up; an exchange is " + std::to_string(num_gradients * sizeof(float)) +
                    " bytes");
    if (launch.size == 1) report.add_note("for more ranks: mpirun -np N --bind-to none salient-bench scaling");
    report.publish(command.own.json);
  });
  return 0;
}

}  // namespace

int bench_scaling(Arguments arguments) {
  BenchCommand defaults;
  defaults.train.options.data.dataset = "synthetic:products";
  defaults.train.options.optimisation.epochs = 6;
  if (print_training_help(arguments, "mpirun -np N salient-bench scaling: epochs on 1, 2, 4, ... N ranks", defaults))
    return 0;
  return run_ranks({.name = "salient-bench", .advice = train_advice},
                   [&](const Launch& launch) { return run(launch, arguments); });
}

}  // namespace salient
