// benchmarks/paper_bench.cpp - the tables of SALIENT's paper: where an epoch's time goes in a plain loop and here,
// and what each improvement is worth.
//
// Every row trains the same model on the same graph with the same options, in this process, in this run; only the way
// that batches take differs. `train` is the time in which the GPU computed, `blocked` the time in which its compute
// stream had nothing to do (both by events; on a CPU by the host's clock), `transfer` the copies, and the gather on the
// GPU if the features are there. `sample` and `slice` are core-seconds of the workers, and where the GPU samples the
// seconds that they waited for it; in the plain loop `slice` is the consumer's wall time. The paper's figures are for
// the real graphs on a V100: the others are of synthetic graphs of the same size.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/open_named_dataset.h"
#include "benchmarks/bench_report.h"
#include "benchmarks/bench_training.h"
#include "benchmarks/plain_loaders.h"
#include "benchmarks/step_kernels.h"
#include "benchmarks/step_parts.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#include "engine/comm/communicator.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/train/run_model.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "models/describe/costs.h"

namespace salient {
namespace {

constexpr const char* kAnyGraph = "synthetic:products";  // so that the options are whole

struct PaperBenchOptions {
  std::string graphs = "arxiv,products";
  double scale = 1;
  double train_communities = 1;
  double community_edges = 0;
  double cached_share = 0.2;
  int plain_epochs = 3;
  bool kernels = false;
  std::string rows{};
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, PaperBenchOptions>
void visit_fields(Self& self, Visit&& field) {
  field("graphs", self.graphs, "synthetic graphs, of: arxiv,products,papers100M (70 GB of memory)");
  field("scale", self.scale, "share of the full size");
  field("train-communities", self.train_communities, "as of salient-prepare synthetic");
  field("community-edges", self.community_edges, "likewise");
  field("cached-share", self.cached_share, "of the feature rows, of the row with some of them on the GPU");
  field("plain-epochs", self.plain_epochs, "epochs of the slow rows, the first being a warm-up");
  field("kernels", self.kernels,
        "list the kernels of a step; of a resident one its parts and their share of a ceiling");
  field("rows", self.rows, "only rows with one of these in their names, such as 'host|resident'; empty = all");
  field("json", self.json, "also write the result to this file");
}

using BenchCommand = TrainingBench<PaperBenchOptions>;

/// One way for batches to take.
enum class Path {
  kPlain,
  kFastSampler,
  kSharedMemory,
  kPipelined,
  kDeviceGraph,
  kCachedFeatures,
  kDeviceFeatures,
  kAllOnDevice,
  kResident,           ///< the whole step on the GPU
  kResidentByProducts  ///< that, without kernels that fuse a layer
};

struct System {
  Path path;
  const char* name;
  std::optional<Precision> precision{};  ///< none: as asked for
  std::optional<ModelKind> model{};      ///< none: any
};

bool is_slow(Path path) { return path == Path::kPlain || path == Path::kFastSampler; }
bool is_resident(Path path) { return path == Path::kResident || path == Path::kResidentByProducts; }
bool is_all_on_device(Path path) { return path == Path::kAllOnDevice || is_resident(path); }
bool has_device_features(Path path) { return path == Path::kDeviceFeatures || is_all_on_device(path); }
bool has_device_graph(Path path) {
  return path == Path::kDeviceGraph || path == Path::kCachedFeatures || is_all_on_device(path);
}
bool needs_gpu(Path path) { return path == Path::kSharedMemory || has_device_features(path) || has_device_graph(path); }

/// Seconds per epoch that the paper reports for one V100: PyG, SALIENT (Kaler et al., MLSys 2022).
double paper_seconds(const std::string& graph, double scale, Path path) {
  struct PaperRow {
    const char* graph;
    double pyg, salient;
  };
  constexpr std::array kRows{PaperRow{"arxiv", 1.683, 0.477}, PaperRow{"products", 8.93, 2.81},
                             PaperRow{"papers100M", 54.95, 16.51}};
  for (const PaperRow& row : kRows)
    if (graph == row.graph && scale == 1)
      return path == Path::kPlain ? row.pyg : path == Path::kPipelined ? row.salient : BenchReport::kNone;
  return BenchReport::kNone;
}

bool has_name_with(const System& system, const std::string& part) {
  return std::string_view(system.name).find(part) != std::string_view::npos;
}

/// Those of the model, on this machine, with a part of --rows in their names. @throws Error{kUsage} if there are none.
std::vector<System> wanted_rows(const std::vector<System>& all, const BenchCommand& command, bool has_gpu) {
  const std::vector<std::string> parts = items_of(command.own.rows, '|');
  require_option(parts.size() == 1 || std::ranges::find(parts, "") == parts.end(),
                 "--rows: a part between two | is empty");
  for (const std::string& part : parts)
    require_option(std::ranges::any_of(all, [&](const System& system) { return has_name_with(system, part); }),
                   "--rows: no row has '" + part + "' in its name");
  std::vector<System> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), [&](const System& system) {
    return (has_gpu || !needs_gpu(system.path)) &&
           (!system.model || *system.model == command.train.options.model.kind) &&
           std::ranges::any_of(parts, [&](const std::string& part) { return has_name_with(system, part); });
  });
  require_option(!rows.empty(), "--rows: these need a GPU, or are of another model");
  return rows;
}

/// As `--dataset` takes it.
std::string name_of(const std::string& graph, const PaperBenchOptions& options) {
  std::string name = "synthetic:" + graph;
  for (const double part : {options.scale, options.train_communities, options.community_edges})
    name += ":" + to_text(part);
  return name;
}

std::unique_ptr<BatchSource> make_source(Path path, const Dataset& dataset, const TrainOptions& options,
                                         const ComputeDevice& device, const TextbookGraph* textbook) {
  const PlainLoaderOptions plain{.fanouts = options.batches.fanout,
                                 .degrees = degrees_for(reads_degrees(options.model)),
                                 .num_workers = options.machine.workers,
                                 .to_device = device.is_cuda(),
                                 .seed = options.seed};
  if (path == Path::kPlain) return make_plain_loader(dataset, plain, textbook);
  if (path == Path::kFastSampler) return make_plain_loader(dataset, plain, nullptr);
  if (path == Path::kSharedMemory) return make_unpipelined_loader(dataset, plain);
  return nullptr;  // the trainer's own
}

DataResidency residency_of(Path path, const Dataset& dataset, double cached_share) {
  return {.features = has_device_features(path)       ? Residency::kDevice
                      : path == Path::kCachedFeatures ? Residency::kCached
                                                      : Residency::kHost,
          .cached_rows = static_cast<std::size_t>(cached_share * static_cast<double>(dataset.num_nodes())),
          .graph = has_device_graph(path) ? GraphResidency::kDevice : GraphResidency::kHost};
}

/// What a row is measured on.
struct Measured {
  const Dataset& dataset;
  const ResidentData& data;
  const ComputeDevice& device;
  const RunPlan& plan;
};

/// Of the training that will use it: its cached rows are those that batches will meet most.
SamplingPlan sampling_plan(const TrainOptions& options, const Dataset& dataset) {
  return {.rule = training_rule(options, dataset),
          .seeds = dataset.train,
          .batch_size = global_batch_of(options, /*num_ranks=*/1),
          .seed = options.seed};
}

TrainResult train(Path path, const TrainOptions& options, const Measured& measured) {
  const auto& [dataset, data, device, plan] = measured;
  std::optional<TextbookGraph> textbook;
  if (path == Path::kPlain) textbook.emplace(dataset.graph);
  const auto comm = make_self_communicator();
  const ScratchFolder folder;
  Trainer trainer(options, {dataset, data, device, *comm, plan, folder.path()},
                  make_source(path, dataset, options, device, textbook ? &*textbook : nullptr));
  TrainResult result = trainer.run();
  if (result.interrupted_by != 0) fail(ErrorKind::kUsage, "interrupted");
  return result;
}

/// Of a step between the 20th and the 40th.
std::vector<StepKernel> kernels_of(Path path, TrainOptions options, const Measured& measured) {
  constexpr std::size_t kSteps = 20;
  const std::size_t batch = global_batch_of(options, /*num_ranks=*/1);
  if (!measured.device.is_cuda() || 2 * kSteps * batch > measured.dataset.train.size()) return {};
  options.optimisation.epochs = 1;
  const auto train_steps = [&](std::size_t steps) {
    Dataset part = measured.dataset;
    part.train = part.train.first(steps * batch);
    (void)train(path, options, {part, measured.data, measured.device, measured.plan});
    measured.device.wait();
  };
  return step_kernels([&] { train_steps(kSteps); }, [&] { train_steps(2 * kSteps); }, kSteps);
}

double num_launches(const std::vector<StepKernel>& kernels) {
  double sum = 0;
  for (const StepKernel& kernel : kernels) sum += kernel.launches;
  return kernels.empty() ? BenchReport::kNone : sum;
}

void add_row(BenchReport& report, const std::string& name, const TrainResult& result, double plain_median,
             double launches, double paper) {
  const EpochTimes times = epoch_times(result.epochs);
  const EpochMetrics& m = result.epochs.back();
  report.add_row(name,
                 {times.median, times.best, *m.train_seconds, *m.blocked_seconds, *m.transfer_seconds,
                  *m.train_seconds / *m.epoch_seconds, *m.sample_seconds, *m.gather_seconds,
                  static_cast<double>(*m.edges) / *m.epoch_seconds, plain_median / times.median, launches, paper});
}

BenchReport new_report(const std::string& verb, const std::string& title, const BenchCommand& command,
                       const ComputeDevice& device) {
  const TrainOptions& options = command.train.options;
  BenchReport report(verb,
                     title + ", " + name_of(options.model.kind) + ", hidden " +
                         std::to_string(options.model.hidden_dim) + ", fanout " + to_text(options.batches.fanout) +
                         ", batch " + std::to_string(options.batches.size) + ", " + to_text(options.precision) +
                         ", on " + device.name() + "; synthetic graphs",
                     {kMedianEpoch,
                      kBestEpoch,
                      {"train_seconds", "train s", 1, 3},
                      kBlockedSeconds,
                      {"transfer_seconds", "transfer s", 1, 3},
                      {"busy_share", "busy", 1, 2},
                      {"sample_core_seconds", "sample core-s", 1, 2},
                      {"slice_core_seconds", "slice core-s", 1, 2},
                      {"edges_per_second", "M edges/s", 1e-6, 1},
                      {"speedup_over_plain", "x plain", 1, 2},
                      {"launches_per_step", "launches/step", 1, 0},
                      {"paper_epoch_seconds", "paper, V100 s", 1, 3}});
  report.add_settings(options);
  report.add_settings(command.own);
  return report;
}

int run(const std::string& verb, const std::string& title, const std::vector<System>& systems, Arguments arguments) {
  BenchCommand defaults;
  defaults.train.options.optimisation.epochs = 4;
  if (print_training_help(arguments, ("salient-bench " + verb + ": " + title).c_str(), defaults)) return 0;
  const BenchCommand command =
      read_training_bench<PaperBenchOptions>(arguments, {std::string("--dataset=") + kAnyGraph, "--epochs=4"});
  require_option(command.own.plain_epochs >= 2, "--plain-epochs: at least 2, as the first is a warm-up");
  require_option(command.train.options.data.dataset == kAnyGraph,
                 "--dataset: " + verb + " generates its own, see --graphs");
  const TrainOptions& wanted = command.train.options;
  require_option(wanted.batches.draw == Draw::kUniform, "--draw: the plain loop's is uniform");
  require_option(!wanted.machine.features && !wanted.machine.sampler,
                 "--features and --sampler: a row of " + verb + " says which, see --rows");
  const int cores = num_usable_cores();
  const auto device =
      ComputeDevice::choose(wanted.machine.device, 0, wanted.machine.threads > 0 ? wanted.machine.threads : cores);
  const std::vector<System> rows = wanted_rows(systems, command, device.is_cuda());
  TrainOptions options = wanted;
  fit_to_machine(options.machine, device, cores);
  options.output.checkpoint_every = 0;

  BenchReport report = new_report(verb, title, command, device);
  for (const std::string& graph : items_of(command.own.graphs)) {
    const Dataset dataset = without_evaluation(open_named_dataset(name_of(graph, command.own), wanted.data.root));
    double plain_median = BenchReport::kNone;
    for (const System& system : rows) {
      TrainOptions row = options;
      row.step = is_resident(system.path) ? StepKind::kResident : StepKind::kEager;
      if (system.precision) row.precision = system.precision;
      DataResidency residency = residency_of(system.path, dataset, command.own.cached_share);
      residency.cache_policy = row.machine.cache_policy;
      RunPlan plan = resolve(request_of(row, dataset, /*num_ranks=*/1), dataset, {.residency = residency});
      if (plan.training.kind != row.step) continue;  // another model
      plan.may_fuse_layers = system.path != Path::kResidentByProducts;
      log_info(graph + ": " + system.name);
      if (is_slow(system.path)) row.optimisation.epochs = command.own.plain_epochs;
      const ResidentData data(dataset, residency, sampling_plan(row, dataset));
      const Measured measured{dataset, data, device, plan};
      const TrainResult result = train(system.path, row, measured);
      if (system.path == Path::kPlain) plain_median = epoch_times(result.epochs).median;
      const auto kernels = is_slow(system.path) ? std::vector<StepKernel>{} : kernels_of(system.path, row, measured);
      const std::string row_name = graph + ": " + system.name;
      add_row(report, row_name, result, plain_median, num_launches(kernels),
              paper_seconds(graph, command.own.scale, system.path));
      if (command.own.kernels)
        note_parts(report, row_name, step_parts(row, dataset, result.epochs.back(), kernels), device,
                   numerics_of(row).precision);
    }
  }
  report.add_note(std::to_string(cores) + " cores, " + std::to_string(options.machine.workers) +
                  " workers; epochs after one to warm up; the columns after the median are of the last epoch");
  report.add_note("'plain loop' is this program's own loop in the manner of PyG's loaders, not PyG");
  if (!device.is_cuda()) report.add_note("no GPU: rows that differ in the copy to a GPU are left out");
  report.publish(command.own.json);
  return 0;
}

}  // namespace

