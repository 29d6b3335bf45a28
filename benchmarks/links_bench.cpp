// benchmarks/links_bench.cpp - training links a second, on a generated graph of a citation network's size.
//
// All rows train the same model on the same links, in this process, in turns: steps that the host samples for, those
// that the GPU samples for, and resident ones. Links are entries of the graph, whose other entries are messages.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_report.h"
#include "benchmarks/bench_training.h"
#include "core/console/log.h"
#include "core/host/machine.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/fit_to_machine.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "sampler/seed_order.h"
#include "store/synthetic.h"

namespace salient {
namespace {

/// The size of ogbl-citation2, whose 30.6 million citations are entries of both ends.
struct LinksOptions {
  std::uint32_t nodes = 2'927'963;
  double mean_degree = 20.9;
  int features = 128;
  int links = 1 << 20;
  int rounds = 2;
  std::string json{};
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LinksOptions>
void visit_fields(Self& self, Visit&& field) {
  field("nodes", self.nodes, "of the generated graph; it is the size of ogbl-citation2 and made up");
  field("mean-degree", self.mean_degree, "its entries a node, both directions");
  field("features", self.features, "their width, f16");
  field("links", self.links, "training links of an epoch, at most the graph's pairs");
  field("rounds", self.rounds, "trainings of each row, in turns");
  field("json", self.json, "also write the result to this file");
}

/// Some entries (u, v) with u < v, in a shuffled order. @return  [n, 2]
std::vector<NodeId> some_links(const CsrGraph& graph, std::size_t count) {
  std::vector<NodeId> nodes(graph.num_nodes());
  for (NodeId v = 0; v < nodes.size(); ++v) nodes[v] = v;
  shuffle_seeds(nodes, /*seed=*/1, /*epoch=*/1);
  std::vector<NodeId> ends;
  for (const NodeId v : nodes)
    for (const NodeId u : graph.row(v))
      if (u < v && ends.size() < 2 * count) ends.insert(ends.end(), {u, v});
  return ends;
}

/// One way to compute the same epochs.
struct Way {
  const char* name;
  StepKind step;
  Precision precision;
  DataResidency data;
};

constexpr DataResidency kFeaturesOnDevice{.features = Residency::kDevice, .graph = GraphResidency::kHost};
const std::array kWays{Way{"the host samples, fp32", StepKind::kEager, Precision::kFp32, kFeaturesOnDevice},
                       Way{"the GPU samples, fp32", StepKind::kEager, Precision::kFp32, kAllOnDevice},
                       Way{"resident, fp32", StepKind::kResident, Precision::kFp32, kAllOnDevice},
                       Way{"resident, bf16", StepKind::kResident, Precision::kBf16, kAllOnDevice}};

struct Row {
  Way way;
  std::vector<EpochMetrics> epochs{};
};

TrainResult train(const TrainOptions& options, const Dataset& dataset, const ResidentData& data,
                  const ComputeDevice& device) {
  const auto comm = make_self_communicator();
  const ScratchFolder folder;
  RunPlan plan = plan_training(options, dataset, residency_of(data.view()), *comm);
  Trainer trainer(options, {dataset, data, device, *comm, std::move(plan), folder.path()});
  TrainResult result = trainer.run();
  if (result.interrupted_by != 0) fail(ErrorKind::kUsage, "interrupted");
  return result;
}

/// Those that this device has, once each round.
std::vector<Row> measure(const TrainOptions& options, const Dataset& dataset, const ComputeDevice& device, int rounds) {
  const ResidentData features(dataset, device.is_cuda() ? kFeaturesOnDevice : DataResidency{}),
      all(dataset, device.is_cuda() ? kAllOnDevice : DataResidency{});
  std::vector<Row> rows;
  for (const Way& way : kWays)
    if (device.is_cuda() || &way == kWays.data()) rows.push_back({way});
  for (int round = 0; round < rounds; ++round)
    for (Row& row : rows) {
      TrainOptions mine = options;
      mine.step = row.way.step;
      mine.precision = row.way.precision;
      log_info(row.way.name);
      const bool samples_there = row.way.data.graph == GraphResidency::kDevice;
      const TrainResult result = train(mine, dataset, samples_there ? all : features, device);
      row.epochs.insert(row.epochs.end(), result.epochs.begin() + 1, result.epochs.end());
    }
  return rows;
}

}  // namespace

int bench_links(Arguments arguments) {
  const char* const title = "training links a second, on a generated graph";
  const TrainingBench<LinksOptions> defaults;
  if (print_training_help(arguments, ("salient-bench links: " + std::string(title)).c_str(), defaults)) return 0;
  auto command = read_training_bench<LinksOptions>(arguments, {"--dataset=synthetic:arxiv", "--task=link", "--epochs=3",
                                                               "--model=sage", "--negatives=1", "--fanout=15,10,5"});
  const LinksOptions& own = command.own;
  TrainOptions& options = command.train.options;
  require_option(options.task == RunTask::kLink, "--task: links has links");
  require_option(options.data.dataset == "synthetic:arxiv", "--dataset: links makes a graph, see --nodes");
  require_option(!options.machine.features && !options.machine.sampler && !options.step,
                 "--features, --sampler and --step: links has a row for each");
  require_option(own.rounds >= 1 && own.links >= 1, "--rounds, --links: at least 1");
  check_generated_graph(own.nodes, own.mean_degree, 1, 1);
  const int cores = num_usable_cores();
  const auto device =
      ComputeDevice::choose(options.machine.device, 0, options.machine.threads > 0 ? options.machine.threads : cores);
  fit_to_machine(options.machine, device, cores);
  options.output.checkpoint_every = 0;
  Dataset dataset = without_evaluation(
      make_synthetic_dataset(synthetic_of_size(own.nodes, own.mean_degree, own.features, /*num_classes=*/16)));
  const std::vector<NodeId> ends = some_links(dataset.graph, static_cast<std::size_t>(own.links));
  dataset.has_links = true;
  dataset.links[kTrainLinks] = {.ends = ends};
  const auto num_links = static_cast<double>(ends.size() / 2);
  BenchReport report("links",
                     std::string(title) + " of " + std::to_string(dataset.num_nodes()) + " nodes and " +
                         std::to_string(dataset.num_edges()) + " entries, on " + device.name(),
                     {kMedianEpoch, kBestEpoch, {"links_per_second", "links/s", 1, 0}, {"last_loss", "loss", 1, 4}});
  report.add_settings(own);
  for (const Row& row : measure(options, dataset, device, own.rounds)) {
    std::vector<double> seconds;
    for (const EpochMetrics& epoch : row.epochs) seconds.push_back(*epoch.epoch_seconds);
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    report.add_row(row.way.name, {median, seconds.front(), num_links / median, *row.epochs.back().loss});
  }
  report.add_note("a synthetic graph; epochs after one to warm up; " + std::to_string(ends.size() / 2) +
                  " links an epoch, " + std::to_string(options.links.rule.negatives) + " negatives each, batches of " +
                  std::to_string(options.batches.size));
  report.publish(own.json);
  return 0;
}

}  // namespace salient
