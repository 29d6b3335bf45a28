// benchmarks/steps_bench.cpp - every model's epochs, eager and resident, in each precision.
//
// All rows of a model train the same model on the same graph, with the model's recipe, in this process, in turns: each
// round trains every way once. Features and graph are on the GPU; where there is none, the eager rows alone are
// measured, on the CPU.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apps/open_named_dataset.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/bench_training.h"
#include "benchmarks/step_kernels.h"
#include "benchmarks/step_parts.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#include "core/host/processor.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "store/synthetic_edges.h"

namespace salient {
namespace {

struct StepsOptions {
  std::string models = "sage,gcn,sage-ri,gin,gat,gatv2";
  std::string graph = "synthetic:products";
  int rounds = 2;
  std::string ways = "all";
  int edge_dim = 0;
  bool kernels = false;
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, StepsOptions>
void visit_fields(Self& self, Visit&& field) {
  field("models", self.models,
        "which models, of sage,gcn,sage-ri,gin,gat,gatv2,transformer; of a typed graph rgcn,rsage,rgat,hgt");
  field("graph", self.graph, "a data set, or synthetic:NAME[:SCALE]; mag and igbh are typed");
  field("rounds", self.rounds, "trainings of each row, in turns");
  field("ways", self.ways,
        "which rows, of eager and resident in fp32, tf32 and bf16: 'resident bf16,eager fp32', or all");
  field("edge-dim", self.edge_dim,
        "generated features of edges, so many columns: models that read them are trained with them and without, in "
        "turns; 0 = the data set's own");
  field("kernels", self.kernels,
        "list the kernels of a step; of a resident one its parts and their share of a ceiling");
  field("json", self.json, "also write the result to this file");
}

/// One way to compute the same epochs.
struct Way {
  const char* name;
  StepKind step;
  Precision precision;
  bool is_without_edges = false;  ///< whose features it does not read, where other ways do

