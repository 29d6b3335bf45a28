// benchmarks/tiers_bench.cpp - epochs with a part of the graph in GPU memory, beside the whole graph there and sampling
// by the cores.
//
// All rows train the same model on the same graph in this process, with all features in GPU memory. Rows of the graph
// that are not there are read by the GPU in pinned host memory.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/open_named_dataset.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/bench_training.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/train/run_model.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "loaders/graph_tiers.h"

namespace salient {
namespace {

constexpr const char* kAnyGraph = "synthetic:products";  // so that the options are whole

struct TiersOptions {
  std::string graph = "synthetic:papers100M:0.1";
  std::vector<double> shares{1, 0.5, 0.25, 0.1};
  int rounds = 2;
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TiersOptions>
void visit_fields(Self& self, Visit&& field) {
  field("graph", self.graph, "a data set, or synthetic:NAME[:SCALE[:SHARE[:INSIDE]]]");
  field("shares", self.shares, "of the graph's entries that are in GPU memory, a pair of rows for each");
  field("rounds", self.rounds, "trainings of each row, in turns");
  field("json", self.json, "also write the result to this file");
}

using TiersCommand = TrainingBench<TiersOptions>;

/// Where the graph is, and how steps are made of it.
struct Way {
  std::optional<double> share{};  ///< of its entries in GPU memory; none: the cores sample
  StepKind step = StepKind::kEager;
  std::vector<EpochMetrics> epochs{};  ///< of all rounds, each round's first being a warm-up

  std::string name() const {
    return (share ? fixed(100 * *share, 0) + " % of the graph on the GPU" : std::string("sampling by the cores")) +
           (step == StepKind::kEager ? ", eager steps" : ", resident steps");
  }
};

std::vector<Way> ways_of(const TiersCommand& command, const Dataset& dataset) {
  std::vector<Way> ways{Way{}};
  TrainOptions resident = command.train.options;
  resident.step = StepKind::kResident;
  const RunPlan plan = resolve(request_of(resident, dataset, /*num_ranks=*/1), dataset, {.residency = kAllOnDevice});
  for (const double share : command.own.shares) {
    ways.push_back({.share = share});
    if (plan.training.is_resident()) ways.push_back({.share = share, .step = StepKind::kResident});
  }
  return ways;
}

DataResidency residency_of(const Way& way, const Dataset& dataset, const TrainOptions& options) {
  DataResidency residency{.features = Residency::kDevice, .cache_policy = options.machine.cache_policy};
  if (!way.share) return residency;
  residency.graph = GraphResidency::kDevice;
  if (*way.share < 1)
    residency.graph_entries = static_cast<std::size_t>(*way.share * static_cast<double>(dataset.num_edges()));
  return residency;
}

void train(Way& way, TrainOptions options, const Dataset& dataset, const ResidentData& data,
           const ComputeDevice& device) {
  log_info(way.name());
  options.step = way.step;
  const auto comm = make_self_communicator();
  const ScratchFolder folder;
  RunPlan plan = plan_training(options, dataset, residency_of(data.view()), *comm);
  Trainer trainer(options, {dataset, data, device, *comm, std::move(plan), folder.path()});
  const TrainResult result = trainer.run();
  if (result.interrupted_by != 0) fail(ErrorKind::kUsage, "interrupted");
  way.epochs.insert(way.epochs.end(), result.epochs.begin() + 1, result.epochs.end());
}

/// Ways with the same data, which follow each other, share it.
void measure(std::vector<Way>& ways, const TrainOptions& options, const Dataset& dataset, const ComputeDevice& device) {
  const SamplingPlan plan{.rule = training_rule(options, dataset),
                          .seeds = dataset.train,
                          .batch_size = global_batch_of(options, /*num_ranks=*/1),
                          .seed = options.seed};
  ResidentData data;
  std::optional<DataResidency> of_data;
  for (Way& way : ways) {
    const DataResidency residency = residency_of(way, dataset, options);
    if (of_data != residency) {
      data = {};  // before the next one: both may not fit
      data = ResidentData(dataset, residency, plan);
      of_data = residency;
    }
    train(way, options, dataset, data, device);
  }
}

void add_rows(BenchReport& report, const std::vector<Way>& ways) {
  double by_cores = 0;
  for (const Way& way : ways) {
    std::vector<double> seconds;
    for (const EpochMetrics& epoch : way.epochs) seconds.push_back(*epoch.epoch_seconds);
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    if (!way.share) by_cores = median;
    report.add_row(way.name(), {median, seconds.front(), seconds.back(), by_cores / median, *way.epochs.back().loss});
  }
}

}  // namespace

int bench_tiers(Arguments arguments) {
  const char* const title = "epochs with a part of the graph in GPU memory";
  TiersCommand defaults;
  if (print_training_help(arguments, ("salient-bench tiers: " + std::string(title)).c_str(), defaults)) return 0;
  const TiersCommand command =
      read_training_bench<TiersOptions>(arguments, {std::string("--dataset=") + kAnyGraph, "--epochs=4"});
  TrainOptions options = command.train.options;
  require_option(command.own.rounds >= 1, "--rounds: at least 1");
  require_option(std::ranges::all_of(command.own.shares, [](double share) { return share >= 0 && share <= 1; }),
                 "--shares: each 0 to 1");
  require_option(options.data.dataset == kAnyGraph, "--dataset: tiers takes --graph");
  require_option(!options.machine.features && !options.machine.sampler,
                 "--features and --sampler: tiers has features in GPU memory and --shares of the graph");
  const int cores = num_usable_cores();
  const auto device = ComputeDevice::choose(options.machine.device, 0, cores);
  if (!device.is_cuda())
    fail(ErrorKind::kNoDevice, "tiers of a graph are in the memory of a GPU, and " + device.name() + " is none");
  fit_to_machine(options.machine, device, cores);
  options.output.checkpoint_every = 0;
  const Dataset dataset = without_evaluation(open_named_dataset(command.own.graph, options.data.root));
  std::vector<Way> ways = ways_of(command, dataset);
  for (int round = 0; round < command.own.rounds; ++round) measure(ways, options, dataset, device);
  BenchReport report(
      "tiers",
      std::string(title) + ", " + command.own.graph + ", " + to_text(options.precision) + ", on " + device.name(),
      {kMedianEpoch,
       kBestEpoch,
       {"epoch_seconds_worst", "worst", 1, 3},
       {"speedup_over_cores", "x cores", 1, 2},
       {"last_loss", "loss", 1, 6}});
  report.add_settings(options);
  report.add_settings(command.own);
  add_rows(report, ways);
  report.add_note(std::to_string(cores) + " cores, " + std::to_string(options.machine.workers) +
                  " workers; epochs after one to warm up; features in GPU memory");
  report.publish(command.own.json);
  return 0;
}

}  // namespace salient