int bench_table1(Arguments arguments) {
  return run("table1", "where an epoch's time goes",
             {{Path::kPlain, "plain loop"},
              {Path::kPipelined, "SALIENT, features on the host"},
              {Path::kDeviceGraph, "SALIENT, features on the host, sampling on the GPU"},
              {Path::kCachedFeatures, "SALIENT, cached features and sampling on the GPU"},
              {Path::kDeviceFeatures, "SALIENT, features on the GPU"},
              {Path::kAllOnDevice, "SALIENT, features and sampling on the GPU"},
              {Path::kResident, "SALIENT, resident steps"},
              {Path::kResidentByProducts, "SALIENT, resident bf16 steps without fused layers", Precision::kBf16,
               ModelKind::kSage},
              {Path::kResident, "SALIENT, resident steps, bf16", Precision::kBf16}},
             arguments);
}

int bench_ablation(Arguments arguments) {
  return run("ablation", "what each improvement is worth, one added after the other",
             {{Path::kPlain, "plain loop"},
              {Path::kFastSampler, "+ fast sampler"},
              {Path::kSharedMemory, "+ preparation in shared memory"},
              {Path::kPipelined, "+ pipelined transfer"},
              {Path::kDeviceFeatures, "+ features on the GPU"},
              {Path::kAllOnDevice, "+ sampling on the GPU"},
              {Path::kResidentByProducts, "+ resident steps"},
              {Path::kResidentByProducts, "+ bf16", Precision::kBf16},
              {Path::kResident, "+ fused layers", Precision::kBf16, ModelKind::kSage}},
             arguments);
}

}  // namespace salient