  std::string text() const { return std::string(name) + (is_without_edges ? ", no features of edges" : ""); }
};

constexpr std::array kWays{Way{"eager fp32", StepKind::kEager, Precision::kFp32},
                           Way{"eager tf32", StepKind::kEager, Precision::kTf32},
                           Way{"eager bf16", StepKind::kEager, Precision::kBf16},
                           Way{"resident fp32", StepKind::kResident, Precision::kFp32},
                           Way{"resident tf32", StepKind::kResident, Precision::kTf32},
                           Way{"resident bf16", StepKind::kResident, Precision::kBf16}};

/// Those that are asked for; each a second time without features of edges, where the model reads them.
std::vector<Way> ways_of(const StepsOptions& own, const ModelOptions& model) {
  const std::vector<std::string> wanted = items_of(own.ways);
  std::vector<Way> ways;
  for (Way way : kWays) {
    if (own.ways != "all" && std::ranges::find(wanted, way.name) == wanted.end()) continue;
    ways.push_back(way);
    way.is_without_edges = true;
    if (own.edge_dim > 0 && can_read_edge_features(model.kind)) ways.push_back(way);
  }
  return ways;
}

/// The options of a training that takes this way.
TrainOptions options_of(TrainOptions options, const Way& way) {
  options.step = way.step;
  options.precision = way.precision;
  if (way.is_without_edges) options.model.edge_features = EdgeFeatures::kNone;
  return options;
}

/// What all trainings of this process share.
struct Setting {
  const Dataset& dataset;
  const ResidentData& data;
  const ComputeDevice& device;
};

TrainResult train(const TrainOptions& options, const Setting& setting) {
  const auto comm = make_self_communicator();
  const ScratchFolder folder;
  RunPlan plan = plan_training(options, setting.dataset, residency_of(setting.data.view()), *comm);
  Trainer trainer(options, {setting.dataset, setting.data, setting.device, *comm, std::move(plan), folder.path()});
  TrainResult result = trainer.run();
  if (result.interrupted_by != 0) fail(ErrorKind::kUsage, "interrupted");
  return result;
}

/// Of a step of the second epoch.
std::vector<StepKernel> kernels_of(TrainOptions options, const Setting& setting) {
  const std::size_t batch = global_batch_of(options, /*num_ranks=*/1);
  const auto train_epochs = [&](int epochs) {
    options.optimisation.epochs = epochs;
    (void)train(options, setting);
    setting.device.wait();
  };
  return step_kernels([&] { train_epochs(1); }, [&] { train_epochs(2); },
                      (setting.dataset.train.size() + batch - 1) / batch);
}

struct Row {
  Way way;
  std::vector<EpochMetrics> epochs{};  ///< of all rounds, each round's first being a warm-up
};

/// The device multiplies in this precision; elsewhere its row would be that of fp32.
bool has_products_of(Precision precision, const ComputeDevice& device) {
  return precision == Precision::kFp32 || device.is_cuda() || (precision == Precision::kBf16 && has_bf16_products());
}

/// Trains each way once a round.
std::vector<Row> measure(const TrainOptions& options, const Setting& setting, const StepsOptions& own) {
  const DataResidency residency = residency_of(setting.data.view());
  std::vector<Row> rows;
  for (const Way& way : ways_of(own, options.model)) {
    if (!has_products_of(way.precision, setting.device)) continue;
    TrainOptions row = options_of(options, way);
    row.precision = options.precision;
    const RunPlan plan =
        resolve(request_of(row, setting.dataset, /*num_ranks=*/1), setting.dataset, {.residency = residency});
    if (plan.training.kind == way.step) rows.push_back({way});
  }
  for (int round = 0; round < own.rounds; ++round)
    for (Row& row : rows) {
      log_info(name_of(options.model.kind) + ", " + row.way.text());
      const TrainResult result = train(options_of(options, row.way), setting);
      row.epochs.insert(row.epochs.end(), result.epochs.begin() + 1, result.epochs.end());
    }
  return rows;
}

void add_rows(BenchReport& report, const std::string& model, const std::vector<Row>& rows) {
  double eager = 0, with_edges = 0;
  for (const Row& row : rows) {
    std::vector<double> seconds;
    for (const EpochMetrics& m : row.epochs) seconds.push_back(*m.epoch_seconds);
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    if (row.way.step == StepKind::kEager && row.way.precision == Precision::kFp32) eager = median;
    if (row.way.is_without_edges)  // behind its row with them
      report.add_note(model + ", " + row.way.name +
                      printed(": an epoch with features of edges takes %.2f of one without", with_edges / median));
    with_edges = median;
    report.add_row(model + ", " + row.way.text(), {median, seconds.front(), seconds.back(), eager / median,
                                                   *row.epochs.back().loss, *row.epochs.back().train_accuracy});
  }
}

}  // namespace

int bench_steps(Arguments arguments) {
  const char* const title = "every model's epochs, eager and resident";
  const TrainingBench<StepsOptions> defaults;
  if (print_training_help(arguments, ("salient-bench steps: " + std::string(title)).c_str(), defaults)) return 0;
  const auto command_of = [&](const std::string& model) {
    auto command = read_training_bench<StepsOptions>(
        arguments, {"--dataset=synthetic:products", "--epochs=4", "--model=" + model});
    const TrainOptions& options = command.train.options;
    require_option(name_of(options.model.kind) == model, "--model: steps has a list, see --models");
    require_option(options.data.dataset == "synthetic:products", "--dataset: steps takes --graph");
    require_option(!options.machine.features && !options.machine.sampler,
                   "--features and --sampler: steps has all of both in GPU memory, where there is a GPU");
    return command;
  };
  const auto own = read_own_options<StepsOptions>(arguments);
  require_option(own.rounds >= 1, "--rounds: at least 1");
  require_option(own.edge_dim >= 0 && own.edge_dim <= 1024, "--edge-dim: 0 to 1024");
  for (const std::string& way : own.ways == "all" ? std::vector<std::string>() : items_of(own.ways))
    require_option(std::ranges::find(kWays, way, &Way::name) != kWays.end(), "--ways: '" + way + "' is none");
  std::vector<TrainOptions> models;  // all of them are right before a graph is made
  for (const std::string& model : items_of(own.models)) models.push_back(command_of(model).train.options);
  const int cores = num_usable_cores();
  const MachineOptions& machine = models.front().machine;
  const auto device = ComputeDevice::choose(machine.device, 0, machine.threads > 0 ? machine.threads : cores);
  Dataset dataset = without_evaluation(
      open_named_dataset(own.graph, models.front().data.root, FeatureFile::kNeeded, GraphKind::kAny));
  require_option(own.edge_dim == 0 || !dataset.types.is_typed(), "--edge-dim: of plain graphs alone");
  if (own.edge_dim > 0) dataset = with_synthetic_edge_features(std::move(dataset), own.edge_dim);
  const ResidentData data(dataset, device.is_cuda() ? kAllOnDevice : DataResidency{});
  BenchReport report("steps", std::string(title) + ", " + own.graph + ", on " + device.name(),
                     {kMedianEpoch,
                      kBestEpoch,
                      {"epoch_seconds_worst", "worst", 1, 3},
                      {"speedup_over_eager", "x eager fp32", 1, 2},
                      {"last_loss", "loss", 1, 4},
                      {"last_train_accuracy", "train accuracy", 1, 4}});
  report.add_settings(own);
  const Setting setting{dataset, data, device};
  for (TrainOptions& options : models) {
    fit_to_machine(options.machine, device, cores);
    options.output.checkpoint_every = 0;
    const std::string model = name_of(options.model.kind);
    const std::vector<Row> rows = measure(options, setting, own);
    add_rows(report, model, rows);
    for (const Row& row : rows) {
      if (!own.kernels || !device.is_cuda()) break;
      const TrainOptions mine = options_of(options, row.way);
      const std::vector<StepPart> parts = step_parts(mine, dataset, row.epochs.back(), kernels_of(mine, setting));
      note_parts(report, model + ", " + row.way.text(), parts, device, row.way.precision);
    }
  }
  report.add_note("hidden width, fanouts and batch are the model's recipe; epochs after one to warm up");
  report.publish(own.json);
  return 0;
}

}  // namespace salient
